#include "base/file/quiet_write.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>

#include "base/unique_fd.h"

namespace pctally {
namespace {

bool waits(int signal) {
  sigset_t waiting;
  sigpending(&waiting);
  return sigismember(&waiting, signal) == 1;
}

bool is_blocked(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

TEST(QuietWrite, OfAPipeThatNobodyReads) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  close(ends[0]);
  const UniqueFd fd(ends[1]);
  EXPECT_FALSE(write_quietly(fd.get(), "x", 1));
  EXPECT_EQ(errno, EPIPE);
  EXPECT_FALSE(is_blocked(SIGPIPE));
}

TEST(QuietWrite, BeyondUlimitF) {
  std::string path = testing::TempDir() + "quiet_write_XXXXXX";
  const UniqueFd fd(mkstemp(path.data()));
  unlink(path.c_str());
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit limit = before;
  limit.rlim_cur = 5;
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_TRUE(write_quietly(fd.get(), "123", 3));
  const bool written = write_quietly(fd.get(), "4567", 4);
  const int error = errno;
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_FALSE(written);
  EXPECT_EQ(error, EFBIG);
  EXPECT_EQ(lseek(fd.get(), 0, SEEK_END), 5);
  EXPECT_FALSE(is_blocked(SIGXFSZ));
}

TEST(QuietWrite, AProgramThatBlocksTheSignalFindsNone) {
  sigset_t pipe_broken, before;
  sigemptyset(&pipe_broken);
  sigaddset(&pipe_broken, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_broken, &before);
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  close(ends[0]);
  const UniqueFd fd(ends[1]);
  EXPECT_FALSE(write_quietly(fd.get(), "x", 1));
  EXPECT_FALSE(waits(SIGPIPE));
  EXPECT_TRUE(is_blocked(SIGPIPE));
  raise(SIGPIPE);
  EXPECT_FALSE(write_quietly(fd.get(), "x", 1));
  EXPECT_TRUE(waits(SIGPIPE)) << "that signal is the program's";
  const timespec no_time{};
  sigtimedwait(&pipe_broken, nullptr, &no_time);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace pctally
