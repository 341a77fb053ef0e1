#include "task/process_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace pctally {
namespace {

constexpr pid_t kGonePid = 0x7ff00001;  ///< above pid_max: /proc knows nothing of it
constexpr size_t kPage = 4096;

class ProcessFilesTest : public testing::Test {
 protected:
  void TearDown() override { std::ignore = system(("rm -r " + directory_).c_str()); }

  /// Maps a file as a JIT does for perf.
  void map_jit_dump() {
    const std::string path = directory_ + "/jit-" + std::to_string(getpid()) + ".dump";
    std::ofstream(path) << "JiTD" << std::string(kPage, 'x');
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_NE(mmap(nullptr, kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0), MAP_FAILED);
    close(file);
  }

  ProcessFiles files_;
  const std::string directory_ = [] {
    char name[] = "/tmp/process_files_test.XXXXXX";
    return std::string(mkdtemp(name));
  }();
};

// Processes with code of their own come without end.
TEST_F(ProcessFilesTest, JitDumpsAreSearchedForHoweverManyProcessesThereWere) {
  map_jit_dump();
  EXPECT_TRUE(files_.hold_jit_dump(getpid(), "", 0));
  for (pid_t pid = kGonePid; pid < kGonePid + 5000; ++pid) EXPECT_FALSE(files_.hold_jit_dump(pid, "", 0));
  EXPECT_TRUE(files_.hold_jit_dump(getpid(), "", 0)) << "it is held";
  EXPECT_TRUE(files_.hold_jit_dump(getpid(), "", 1)) << "another one with the number";
  EXPECT_GE(files_.find_perf_map(getpid()), 0);
}

TEST_F(ProcessFilesTest, APerfMapThatIsThereIsHeldHoweverManyOthersAreNot) {
  ASSERT_TRUE(files_.start_helper());
  const std::string root = "/proc/" + std::to_string(getpid()) + "/root";
  const std::string map = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  std::vector<pid_t> without;
  for (int i = 0; i < 64; ++i) {
    without.push_back(fork());
    if (without.back() == 0) {
      pause();
      _exit(0);
    }
    files_.hold_perf_map(without.back(), root, 0);
  }
  std::ofstream(map) << "1000 10 f\n";
  files_.hold_perf_map(getpid(), root, 0);
  EXPECT_GE(files_.find_perf_map(getpid()), 0);
  unlink(map.c_str());
  for (const pid_t pid : without) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
}

}  // namespace
}  // namespace pctally
