#include "task/task_table.h"

#include <gtest/gtest.h>
#include <sys/uio.h>

#include <filesystem>

#include "histfile/chain.h"
#include "histfile/fresh_file_for_test.h"

namespace pctally {
namespace {

constexpr pid_t kTask = 1 << 23;  // beyond every pid_max: /proc knows none of them
constexpr uint64_t kSecondNs = 1000000000;

class TaskTableTest : public testing::Test {
 protected:
  TaskTableTest() {
    tasks_.expect(kTask);
    comm(kTask, "root", 1);
  }

  void fork(pid_t parent, pid_t pid, uint64_t time) {
    PerfRecord record;
    record.kind = PerfRecord::Kind::kFork;
    record.pid = record.tid = pid;
    record.parent = parent;
    record.time = time;
    tasks_.apply(record, "");
  }
  void exit(pid_t pid, uint64_t time) {
    PerfRecord record;
    record.kind = PerfRecord::Kind::kExit;
    record.pid = record.tid = pid;
    record.time = time;
    tasks_.apply(record, "");
  }
  void comm(pid_t pid, const char* name, uint64_t time) {
    PerfRecord record;
    record.kind = PerfRecord::Kind::kComm;
    record.pid = record.tid = pid;
    record.exec = true;
    record.time = time;
    tasks_.apply(record, name);
  }
  void map(pid_t pid, const char* path, uint64_t start, uint64_t bytes) {
    PerfRecord record;
    record.kind = PerfRecord::Kind::kMmap;
    record.pid = record.tid = pid;
    record.executable = true;
    record.start = start;
    record.bytes = bytes;
    tasks_.apply(record, path);
  }
  /// The ticks in all objects with that path.
  uint64_t ticks_in(std::string_view path) {
    const Pool pool = file_.pool();
    uint64_t sum = 0;
    walk_chain<ObjectRecord>(
        pool, &file_.header().objects, UINT32_MAX, [&](const ObjectRecord& object, uint32_t) {
          const auto* text = pool_at<StringRecord>(pool, object.path);
          if (std::string_view(reinterpret_cast<const char*>(text + 1), text->bytes) != path) return false;
          walk_chain<SegmentRecord>(
              pool, &object.segments, UINT32_MAX, [&](const SegmentRecord& segment, uint32_t) {
                for (uint64_t i = 0; i < std::min<uint64_t>(segment.bytes, 1 << 16); ++i)
                  if (has_cell(pool, segment.directory, i)) sum += *tree_cell(pool, segment.directory, i);
                return false;
              });
          return false;
        });
    return sum;
  }
  bool exited(pid_t pid) {
    const ProcessRecord* record = fresh_.process(pid);
    return record != nullptr && (record->flags & kProcessExited) != 0;
  }

