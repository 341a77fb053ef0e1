#include "task/task_scopes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/kernel/proc_file.h"
#include "perf/process_tree.h"
#include "task/task_records_for_test.h"

namespace pctally {
namespace {

TEST(GroupIn, TakesTheUnifiedHierarchyOrTheLongestOfTheOthers) {
  EXPECT_EQ(group_in("0::/user.slice/a\n"), "/user.slice/a");
  EXPECT_EQ(group_in("2:cpu:/\n1:memory:/docker/abc\n0::/\n"), "/docker/abc");
  EXPECT_EQ(group_in("2:cpu:/long/path/here\n0::/x\n"), "/x");
  EXPECT_EQ(group_in("0::/\n"), "/");
  EXPECT_EQ(group_in("0::/x/y (deleted)\n"), "/x/y");
  EXPECT_EQ(group_in("0::/a:b\n"), "/a:b");
  EXPECT_EQ(group_in("nonsense"), "");
  EXPECT_EQ(group_in(""), "");
}

TEST_F(TaskRecordsTest, TicksOfTwoProgramsAreKeptApart) {
  keep(ScopeKind::kProgram);
  tasks_.expect(kPid);
  exec(kPid, "sh");
  map(kPid, 0x1000, "/bin/sh");
  map(kPid, 0x2000, "/lib/ld.so");
  fork(kPid, kChild);
  EXPECT_TRUE(count_in(kChild, kChild, 0x1000));
  exec(kChild, "prog");
  map(kChild, 0x5000, "/bin/prog");
  EXPECT_TRUE(count_in(kChild, kChild, 0x5000));
  EXPECT_TRUE(count_in(kChild, kChild + 1, 0x5001));
  EXPECT_TRUE(count_in(kPid, kPid, 0x1000));
  EXPECT_EQ(scopes(), (std::map<std::string, uint64_t>{{"/bin/sh", 2}, {"/bin/prog", 2}}));
}

TEST_F(TaskRecordsTest, AThreadHasTheNameItHadAtTheTick) {
  constexpr pid_t kWorker = kPid + 0x100, kNext = kPid + 0x101;
  keep(ScopeKind::kThread);
  tasks_.expect(kPid);
  exec(kPid, "prog");
  map(kPid, 0x1000, "/bin/prog");
  start_thread(kPid, kPid, kWorker);
  EXPECT_TRUE(count_in(kPid, kWorker, 0x1000));  // still named as the one that started it
  rename(kPid, kWorker, "worker");
  EXPECT_TRUE(count_in(kPid, kWorker, 0x1000));
  start_thread(kPid, kWorker, kNext);
  EXPECT_TRUE(count_in(kPid, kNext, 0x1001));
  rename(kPid, kNext, "io");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(count_in(kPid, kNext, 0x1001));
  tasks_.apply({.kind = PerfRecord::Kind::kExit, .pid = kPid, .tid = kNext, .time = 1}, "");
  EXPECT_TRUE(count_in(kPid, kNext, 0x1001));  // of its last breath
  EXPECT_EQ(scopes(), (std::map<std::string, uint64_t>{
                          {"/bin/prog prog", 1}, {"/bin/prog worker", 2}, {"/bin/prog io", 4}}));
}

TEST_F(TaskRecordsTest, NoThreadNameSurvivesAnExec) {
  keep(ScopeKind::kThread);
  tasks_.expect(kPid);
  exec(kPid, "prog");
  map(kPid, 0x1000, "/bin/prog");
  rename(kPid, kPid, "boss");
  EXPECT_TRUE(count_in(kPid, kPid, 0x1000));
  exec(kPid, "next");
  map(kPid, 0x1000, "/bin/next");
  EXPECT_TRUE(count_in(kPid, kPid, 0x1000));
  EXPECT_EQ(scopes(), (std::map<std::string, uint64_t>{{"/bin/prog boss", 1}, {"/bin/next next", 1}}));
}

TEST_F(TaskRecordsTest, TicksBeforeTheProgramIsMappedAreOfNoneThoseAfterwardsAre) {
  for (ScopeKind kind : {ScopeKind::kProgram, ScopeKind::kThread}) {
    tasks_ = TaskTable(&file_, "ring", TaskTable::Unknown::kIgnore);
    file_.header().paths = 0;
    keep(kind);
    tasks_.expect(kPid);
    exec(kPid, "prog");
    EXPECT_TRUE(count_in(kPid, kPid, 0x1000));
    map(kPid, 0x1000, "/bin/prog");
    EXPECT_TRUE(count_in(kPid, kPid, 0x1000));
    EXPECT_TRUE(count_in(kPid, kPid, 0x1000));
    const bool threads = kind == ScopeKind::kThread;
    EXPECT_EQ(scopes(), (std::map<std::string, uint64_t>{{threads ? " prog" : "unknown", 1},
                                                         {threads ? "/bin/prog prog" : "/bin/prog", 2}}));
  }
}

TEST_F(TaskRecordsTest, AChildHasTheThreadNameOfTheThreadThatForked) {
  keep(ScopeKind::kThread);
  tasks_.expect(kPid);
  exec(kPid, "prog");
  map(kPid, 0x1000, "/bin/prog");
  start_thread(kPid, kPid, kPid + 0x100);
  rename(kPid, kPid + 0x100, "forker");
  tasks_.apply({.kind = PerfRecord::Kind::kFork,
                .pid = kChild,
                .tid = kChild,
                .parent = kPid,
                .parent_thread = kPid + 0x100},
               "");
  EXPECT_TRUE(count_in(kChild, kChild, 0x1000));
  EXPECT_EQ(scopes(), (std::map<std::string, uint64_t>{{"/bin/prog forker", 1}}));
}

TEST_F(TaskRecordsTest, ThreadsOfTheKernelAreAProgram) {
  ProcStat stat;
  pid_t kernel_thread = 0;
  for (pid_t pid : all_processes())
    if (kernel_thread == 0 && read_proc_stat(pid, &stat) && stat.kernel_thread) kernel_thread = pid;
  if (kernel_thread == 0) GTEST_SKIP() << "no thread of the kernel is in this pid namespace";
  EXPECT_TRUE(read_proc_stat(getpid(), &stat));
  EXPECT_FALSE(stat.kernel_thread);
  keep(ScopeKind::kThread);
  tasks_.adopt(kernel_thread);
  EXPECT_TRUE(tasks_.count({kernel_thread, kernel_thread}, UINT64_MAX << 20, true, {}));
  EXPECT_EQ(scopes(), (std::map<std::string, uint64_t>{{"[kernel] " + comm_of(kernel_thread), 1}}));
}

TEST_F(TaskRecordsTest, TicksAreOneSamplesOrHaveTheTimeOfTheFirst) {
  keep(ScopeKind::kProgram);
  tasks_.expect(kPid);
  exec(kPid, "prog");
  map(kPid, 0x1000, "/bin/prog");
  EXPECT_TRUE(tasks_.count({kPid, kPid}, 0x1000, false, {}, 5));
  EXPECT_TRUE(tasks_.count({kPid, kPid}, 0x1000, false, {}, 3, 1, 2));
  EXPECT_EQ(scopes(), (std::map<std::string, uint64_t>{{"/bin/prog", 8}}));
  EXPECT_EQ(file_.header().ledger.counted, 8u);
  EXPECT_EQ(file_.header().ledger.samples, 4u);
  EXPECT_EQ(file_.header().ledger.weight_squares, 25u + 3u);
}

TEST_F(TaskRecordsTest, AProcessHasItsControlGroupAndAGoneOneItsParentsAlsoAfterAnExec) {
  keep(ScopeKind::kGroup);
  tasks_.adopt(getpid());
  const auto pc = reinterpret_cast<uint64_t>(&getpid);
  fork(getpid(), kChild);  // before a tick of the parent
  EXPECT_TRUE(count_in(kChild, kChild, pc));
  exec(kChild, "next");
  map(kChild, 0x1000, "/bin/next");
  EXPECT_TRUE(count_in(kChild, kChild, 0x1000));
  char text[8192];
  const size_t bytes = read_proc_file(0, "cgroup", text, sizeof text);
  EXPECT_EQ(scopes(), (std::map<std::string, uint64_t>{{group_in({text, bytes}), 2}}));
}

}  // namespace
}  // namespace pctally
