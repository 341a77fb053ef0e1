#include "task/task_table.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <string>

#include "base/proc_file.h"
#include "histfile/call_paths.h"
#include "histfile/fresh_file_for_test.h"
#include "histfile/path_nodes_for_test.h"
#include "perf/process_tree.h"

namespace pctally {
namespace {

constexpr pid_t kPid = 0x7ff00001, kChild = 0x7ff00002,
                kNobody = 0x7ff00003;  // above pid_max: /proc knows nothing of them

class TaskRecordsTest : public testing::Test {
 protected:
  TaskRecordsTest() { use(TaskTable::Unknown::kIgnore); }

  void use(TaskTable::Unknown unknown_processes) { tasks_ = TaskTable(&file_, "ring", unknown_processes); }

  void exec(pid_t pid, const char* comm) {
    tasks_.apply({.kind = PerfRecord::Kind::kComm, .exec = true, .pid = pid, .tid = pid}, comm);
  }
  void map(pid_t pid, uint64_t start, const char* path) {
    tasks_.apply(
        {.kind = PerfRecord::Kind::kMmap, .executable = true, .pid = pid, .start = start, .bytes = 0x1000},
        path);
  }
  void fork(pid_t parent, pid_t child) {
    tasks_.apply({.kind = PerfRecord::Kind::kFork, .pid = child, .tid = child, .parent = parent}, "");
  }
  /// And long enough ago for the process to be forgotten.
  void end(pid_t pid) {
    exit(pid);
    exit(kNobody);
  }
  void exit(pid_t pid) {
    time_ += 2000000000;
    tasks_.apply({.kind = PerfRecord::Kind::kExit, .pid = pid, .tid = pid, .time = time_}, "");
  }
  /// Keeps ticks apart, without call paths.
  void keep(ScopeKind kind) {
    ASSERT_TRUE(add_call_paths(&file_, {.context_bytes = 64 << 10, .plane_bytes = 0}));
    tasks_.keep_scopes(kind, false);
  }
  void start_thread(pid_t pid, pid_t by, pid_t tid) {
    tasks_.apply(
        {.kind = PerfRecord::Kind::kFork, .pid = pid, .tid = tid, .parent = pid, .parent_thread = by}, "");
  }
  void rename(pid_t pid, pid_t tid, const char* name) {
    tasks_.apply({.kind = PerfRecord::Kind::kComm, .pid = pid, .tid = tid}, name);
  }
  bool count_in(pid_t pid, pid_t tid, uint64_t pc) { return tasks_.count({pid, tid}, pc, false, {}); }
  /// "program thread" -> ticks below its scope.
  std::map<std::string, uint64_t> scopes() {
    std::map<std::string, uint64_t> ticks;
    const Pool pool = file_.pool();
    const std::map<uint32_t, PathNode> nodes = nodes_of(pool, call_paths(file_)->context);
    for (const auto& [number, node] : nodes) {
      uint32_t root = number;
      while (nodes.at(root).parent != 0) root = nodes.at(root).parent;
      ticks[scope_name(pool, static_cast<uint32_t>(nodes.at(root).place))] += node.self + node.folded;
    }
    return ticks;
  }
  static std::string scope_name(const Pool& pool, uint32_t unit) {
    if (unit == 0) return "unknown";
    const auto* scope = pool_at<ScopeRecord>(pool, unit);
    const auto* text = pool_at<StringRecord>(pool, scope->name);
    std::string name(reinterpret_cast<const char*>(text + 1), text->bytes);
    const char* thread = reinterpret_cast<const char*>(scope) + offsetof(ScopeRecord, device);
    if (scope->kind == ScopeKind::kThread) name.append(" ").append(thread, strnlen(thread, kThreadNameBytes));
    return name;
  }
  bool count(pid_t pid, uint64_t pc) { return tasks_.count(pid, pc, false, 1); }