  FreshFile fresh_;
  ProfileFile& file_ = fresh_.file();
  TaskTable tasks_{&file_, "test", TaskTable::Unknown::kIgnore};
};

/// All of them have the number 0: a file that one of them maps is not the text of another's ticks.
TEST_F(TaskTableTest, ProcessesOutsideThePidNamespaceHaveNoText) {
  TaskTable tasks(&file_, "test", TaskTable::Unknown::kAdopt);
  PerfRecord record;
  record.kind = PerfRecord::Kind::kMmap;
  record.executable = true;
  record.start = 0x400000;
  record.bytes = 0x1000;
  tasks.apply(record, "/bin/one_of_them");
  EXPECT_TRUE(tasks.count(0, 0x400123, false, 1));
  EXPECT_TRUE(tasks.count(0, reinterpret_cast<uint64_t>(&process_vm_readv), false, 1))
      << "nor is it this one's";
  EXPECT_EQ(file_.header().ledger.counted, 2u);
  const Pool pool = file_.pool();
  for (uint32_t unit = file_.header().objects; unit != 0; unit = pool_at<ObjectRecord>(pool, unit)->next) {
    const auto* text = pool_at<StringRecord>(pool, pool_at<ObjectRecord>(pool, unit)->path);
    const std::string path(reinterpret_cast<const char*>(text + 1), text->bytes);
    EXPECT_NE(path, "/bin/one_of_them");
    EXPECT_EQ(path.find("libc.so"), std::string::npos) << "this process has it mapped, not that one";
  }
}

// 4 GiB of text: their directories would fill the largest file.
TEST_F(TaskTableTest, AMappingTakesNothingBeforeItsFirstTick) {
  constexpr uint64_t kText = 64 << 20;
  const uint32_t used = file_.header().pool.used;
  for (uint64_t i = 1; i <= 64; ++i) map(kTask, ("/bin/" + std::to_string(i)).c_str(), i * kText, kText);
  EXPECT_EQ(file_.header().pool.used, used);
  EXPECT_TRUE(tasks_.count(kTask, 5 * kText + 3, false, 1));
  EXPECT_TRUE(tasks_.count(kTask, 5 * kText + 3, false, 1));
  EXPECT_EQ(file_.header().ledger.counted, 2u);
  const auto* object = pool_at<ObjectRecord>(file_.pool(), file_.header().objects);
  EXPECT_EQ(object->next, 0u);
  EXPECT_EQ(pool_at<SegmentRecord>(file_.pool(), object->segments)->next, 0u);
}

// The text of one process alone would fill the file, were it another user's on a machine that is recorded.
TEST_F(TaskTableTest, AUserHasAQuarterOfThePool) {
  if (file_.mapping().size() != kLargestBytes) GTEST_SKIP() << "the file does not grow here";
  constexpr uint64_t kText = 4 << 20, kTexts = 1024, kShare = kLargestBytes / kUnitBytes / 4;
  TaskTable tasks(&file_, "test", TaskTable::Unknown::kAdopt);
  tasks.limit_users();
  tasks.apply({.kind = PerfRecord::Kind::kMmap,
               .executable = true,
               .pid = kTask,
               .start = kText,
               .bytes = kTexts * kText},
              "/bin/long");
  for (uint64_t i = 1; i <= kTexts; ++i) EXPECT_TRUE(tasks.count(kTask, i * kText, false, 1));
  EXPECT_LT(file_.header().pool.used, kShare + 100);
  EXPECT_GT(file_.header().pool.used, kShare * 9 / 10);
  EXPECT_EQ(file_.header().ledger.counted, kTexts) << "none is full: what was refused is in a row";
  const uint64_t refused = ticks_in("[no room: unknown user]");
  EXPECT_GT(refused, kTexts / 2);
  EXPECT_EQ(ticks_in("/bin/long"), kTexts - refused);
  EXPECT_TRUE(tasks.count(kTask, kText, false, 1));
  EXPECT_EQ(ticks_in("[no room: unknown user]"), refused) << "what has a cell is counted there";
  tasks.adopt(getpid());
  EXPECT_TRUE(tasks.count(getpid(), reinterpret_cast<uint64_t>(&process_vm_readv), false, 1));
  EXPECT_EQ(file_.header().ledger.counted, kTexts + 2);
  EXPECT_EQ(ticks_in("[no room: unknown user]"), refused) << "the recorder's own has room";
}

// Cells count, too: code of one's own may run anywhere.
TEST_F(TaskTableTest, CellsAreInAUsersQuarter) {
  if (file_.mapping().size() != kLargestBytes) GTEST_SKIP() << "the file does not grow here";
  constexpr uint64_t kText = 64 << 20, kShare = kLargestBytes / kUnitBytes / 4;
  TaskTable tasks(&file_, "test", TaskTable::Unknown::kAdopt);
  tasks.limit_users();
  tasks.apply(
      {.kind = PerfRecord::Kind::kMmap, .executable = true, .pid = kTask, .start = kText, .bytes = kText},
      "/bin/one");
  for (uint64_t i = 0; i < kText; i += 256) {
    if (i % (1 << 16) == 0) file_.make_room(256 * 3);
    ASSERT_TRUE(tasks.count(kTask, kText + i, false, 1));
  }
  EXPECT_LT(file_.header().pool.used, kShare + 100);
  EXPECT_EQ(file_.header().ledger.counted, kText / 256);
}

// 16 GiB, which would be a directory of 256 MiB.
TEST_F(TaskTableTest, ADirectoryIsOfThePartThatRuns) {
  const uint32_t used = file_.header().pool.used;
  map(kTask, "/bin/huge", uint64_t{1} << 40, uint64_t{16} << 30);
  const uint64_t pc = (uint64_t{1} << 40) + (uint64_t{5} << 30);
  for (uint64_t i = 0; i < 3; ++i) EXPECT_TRUE(tasks_.count(kTask, pc + i, false, 2));
  EXPECT_EQ(file_.header().ledger.counted, 6u);
  EXPECT_LT(file_.header().pool.used - used, directory_units(4 << 20) + 20);
  EXPECT_TRUE(tasks_.count(kTask, pc + (4 << 20), false, 1));
  EXPECT_EQ(ticks_in("/bin/huge"), 7u);
}

// Nothing tells that it unmaps what it maps: its mappings are read again, not kept without end.
TEST_F(TaskTableTest, WhoMapsAndUnmapsWithoutEndIsAskedWhatItHas) {
  constexpr uint64_t kLow = uint64_t{1} << 20, kMappings = 150000;
  tasks_.adopt(getpid());
  for (uint64_t i = 0; i < kMappings; ++i) map(getpid(), "/bin/mapped", kLow + i * 0x2000, 0x1000);
  EXPECT_TRUE(tasks_.count(getpid(), kLow, false, 1));
  EXPECT_TRUE(tasks_.count(getpid(), kLow + (kMappings - 1) * 0x2000, false, 1));
  EXPECT_TRUE(tasks_.count(getpid(), reinterpret_cast<uint64_t>(&process_vm_readv), false, 1));
  EXPECT_EQ(ticks_in("[code in no known mapping]"), 1u)
      << "the oldest is forgotten, and nothing that is there";
  EXPECT_EQ(ticks_in("/bin/mapped"), 1u);
}

// Millions in an hour, and memory for none but those that are still there.
TEST_F(TaskTableTest, FilesWithoutTicksThatAreGoneAreForgotten) {
  for (int i = 0; i < 100000; ++i) map(kTask, ("/bin/" + std::to_string(i)).c_str(), 0x1000, 0x1000);
  EXPECT_LE(tasks_.known_objects(), 8192u);
  EXPECT_TRUE(tasks_.count(kTask, 0x1234, false, 1));
  const auto* object = pool_at<ObjectRecord>(file_.pool(), file_.header().objects);
  const auto* text = pool_at<StringRecord>(file_.pool(), object->path);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(text + 1), text->bytes), "/bin/99999");
}

