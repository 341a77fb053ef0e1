#include "task/process_files.h"

#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/kernel/device_number.h"
#include "histfile/fresh_file_for_test.h"
#include "path/object_frames.h"
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

/// "START PATH BUILD_ID" for each executable mapping of a file.
template <class Visit>
std::vector<std::string> objects_by(Visit&& visit) {
  std::vector<std::string> objects;
  visit([&objects](const ExecutableMapping& mapping) {
    if (mapping.object.kind != ObjectKind::kFile) return;
    std::string text = std::to_string(mapping.start) + " " + std::string(mapping.object.path) + " ";
    for (uint32_t i = 0; i < mapping.object.build_id_bytes; ++i)
      text += std::to_string(mapping.object.build_id[i]) + ".";
    objects.push_back(text + (mapping.header_read ? " read" : ""));
  });
  return objects;
}

/// A stopped process that executes a copy of sleep(1), whose file is then removed.
pid_t start_deleted(const std::string& program) {
  std::filesystem::copy_file("/bin/sleep", program);
  const pid_t target = fork();
  if (target == 0) {
    execl(program.c_str(), "program", "1000", nullptr);
    _exit(1);
  }
  const std::string link = "/proc/" + std::to_string(target) + "/exe";
  while (std::filesystem::read_symlink(link) != program && waitpid(target, nullptr, WNOHANG) == 0)
    sched_yield();
  kill(target, SIGSTOP);
  waitpid(target, nullptr, WUNTRACED);
  std::filesystem::remove(program);
  return target;
}

// A JIT may have thousands of memfds, and each search reads all mappings of its process.
TEST_F(ProcessFilesTest, DeletedFilesOfOneProcessAreNotSearchedForWithoutEnd) {
  const pid_t target = start_deleted(directory_ + "/program");
  struct stat status;
  ASSERT_EQ(stat(("/proc/" + std::to_string(target) + "/exe").c_str(), &status), 0);
  const std::string path = directory_ + "/program (deleted)";
  ObjectIdentity program;
  program.path = path;
  program.device = device_number(status.st_dev);
  program.inode = status.st_ino;
  ProcessFiles others;
  ASSERT_TRUE(files_.start_helper());
  ASSERT_TRUE(others.start_helper());
  for (uint64_t i = 1; i <= 16; ++i) {
    ObjectIdentity code;
    code.path = "/memfd:code (deleted)";
    code.inode = ~i;
    EXPECT_EQ(files_.hold(code, target), -1);
  }
  EXPECT_EQ(files_.hold(program, target), -1);
  EXPECT_GE(others.hold(program, target), 0) << "it can be opened";
  const std::string before = directory_ + "/program";
  program.path = before;
  EXPECT_GE(others.hold(program, target), 0) << "also as it was called before it was deleted";
  kill(target, SIGKILL);
  waitpid(target, nullptr, 0);
}

// It may have been written to since: nothing would tell.
TEST_F(ProcessFilesTest, ADeletedFileWithoutABuildIdIsNotOpenedByItsMapping) {
  const std::string path = directory_ + "/library", deleted = path + " (deleted)";
  std::filesystem::copy_file("/proc/self/exe", path);
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_NE(mmap(nullptr, kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0), MAP_FAILED);
  std::filesystem::remove(path);
  struct stat status;
  uint8_t id[kBuildIdBytes];
  ASSERT_EQ(fstat(file.get(), &status), 0);
  ObjectIdentity object;
  object.path = deleted;
  object.device = device_number(status.st_dev);
  object.inode = status.st_ino;
  ASSERT_TRUE(files_.start_helper());
  EXPECT_EQ(files_.hold(object, getpid()), -1);
  object.build_id = id;
  object.build_id_bytes = read_build_id(file.get(), id);
  if (object.build_id_bytes == 0 || files_.hold(object, getpid()) < 0)
    GTEST_SKIP() << "needs a build id and CAP_CHECKPOINT_RESTORE to open it";
}

// Also of a program that is deleted, whose file nobody finds by its path.
TEST_F(ProcessFilesTest, TheHelperReadsBuildIdsInMemoryAsOneDoesOneself) {
  ASSERT_TRUE(files_.start_helper());
  const pid_t target = start_deleted(directory_ + "/program");
  const auto read = objects_by([&](const auto& visit) { ProcMaps(target).visit(visit); });
  ASSERT_FALSE(read.empty());
  EXPECT_NE(read[0].find(" (deleted) "), std::string::npos) << read[0];
  EXPECT_TRUE(read[0].ends_with("read")) << read[0];
  EXPECT_EQ(objects_by([&](const auto& visit) { files_.visit_maps(target, visit); }), read);
  kill(target, SIGKILL);
  waitpid(target, nullptr, 0);
}

// tmpfs is another file system than that of this program: the helper reads it.
TEST_F(ProcessFilesTest, UnwindTablesAreTheSameByTheHelper) {
  const std::string path = "/dev/shm/" + directory_.substr(directory_.rfind('/') + 1);
  std::error_code error;
  if (!std::filesystem::copy_file("/proc/self/exe", path, error))
    GTEST_SKIP() << path << ": " << error.message();
  const UniqueFd held(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status, own;
  ASSERT_EQ(fstat(held.get(), &status), 0);
  ASSERT_EQ(stat("/proc/self/exe", &own), 0);
  ObjectIdentity object;
  object.kind = ObjectKind::kFile;
  object.path = path;
  object.device = device_number(status.st_dev);
  object.inode = status.st_ino;
  const auto plain = ObjectFrames::open(object)->rows();
  ASSERT_TRUE(files_.start_helper());
  const auto read = ObjectFrames::open(object, true, held.get(), &files_)->rows();
  const auto unheld = ObjectFrames::open(object, true, -1, &files_)->rows();
  unlink(path.c_str());
  if (status.st_dev == own.st_dev) GTEST_SKIP() << "this program lies on the file system of /dev/shm";
  ASSERT_TRUE(plain && read && unheld);
  EXPECT_GT(plain->size(), 100u);
  const auto same = [](const UnwindRow& a, const UnwindRow& b) {
    return a.position == b.position && a.rule == b.rule;
  };
  EXPECT_TRUE(std::ranges::equal(*read, *plain, same));
  EXPECT_EQ(unheld->at(0).rule.cfa, CfaKind::kUnsupported) << "its file system was asked";
  EXPECT_EQ(unheld->size(), 1u);
}

TEST_F(ProcessFilesTest, WithoutTheHelperFilesOfOurOwnFileSystemAreRead) {
  const std::string path = std::filesystem::read_symlink("/proc/self/exe");
  struct stat status;
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  ObjectIdentity object;
  object.kind = ObjectKind::kFile;
  object.path = path;
  object.inode = status.st_ino;
  ASSERT_TRUE(files_.start_helper());
  files_.end_helper();
  EXPECT_TRUE(files_.has_lost_helper());
  if (!files_.open(path).valid()) GTEST_SKIP() << "needs RESOLVE_CACHED (Linux 5.12)";
  const int held = files_.hold(object, getpid());
  ASSERT_GE(held, 0);
  char magic[SELFMAG];
  EXPECT_EQ(files_.read(held, 0, magic, sizeof magic), SELFMAG);
  EXPECT_FALSE(files_.open("/proc/self/maps").valid());
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