  /// "path" -> sum of the ticks in its segments' cells, for objects that have any segment.
  uint64_t ticks_in(const std::string& path) {
    uint64_t sum = 0;
    Pool pool = file_.pool();
    for (uint32_t unit = file_.header().objects; unit != 0; unit = pool_at<ObjectRecord>(pool, unit)->next) {
      const auto* text = pool_at<StringRecord>(pool, pool_at<ObjectRecord>(pool, unit)->path);
      if (std::string(reinterpret_cast<const char*>(text + 1), text->bytes) != path) continue;
      for (uint32_t at = pool_at<ObjectRecord>(pool, unit)->segments; at != 0;
           at = pool_at<SegmentRecord>(pool, at)->next)
        sum += ticks_of(pool, *pool_at<SegmentRecord>(pool, at));
    }
    return sum;
  }
  static uint64_t ticks_of(const Pool& pool, const SegmentRecord& segment) {
    uint64_t sum = 0;
    for (uint64_t byte = 0; byte < 0x1000 && byte < segment.bytes; ++byte)
      sum += *tree_cell(pool, segment.directory, byte);
    return sum;
  }
  const ProcessRecord* process(pid_t pid) { return fresh_.process(pid); }

  FreshFile fresh_{{.bytes = sizeof(void*) < 8 ? 16 << 20 : kInitialBytes}};  // it does not grow on 32 bits
  ProfileFile& file_ = fresh_.file();
  TaskTable tasks_;
  uint64_t time_ = 0;
};

TEST_F(TaskRecordsTest, AHeldCommandCountsFromItsExecOn) {
  tasks_.expect(kPid);
  EXPECT_FALSE(count(kPid, 0x1000));
  exec(kPid, "prog");
  map(kPid, 0x1000, "/bin/prog");
  EXPECT_TRUE(count(kPid, 0x1000));
  EXPECT_EQ(ticks_in("/bin/prog"), 1u);
  ASSERT_NE(process(kPid), nullptr);
  EXPECT_EQ(process(kPid)->ticks, 1u);
  EXPECT_STREQ(process(kPid)->comm, "prog");
}

TEST_F(TaskRecordsTest, UnknownProcessesAreIgnoredOrAdopted) {
  EXPECT_FALSE(count(kPid, 0x1000));
  fork(kPid, kChild);
  EXPECT_EQ(tasks_.size(), 0u);
  use(TaskTable::Unknown::kAdopt);
  EXPECT_TRUE(count(kPid, 0x1000));
  EXPECT_TRUE(tasks_.observes(kPid));
}

TEST_F(TaskRecordsTest, AChildHasACopyOfItsParentsMemory) {
  tasks_.expect(kPid);
  exec(kPid, "prog");
  map(kPid, 0x1000, "/bin/prog");
  fork(kPid, kChild);
  map(kChild, 0x1000, "/lib/other");
  EXPECT_TRUE(count(kChild, 0x1000));
  EXPECT_TRUE(count(kPid, 0x1001));
  EXPECT_EQ(ticks_in("/bin/prog"), 1u);
  EXPECT_EQ(ticks_in("/lib/other"), 1u);
  EXPECT_EQ(process(kChild)->parent, kPid);
}

TEST_F(TaskRecordsTest, AParentCountsOnAfterAForkMovedItsRegions) {
  tasks_.expect(kPid);
  exec(kPid, "prog");
  map(kPid, 0x1000, "/bin/prog");
  EXPECT_TRUE(count(kPid, 0x1000));
  for (uint64_t i = 0; i < 200; ++i) map(kPid, 0x100000 + 0x2000 * i, "/lib/other");
  fork(kPid, kChild);
  EXPECT_TRUE(count(kPid, 0x1000));
  EXPECT_EQ(ticks_in("/bin/prog"), 2u);
}

// Ticks of one pc that were added up, and other text came to their place meanwhile: the last is
// the new text's.
TEST_F(TaskRecordsTest, TicksOfBeforeAndAfterAReplacementAreNobodys) {
  constexpr uint64_t kPc = 0x1010;
  auto map_at = [this](uint64_t time, const char* path) {
    tasks_.apply({.kind = PerfRecord::Kind::kMmap,
                  .executable = true,
                  .pid = kPid,
                  .time = time,
                  .start = 0x1000,
                  .bytes = 0x1000},
                 path);
  };
  tasks_.expect(kPid);
  exec(kPid, "prog");
  map_at(100, "/lib/first");
  EXPECT_TRUE(tasks_.count(kPid, kPc, false, 5, 110, 190));
  map_at(200, "/lib/first");  // the same once more is no replacement
  EXPECT_TRUE(tasks_.count(kPid, kPc, false, 5, 195, 290));
  EXPECT_EQ(tasks_.replacements(), 0u);
  map_at(300, "/lib/second");
  EXPECT_EQ(tasks_.replacements(), 1u);
  EXPECT_TRUE(tasks_.count(kPid, kPc, false, 4, 295, 390));
  EXPECT_TRUE(tasks_.count(kPid, kPc, false, 2, 310, 390));
  EXPECT_EQ(ticks_in("/lib/first"), 10u);
  EXPECT_EQ(ticks_in("/lib/second"), 3u);
  EXPECT_EQ(ticks_in("[code since unmapped]"), 3u);
  EXPECT_EQ(process(kPid)->ticks, 16u);
}

// An unloaded library leaves no record: what comes to its place does.
TEST_F(TaskRecordsTest, CodeWithoutAFileDoesNotTakeTheNameOfTheFileBeforeIt) {
  tasks_.expect(kPid);
  exec(kPid, "prog");
  map(kPid, 0x1000, "/lib/gone");
  map(kPid, 0x1000, "//anon");
  EXPECT_TRUE(count(kPid, 0x1010));
  EXPECT_EQ(ticks_in("/lib/gone"), 0u);
  EXPECT_EQ(process(kPid)->ticks, 1u);
  uint64_t before = tasks_.replacements();
  map(kPid, 0x1000, "//anon");  // a JIT protects its memory anew
  EXPECT_EQ(tasks_.replacements(), before);
}

TEST_F(TaskRecordsTest, ExecEndsTheOldMemory) {
  tasks_.expect(kPid);
  exec(kPid, "prog");
  map(kPid, 0x1000, "/bin/prog");
  exec(kPid, "next");
  map(kPid, 0x1000, "/bin/next");
  EXPECT_TRUE(count(kPid, 0x1000));
  EXPECT_EQ(ticks_in("/bin/prog"), 0u);
  EXPECT_EQ(ticks_in("/bin/next"), 1u);
}

// A machine forks without end: 20,000 processes of three programs, of which a hundred live at a time.
TEST_F(TaskRecordsTest, EndedProcessesAreAddedUpByProgram) {
  constexpr pid_t kMany = 20000, kAlive = 100;
  const char* const kPrograms[] = {"sh", "cc1", "rm"};
  tasks_.expect(kPid - 1);
  exec(kPid - 1, "make");
  for (pid_t i = 0; i < kMany + kAlive; ++i) {
    time_ += 100000000;
    if (i >= kAlive)
      tasks_.apply({.kind = PerfRecord::Kind::kExit,
                    .pid = kPid + i - kAlive,
                    .tid = kPid + i - kAlive,
                    .time = time_},
                   "");
    if (i >= kMany) continue;
    fork(kPid - 1, kPid + i);
    exec(kPid + i, kPrograms[i % 3]);
    map(kPid + i, 0x1000, "/bin/prog");
    EXPECT_TRUE(count(kPid + i, 0x1000));
  }
  std::map<std::string, uint64_t> ticks = fresh_.by_comm();
  EXPECT_EQ(ticks.size(), 4u) << "make and these: nothing is in (others)";
  EXPECT_EQ(ticks["sh"] + ticks["cc1"] + ticks["rm"], static_cast<uint64_t>(kMany));
  for (const char* program : kPrograms) EXPECT_NEAR(static_cast<double>(ticks[program]), kMany / 3.0, 1);
  EXPECT_LT(file_.header().process_count, 5000u);
}

// More live at once than there are records: what the rest is called stays so when one of
// them executes something.
TEST_F(TaskRecordsTest, TheRowOfAllOthersKeepsItsName) {
  use(TaskTable::Unknown::kAdopt);
  for (pid_t i = 0; i < static_cast<pid_t>(kMostProcesses) + 50; ++i) {
    exec(kPid + i, "busy");
    EXPECT_TRUE(count(kPid + i, 0x1000));
  }
  exec(kPid + static_cast<pid_t>(kMostProcesses) + 10, "rm");
  std::map<std::string, uint64_t> ticks = fresh_.by_comm();
  EXPECT_EQ(ticks["busy"], kMostProcesses);
  EXPECT_EQ(ticks["(others)"], 50u);
  EXPECT_EQ(ticks.count("rm"), 0u);
}

TEST_F(TaskRecordsTest, AReusedNumberIsAnotherProcess) {
  tasks_.expect(kPid);
  exec(kPid, "prog");
  map(kPid, 0x1000, "/bin/prog");
  fork(kPid, kChild);
  EXPECT_TRUE(count(kChild, 0x1000));
  end(kChild);
  EXPECT_FALSE(tasks_.observes(kChild));
  EXPECT_FALSE(count(kChild, 0x1000));  // a other has that number now
  fork(kPid, kChild);
  EXPECT_TRUE(count(kChild, 0x1000));
  EXPECT_EQ(process(kChild)->ticks, 1u);  // the newer of two records
  EXPECT_EQ(ticks_in("/bin/prog"), 2u);
}

TEST_F(TaskRecordsTest, AProcessEndsWithItsLastThread) {
  tasks_.expect(kPid);
  exec(kPid, "prog");
  map(kPid, 0x1000, "/bin/prog");
  fork(kPid, kPid);  // a thread
  exit(kPid);
  EXPECT_TRUE(tasks_.observes(kPid));
  end(kPid);
  EXPECT_FALSE(tasks_.observes(kPid));
  EXPECT_NE(process(kPid)->flags & kProcessExited, 0u);
  EXPECT_EQ(process(kPid)->note, ProcessNote::kNone);
}

TEST_F(TaskRecordsTest, AnEndBetweenExecAndMappingsIsTheKernelsDoing) {
  tasks_.expect(kPid);
  exec(kPid, "su");
  exit(kPid);
  EXPECT_TRUE(tasks_.observes(kPid));  // the whole machine's events see it go on
  tasks_.expect_removal(true);
  end(kPid);
  EXPECT_FALSE(tasks_.observes(kPid));
  ASSERT_NE(process(kPid), nullptr);
  EXPECT_EQ(process(kPid)->note, ProcessNote::kPrivileged);
  EXPECT_EQ(process(kPid)->flags & kProcessObserved, 0u);
}

TEST_F(TaskRecordsTest, AnEndBetweenExecAndMappingsSaysNothingWhereRecordsWereLost) {
  tasks_.expect_removal(true);
  for (bool while_replayed : {true, false}) {
    pid_t pid = while_replayed ? kPid : kNobody;
    tasks_.expect_losses(while_replayed);
    tasks_.expect(pid);
    exec(pid, "prog");
    if (while_replayed)
      end(pid);
    else
      tasks_.resync();  // which does not find it in /proc
    ASSERT_NE(process(pid), nullptr);
    EXPECT_EQ(process(pid)->note, ProcessNote::kNone) << while_replayed;
  }
}

TEST_F(TaskRecordsTest, OneThatWasEndingWhenItsMappingsWereReadHasNoPrivilegesForThat) {
  const pid_t pid = ::fork();
  if (pid == 0) _exit(0);
  siginfo_t ended;
  ASSERT_EQ(waitid(P_PID, pid, &ended, WEXITED | WNOWAIT), 0);  // its memory is gone, its number is not
  tasks_.expect_removal(true);
  tasks_.expect(pid);
  exec(pid, "prog");
  map(pid, 0x1000, "/bin/prog");
  tasks_.resync();
  tasks_.expect_losses(false);
  end(pid);
  waitpid(pid, nullptr, 0);
  ASSERT_NE(process(pid), nullptr);
  EXPECT_EQ(process(pid)->note, ProcessNote::kNone);
}

TEST_F(TaskRecordsTest, ChildrenAreLeftOutWhenNotFollowed) {
  tasks_.follow_children(false);
  tasks_.expect(kPid);
  exec(kPid, "prog");
  fork(kPid, kChild);
  EXPECT_FALSE(count(kChild, 0x1000));
}

TEST_F(TaskRecordsTest, SixtyThousandMappingsAreFoundAgain) {
  constexpr uint64_t kMappings = 60000, kApart = 0x2000, kBase = 0x10000000;
  tasks_.expect(kPid);
  exec(kPid, "prog");
  for (uint64_t i = kMappings; i-- > 0;)  // downwards, as the kernel places them
    tasks_.apply({.kind = PerfRecord::Kind::kMmap,
                  .executable = true,
                  .pid = kPid,
                  .start = kBase + i * kApart,
                  .bytes = 0x1000,
                  .offset = i * kApart},
                 "/bin/prog");
  for (uint64_t i = 0; i < kMappings; i += 1000) ASSERT_TRUE(count(kPid, kBase + i * kApart));
  EXPECT_EQ(file_.header().ledger.counted, kMappings / 1000);
}

TEST_F(TaskRecordsTest, ResyncFindsACommandWhoseExecWasLost) {
  pid_t held = ::fork();
  if (held == 0) {
    pause();
    _exit(0);
  }
  tasks_.expect(held);
  tasks_.resync();
  EXPECT_FALSE(count(held, 0x1000));  // still what this process is
  kill(held, SIGKILL);
  waitpid(held, nullptr, 0);
  pid_t command = ::fork();
  if (command == 0) {
    execl("/bin/sleep", "sleep", "60", nullptr);
    _exit(1);
  }
  tasks_.expect(command);
  while (command_line_of(command) == command_line_of(getpid())) usleep(1000);
  tasks_.resync();
  EXPECT_TRUE(count(command, 0x1000));
  kill(command, SIGKILL);
  waitpid(command, nullptr, 0);
}

TEST_F(TaskRecordsTest, ResyncTakesUpWhatProcTells) {
  tasks_.adopt(getpid());
  tasks_.adopt(kPid);
  tasks_.resync();
  end(kNobody);
  EXPECT_TRUE(tasks_.observes(getpid()));
  EXPECT_FALSE(tasks_.observes(kPid));
  auto here = reinterpret_cast<uint64_t>(&getpid);
  EXPECT_TRUE(count(getpid(), here));
  EXPECT_EQ(file_.header().ledger.counted, 1u);
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

TEST_F(TaskRecordsTest, AProcessHasItsControlGroupAndAGoneOneItsParents) {
  keep(ScopeKind::kGroup);
  tasks_.adopt(getpid());
  const auto pc = reinterpret_cast<uint64_t>(&getpid);
  EXPECT_TRUE(count_in(getpid(), getpid(), pc));
  fork(getpid(), kChild);
  EXPECT_TRUE(count_in(kChild, kChild, pc));
  char text[8192];
  const size_t bytes = read_proc_file(0, "cgroup", text, sizeof text);
  EXPECT_EQ(scopes(), (std::map<std::string, uint64_t>{{group_in({text, bytes}), 2}}));
}

// As one that has left its control group, executed something, and come back.
TEST_F(TaskRecordsTest, AProcessThatWasAwayIsReadAgainWhenItRunsUnknownCode) {
  constexpr uint64_t kElsewhere = 0x1000;
  const auto here = reinterpret_cast<uint64_t>(&getpid);
  for (const bool absences : {false, true}) {
    file_.header().paths = 0;
    use(TaskTable::Unknown::kAdopt);
    keep(ScopeKind::kProgram);
    if (absences) tasks_.expect_absences();
    exec(getpid(), "before");
    map(getpid(), kElsewhere, "/bin/before");
    EXPECT_TRUE(count_in(getpid(), getpid(), kElsewhere));
    EXPECT_TRUE(count_in(getpid(), getpid(), here));
    EXPECT_EQ(scopes()["/bin/before"], absences ? 1u : 2u);
    EXPECT_EQ(scopes().size(), absences ? 2u : 1u);
    EXPECT_EQ(process(getpid())->comm, absences ? comm_of(getpid()) : "before");
  }
}

}  // namespace
}  // namespace pctally
