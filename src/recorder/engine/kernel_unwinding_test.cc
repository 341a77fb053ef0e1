#include "recorder/engine/kernel_unwinding.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "bpf/unwind_lookup_for_test.h"
#include "histfile/call_paths.h"
#include "histfile/fresh_file_for_test.h"
#include "path/object_frames.h"
#include "process/proc_maps.h"

#if PCTALLY_FOLLOWS_PATHS

namespace pctally {
namespace {

// What the BPF program is given of this process's objects is what the recorder finds in them.
TEST(KernelUnwinding, TablesHaveTheRulesOfTheObjects) {
  std::vector<unsigned char> memory(PCTALLY_RULE_BYTES);
  RuleTables tables(memory.data());
  size_t objects = 0;
  ProcMaps(0).visit([&](const ExecutableMapping& mapping) {
    if (mapping.object.kind == ObjectKind::kPrivate) return;
    const auto frames = ObjectFrames::open(mapping.object);
    const uint32_t table = tables.add(*frames->rows());
    if (kReturnsInRegister && mapping.object.kind == ObjectKind::kVdso) return;  // it has none
    const uint64_t start = mapping.object.kind == ObjectKind::kVdso ? 0 : mapping.file_offset;
    ASSERT_GT(table, 1u) << mapping.object.path;
    ++objects;
    size_t wrong = 0;
    for (uint64_t at = start; at < start + (mapping.end - mapping.start); at += 17) {
      CfiFunction found;
      (void)frames->find(at, &found);
      wrong += find_rule_in(memory.data(), table, at) == found.rule ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0u) << mapping.object.path;
  });
  EXPECT_GT(objects, 4u) << "libc, libstdc++, libm, ld.so, this program";
  EXPECT_LT(tables.used(), size_t{4} << 20);
}

/// This process in a task table, with a tick in each of its objects.
class KernelUnwindingTest : public testing::Test {
 protected:
  KernelUnwindingTest() {
    EXPECT_TRUE(add_call_paths(&fresh_.file(), {}));
    tasks_ = TaskTable(&fresh_.file(), "bpf", TaskTable::Unknown::kAdopt);
    tasks_.keep_scopes(ScopeKind::kProgram, true);
    tasks_.adopt(getpid());
    ProcMaps(0).visit([this](const ExecutableMapping& mapping) {
      if (mapping.object.kind == ObjectKind::kPrivate) return;
      EXPECT_TRUE(tasks_.count({getpid(), getpid()}, mapping.start, false, {}));
    });
  }
  bool load(uint64_t most_ns) { return unwinding_.load(&tasks_, &rules_, &processes_, most_ns); }
  [[nodiscard]] size_t ranges_with_table() const {
    const auto own = std::find_if(memory_.begin(), memory_.end(), [](const pctally_process& process) {
      return process.tgid == static_cast<uint32_t>(getpid());
    });
    if (own == memory_.end()) return 0;
    return static_cast<size_t>(
        std::count_if(own->range, own->range + own->ranges,
                      [](const pctally_range& range) { return range.table != PCTALLY_TABLE_UNKNOWN; }));
  }

  FreshFile fresh_;
  TaskTable tasks_;
  std::vector<unsigned char> rule_memory_ = std::vector<unsigned char>(PCTALLY_RULE_BYTES);
  std::vector<pctally_process> memory_ = std::vector<pctally_process>(PCTALLY_PROCESSES);
  RuleTables rules_{rule_memory_.data()};
  ProcessTables processes_{memory_.data()};
  KernelUnwinding unwinding_;
};

// The ring of paths is emptied in between.
TEST_F(KernelUnwindingTest, TablesAreBuiltOneATurnWhereTimeIsShort) {
  unwinding_.want(getpid(), 7);
  size_t turns = 0, before = 0;
  do {
    EXPECT_TRUE(load(0));
    EXPECT_GT(ranges_with_table(), before) << "each turn brings a table";
    before = ranges_with_table();
    ++turns;
  } while (unwinding_.has_more() && turns < 100);
  EXPECT_GT(turns, 3u) << "libc, libstdc++, ld.so, this program";
  EXPECT_FALSE(unwinding_.has_more());
  KernelUnwinding at_once;
  at_once.want(getpid(), 7);
  EXPECT_FALSE(at_once.load(&tasks_, &(rules_ = RuleTables(rule_memory_.data())), &processes_, UINT32_MAX))
      << "the same tables in the same order";
  EXPECT_FALSE(at_once.has_more());
}

TEST_F(KernelUnwindingTest, AProcessStaysKnownWhileItsThreadsComeAndGo) {
  const pid_t own = getpid();
  unwinding_.want(own, 7);
  EXPECT_TRUE(load(UINT32_MAX));
  ASSERT_TRUE(processes_.known(own));
  unwinding_.note({.kind = PerfRecord::Kind::kFork, .pid = own, .tid = own + 1, .parent = own}, &processes_);
  unwinding_.note({.kind = PerfRecord::Kind::kExit, .pid = own, .tid = own + 1}, &processes_);
  EXPECT_TRUE(processes_.known(own));
  unwinding_.note({.kind = PerfRecord::Kind::kComm, .exec = true, .pid = own, .tid = own}, &processes_);
  EXPECT_FALSE(processes_.known(own));
}

// A tick may come after the record of its process's end. Nobody would forget it then: 1,024 of them were the
// end of all tables.
TEST_F(KernelUnwindingTest, AProcessThatHasEndedTakesNoPlace) {
  const pid_t child = getpid() + 1;
  tasks_.apply({.kind = PerfRecord::Kind::kFork, .pid = child, .tid = child, .parent = getpid(), .time = 1},
               "");
  unwinding_.want(child, 7);
  EXPECT_TRUE(load(UINT32_MAX));
  EXPECT_TRUE(processes_.known(child));
  const PerfRecord end{.kind = PerfRecord::Kind::kExit, .pid = child, .tid = child, .time = 2};
  tasks_.apply(end, "");
  unwinding_.note(end, &processes_);
  EXPECT_FALSE(processes_.known(child));
  unwinding_.want(child, 7);
  EXPECT_FALSE(load(UINT32_MAX));
  EXPECT_FALSE(processes_.known(child));
  EXPECT_FALSE(unwinding_.has_more());
}

TEST_F(KernelUnwindingTest, AProcessWhoseEndWasLostTakesNoPlace) {
  const pid_t gone = 0x7ff00001;  // above pid_max
  tasks_.apply({.kind = PerfRecord::Kind::kFork, .pid = gone, .tid = gone, .parent = getpid(), .time = 1},
               "");
  for (const pid_t pid : {gone, getpid()}) unwinding_.want(pid, 7);
  EXPECT_TRUE(load(UINT32_MAX));
  tasks_.resync();
  KernelUnwinding::forget_ended(tasks_, &processes_);
  EXPECT_FALSE(processes_.known(gone));
  EXPECT_TRUE(processes_.known(getpid()));
}

}  // namespace
}  // namespace pctally
#endif
