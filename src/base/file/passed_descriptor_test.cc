#include "base/file/passed_descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>

#include "base/time_ns.h"

namespace pctally {
namespace {

struct Ends {
  explicit Ends(int type) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), 0);
    ours.reset(ends[0]);
    theirs.reset(ends[1]);
  }
  UniqueFd ours, theirs;
};

ssize_t send_text(int socket, std::string text, int descriptor) {
  iovec part{text.data(), text.size()};
  return send_with_descriptor(socket, &part, 1, descriptor);
}

TEST(PassedDescriptor, ComesWithItsBytesAndIsClosedAtExec) {
  for (const int type : {SOCK_STREAM, SOCK_SEQPACKET}) {
    const Ends ends(type);
    int pipe_ends[2];
    ASSERT_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
    const UniqueFd from(pipe_ends[0]);
    UniqueFd to(pipe_ends[1]), passed;
    ASSERT_EQ(send_text(ends.theirs.get(), "with", to.get()), 4);
    to.reset();
    char text[4];
    ASSERT_EQ(receive_with_descriptor(ends.ours.get(), 1000, text, sizeof text, 0, &passed), 4);
    EXPECT_EQ(std::string(text, 4), "with");
    ASSERT_TRUE(passed.valid());
    EXPECT_EQ(fcntl(passed.get(), F_GETFD), FD_CLOEXEC);
    EXPECT_EQ(write(passed.get(), "!", 1), 1);
    EXPECT_EQ(read(from.get(), text, sizeof text), 1);
  }
}

TEST(PassedDescriptor, BytesComeWithoutOneToo) {
  const Ends ends(SOCK_STREAM);
  ASSERT_EQ(send_text(ends.theirs.get(), "alone", -1), 5);
  char text[8];
  UniqueFd passed;
  EXPECT_EQ(receive_with_descriptor(ends.ours.get(), -1, text, 5, MSG_WAITALL, &passed), 5);
  EXPECT_FALSE(passed.valid());
}

TEST(PassedDescriptor, IsNotWaitedForLongerThanAsked) {
  const Ends ends(SOCK_SEQPACKET);
  char byte;
  UniqueFd passed;
  const uint64_t before = monotonic_ns();
  EXPECT_EQ(receive_with_descriptor(ends.ours.get(), 20, &byte, 1, MSG_DONTWAIT, &passed), -1);
  EXPECT_GE(monotonic_ns() - before, 19'000'000u);
}

TEST(PassedDescriptor, TheEndOfTheOtherSideIsNoError) {
  Ends ends(SOCK_STREAM);
  ends.theirs.reset();
  char byte;
  UniqueFd passed;
  EXPECT_EQ(receive_with_descriptor(ends.ours.get(), 1000, &byte, 1, 0, &passed), 0);
  EXPECT_EQ(send_text(ends.ours.get(), "to nobody", -1), -1) << "and no SIGPIPE";
  EXPECT_EQ(errno, EPIPE);
}

TEST(PassedDescriptor, TwoAtOnceAreClosed) {
  const Ends ends(SOCK_STREAM);
  const int lowest = dup(STDIN_FILENO);
  ASSERT_GE(lowest, 0);
  const int two[] = {STDIN_FILENO, STDIN_FILENO};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof two)] = {};
  char byte = '2';
  iovec part{&byte, 1};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  cmsghdr* extra = CMSG_FIRSTHDR(&header);
  extra->cmsg_level = SOL_SOCKET;
  extra->cmsg_type = SCM_RIGHTS;
  extra->cmsg_len = CMSG_LEN(sizeof two);
  memcpy(CMSG_DATA(extra), two, sizeof two);
  ASSERT_EQ(sendmsg(ends.theirs.get(), &header, 0), 1);
  close(lowest);
  UniqueFd passed;
  ASSERT_EQ(receive_with_descriptor(ends.ours.get(), 1000, &byte, 1, 0, &passed), 1);
  EXPECT_TRUE(!passed.valid() || sizeof(void*) == 4)
      << "32 bits have room for one: the kernel drops the other";
  const UniqueFd next(dup(STDIN_FILENO));
  EXPECT_TRUE(passed.valid() || next.get() == lowest) << "the lowest number is free again";
}

}  // namespace
}  // namespace pctally
