#include "task/file_helper.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "perf/process_tree.h"
#include "process/build_id.h"
#include "tick/unwind/stack_walk.h"

namespace pctally {
namespace {

class FileHelperTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(helper_.start()); }
  void TearDown() override { std::ignore = system(("rm -r " + directory_).c_str()); }
  std::string write(const std::string& name, const std::string& text) {
    std::string path = directory_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  int error_of(const std::string& path) {
    auto fd = helper_.open_file(path);
    return fd ? 0 : fd.error().code;
  }
  FileHelper helper_;
  std::string directory_ = [] {
    char name[] = "/tmp/file_helper_test.XXXXXX";
    return std::string(mkdtemp(name));
  }();
};

TEST_F(FileHelperTest, AnswersAsOneLooksOneself) {
  const auto view = helper_.view_of(getpid()), own = read_view(0);
  ASSERT_TRUE(view && own);
  EXPECT_EQ(*view, *own);
  const std::string path = write("a", "text");
  const auto facts = helper_.facts_of(path), read = read_facts(path);
  ASSERT_TRUE(facts && read);
  EXPECT_EQ(facts->inode, read->inode);
  EXPECT_EQ(facts->bytes, 4u);
  EXPECT_EQ(helper_.facts_of(path + "x").error().code, ENOENT);
}

TEST_F(FileHelperTest, OpensExecutablesAndNamesOfJitsOnly) {
  auto program = helper_.open_file("/proc/" + std::to_string(getpid()) + "/root/bin/sh");
  ASSERT_TRUE(program) << program.error().text;
  EXPECT_EQ(fcntl(program->get(), F_GETFL) & O_ACCMODE, O_RDONLY);
  EXPECT_EQ(error_of("/etc/passwd"), ENOEXEC);
  EXPECT_EQ(error_of(write("perf-12.map", "1000 10 f\n")), 0);
  EXPECT_EQ(error_of(write("perf-x.map", "1000 10 f\n")), ENOEXEC);
  EXPECT_EQ(error_of(write("jit-12.dump", "DTiJ\1")), 0);
  EXPECT_EQ(error_of(write("jit-13.dump", "DTi")), ENOEXEC);
  const std::string head = std::string("\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 16);
  EXPECT_EQ(error_of(write("shared", head + std::string("\3\0", 2))), 0);
  EXPECT_EQ(error_of(write("core", head + std::string("\4\0", 2))), ENOEXEC);
  EXPECT_EQ(symlink("/etc/passwd", (directory_ + "/perf-2.map").c_str()), 0);
  EXPECT_EQ(error_of(directory_ + "/perf-2.map"), ENOTSUP) << "a link has any name";
  ASSERT_EQ(mkfifo((directory_ + "/perf-1.map").c_str(), 0600), 0);
  EXPECT_EQ(error_of(directory_ + "/perf-1.map"), ENOTSUP);
}

TEST_F(FileHelperTest, ReadsAPartOfAnExecutable) {
  std::string text = std::string("\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 16) + std::string("\3\0", 2);
  text += std::string(kElfPartBytes, 'a') + "b";
  const std::string path = write("object", text);
  EXPECT_EQ(helper_.read_part(path, 0).value(), text.substr(0, kElfPartBytes));
  EXPECT_EQ(helper_.read_part(path, kElfPartBytes).value(), text.substr(kElfPartBytes));
  EXPECT_EQ(helper_.read_part(path, uint64_t{1} << 40).value(), "");
  EXPECT_EQ(helper_.read_part("/etc/passwd", 0).error().code, ENOEXEC);
}

/// A child with that number, which does nothing; 0: that is not permitted.
pid_t fork_as(pid_t number) {
  clone_args arguments{};
  arguments.exit_signal = SIGCHLD;
  arguments.set_tid = reinterpret_cast<uint64_t>(&number);
  arguments.set_tid_size = 1;
  const long child = syscall(SYS_clone3, &arguments, sizeof arguments);
  if (child == 0)
    for (;;) pause();
  return child < 0 ? 0 : static_cast<pid_t>(child);
}

// record --wait takes up the end of every child, and a recording may last until its number is another's.
TEST_F(FileHelperTest, OneThatEndedLongAgoIsNotKilledByItsNumber) {
  const std::vector<pid_t> tree = process_tree(getpid());
  ASSERT_EQ(tree.size(), 2u);
  kill(tree[1], SIGKILL);
  ASSERT_EQ(waitpid(tree[1], nullptr, 0), tree[1]);
  const pid_t other = fork_as(tree[1]);
  if (other == 0) GTEST_SKIP() << "a process cannot have a number of choice here: " << strerror(errno);
  helper_.end();
  int status = 0;
  EXPECT_EQ(waitpid(other, &status, WNOHANG), 0);
  kill(other, SIGTERM);
  EXPECT_EQ(waitpid(other, &status, 0), other);
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

TEST_F(FileHelperTest, ReadsAnOpenFile) {
  const std::string text = std::string(FileHelper::kBlockBytes, 'a') + "b";
  const UniqueFd fd(open(write("any", text).c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(helper_.read_file(fd.get(), 0).value(), text.substr(0, FileHelper::kBlockBytes));
  EXPECT_EQ(helper_.read_file(fd.get(), FileHelper::kBlockBytes).value(), "b");
  EXPECT_EQ(helper_.read_file(-1, 0).error().code, EBADF);
}

// Of memory it says the first page of executables, and whether those bytes are there that the unwinder knows.
TEST_F(FileHelperTest, ReadsOfMemoryNothingButExecutables) {
  alignas(4096) static char page[2 * kElfPartBytes] = "a secret";
  memcpy(page + 100, kTrampoline, sizeof kTrampoline);
  const uint64_t image = getauxval(AT_SYSINFO_EHDR), secret = reinterpret_cast<uintptr_t>(page);
  const uint64_t addresses[] = {secret, image, 0, secret + kElfPartBytes};
  std::string expected(std::size(addresses) * kElfPartBytes, '\0');
  memcpy(expected.data() + kElfPartBytes, reinterpret_cast<const void*>(image), kElfPartBytes);
  auto images = helper_.read_images(getpid(), addresses);
  if (!images && images.error().code == EPERM) GTEST_SKIP() << "may not read its parent's memory (Yama)";
  ASSERT_TRUE(images) << images.error().text;
  EXPECT_EQ(*images, expected);
  EXPECT_EQ(helper_.has_trampoline(getpid(), secret + 100).value(), true);
  EXPECT_EQ(helper_.has_trampoline(getpid(), secret).value(), false);
  EXPECT_FALSE(helper_.has_trampoline(getpid(), 0).has_value());
}

TEST_F(FileHelperTest, ReadsMaps) {
  auto maps = helper_.open_maps(getpid());
  ASSERT_TRUE(maps);
  char byte;
  EXPECT_EQ(read(maps->get(), &byte, 1), 1);
}

TEST_F(FileHelperTest, WhoGetsNoAnswerGoesOnWithoutIt) {
  std::ifstream children("/proc/self/task/" + std::to_string(gettid()) + "/children");
  pid_t helper = 0;
  children >> helper;
  ASSERT_GT(helper, 0);
  kill(helper, SIGSTOP);  // as if a file system hung
  EXPECT_EQ(helper_.view_of(0).error().code, EPIPE);
  EXPECT_FALSE(helper_.runs());
  EXPECT_EQ(error_of("/bin/sh"), EPIPE);
  EXPECT_NE(kill(helper, 0), 0);
}

}  // namespace
}  // namespace pctally
