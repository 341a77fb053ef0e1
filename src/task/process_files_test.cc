#include "task/process_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "histfile/fresh_file_for_test.h"
#include "process/build_id.h"
#include "task/task_table.h"

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

TEST_F(ProcessFilesTest, TheBuildIdOfWhatIsMappedIsThatOfTheSameFileAlone) {
  const UniqueFd self(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const std::string path = std::filesystem::read_symlink("/proc/self/exe");
  struct stat status;
  uint8_t id[kBuildIdBytes];
  ASSERT_EQ(fstat(self.get(), &status), 0);
  const uint32_t bytes = read_build_id(self.get(), id);
  if (bytes == 0) GTEST_SKIP() << "this program has no build id";
  EXPECT_EQ(files_.build_id_of_mapped(path, status.st_ino), "") << "there is no helper";
  ASSERT_TRUE(files_.start_helper());
  EXPECT_EQ(files_.build_id_of_mapped(path, status.st_ino),
            std::string(reinterpret_cast<const char*>(id), bytes));
  EXPECT_EQ(files_.build_id_of_mapped(path, status.st_ino + 1), "");
  EXPECT_EQ(files_.build_id_of_mapped("[stack]", 0), "");
}

/// A recorder without capabilities gets the mappings of others from the helper, which does not tell build
/// ids.
TEST_F(ProcessFilesTest, CodeReadAgainWithoutTheRightToItsMemoryIsTheSameObject) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to give up its rights";
  const pid_t own_process = fork();
  if (own_process == 0) {
    FreshFile fresh;
    TaskTable tasks(&fresh.file(), "bpf", TaskTable::Unknown::kIgnore);
    EXPECT_TRUE(files_.start_helper());
    tasks.use_files(&files_);
    const pid_t target = fork();
    if (target == 0) {
      pause();
      _exit(0);
    }
    const auto pc = reinterpret_cast<uint64_t>(&getpid);
    tasks.adopt(target);
    EXPECT_TRUE(tasks.count(target, pc, false, 1));
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    const __user_cap_data_struct none[2] = {};
    EXPECT_EQ(syscall(SYS_capset, &header, none), 0);
    tasks.resync();
    EXPECT_TRUE(tasks.count(target, pc, false, 1));
    const auto* object = pool_at<ObjectRecord>(fresh.file().pool(), fresh.file().header().objects);
    EXPECT_EQ(object->next, 0u) << "the ticks are in two objects";
    EXPECT_NE(object->build_id_bytes, 0u);
    kill(target, SIGKILL);
    waitpid(target, nullptr, 0);
    fflush(nullptr);
    files_.end_helper();
    _exit(HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(own_process, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace pctally