TEST_F(TaskTableTest, CountsManyTicksAtOnce) {
  map(kTask, "/bin/program", 0x1000, 0x1000);
  EXPECT_TRUE(tasks_.count(kTask, 0x1234, false, 7));
  EXPECT_TRUE(tasks_.count(kTask, UINT64_MAX - 0x1000, true, 2));
  EXPECT_TRUE(tasks_.book_full(kTask, 5));
  EXPECT_FALSE(tasks_.count(kTask + 1, 0x1234, false, 1));
  EXPECT_FALSE(tasks_.book_full(kTask + 1, 1));
  const Ledger& ledger = file_.header().ledger;
  EXPECT_EQ(ledger.counted, 9u);
  EXPECT_EQ(ledger.full, 5u);
  EXPECT_EQ(ledger.samples, 14u);
  EXPECT_EQ(ledger.weight_squares, 14u);
  EXPECT_EQ(fresh_.by_comm()["root"], 14u);
}

// A process's last ticks are in the kernel, after its EXIT record.
TEST_F(TaskTableTest, TicksAfterTheExitStillHaveAnOwner) {
  fork(kTask, kTask + 1, kSecondNs);
  exit(kTask + 1, 2 * kSecondNs);
  EXPECT_TRUE(tasks_.count(kTask + 1, UINT64_MAX - 0x1000, true, 3));
  EXPECT_TRUE(exited(kTask + 1));
  fork(kTask, kTask + 2, 4 * kSecondNs);
  exit(kTask + 2, 4 * kSecondNs + 1);
  EXPECT_FALSE(tasks_.observes(kTask + 1));
  EXPECT_TRUE(tasks_.observes(kTask + 2));
}

TEST_F(TaskTableTest, NumberUsedAgainOutlivesTheFirstUsersEnd) {
  fork(kTask, kTask + 1, kSecondNs);
  exit(kTask + 1, 2 * kSecondNs);
  fork(kTask, kTask + 1, 2 * kSecondNs + 5);
  comm(kTask + 1, "second", 2 * kSecondNs + 6);
  for (pid_t pid = kTask + 2; pid < kTask + 9; ++pid)
    fork(kTask, pid, 9 * kSecondNs), exit(pid, 9 * kSecondNs);
  EXPECT_TRUE(tasks_.count(kTask + 1, 0x1234, false, 1));
  EXPECT_EQ(fresh_.by_comm()["second"], 1u);
}

TEST_F(TaskTableTest, EndedProcessesAreForgotten) {
  for (pid_t i = 1; i < 100000; ++i) {
    auto time = static_cast<uint64_t>(i) * kSecondNs / 400;
    fork(kTask, kTask + i, time);
    exit(kTask + i, time + 1000000);
    ASSERT_LE(tasks_.size(), 410u);
  }
}

TEST_F(TaskTableTest, AProcessThatMapsNothingMoreUsesWhatTheFileHasGrown) {
  constexpr uint64_t kPcs = 4 * kInitialBytes / 128;
  if (file_.mapping().size() != kLargestBytes) GTEST_SKIP() << "the file does not grow here";
  map(kTask, "/bin/program", 0x100000, kPcs * 16);
  for (uint64_t i = 0; i < kPcs; ++i) {
    if (i % 256 == 0) file_.make_room(256 * 3);
    for (bool kernel : {false, true}) EXPECT_TRUE(tasks_.count(kTask, 0x100000 + i * 16, kernel, 1));
  }
  EXPECT_EQ(file_.header().ledger.full, 0u);
}

// The default pool has room for fewer: the rest is booked as full, nothing is lost, the file keeps its bound.
TEST_F(TaskTableTest, MillionDistinctPcsLeaveTheSumExact) {
  constexpr uint64_t kPcs = 1000000;
  map(kTask, "/bin/program", 0x100000, kPcs * 16);
  for (uint64_t i = 0; i < kPcs; ++i) {
    if (i % 256 == 0) file_.make_room(256 * 3);
    ASSERT_TRUE(tasks_.count(kTask, 0x100000 + i * 16, false, 1));
  }
  const Ledger& ledger = file_.header().ledger;
  EXPECT_GT(ledger.full, 0u);
  EXPECT_EQ(ledger.counted + ledger.full, kPcs);
  EXPECT_EQ(ledger.outside + ledger.lost, 0u);
  EXPECT_EQ(fresh_.by_comm()["root"], kPcs);
  EXPECT_LE(std::filesystem::file_size(fresh_.path()), kLargestBytes);
}

}  // namespace
}  // namespace pctally
