#include "task/task_records_for_test.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time_ns.h"
#include "perf/process_tree.h"
#include "task/privileged_program.h"

namespace pctally {
namespace {

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

TEST_F(TaskRecordsTest, CodeOfAnotherProcessWithTheNumberIsAnotherObject) {
  for (const uint64_t second : {1, 5}) {
    tasks_.expect(kPid);
    tasks_.apply({.kind = PerfRecord::Kind::kFork,
                  .pid = kChild,
                  .tid = kChild,
                  .parent = kPid,
                  .time = second * kNsPerSecond},
                 "");
    exec(kChild, "jit");
    map(kChild, 0x1000, "//anon");
    EXPECT_TRUE(count(kChild, 0x1000));
  }
  const Pool pool = file_.pool();
  const auto* newest = pool_at<ObjectRecord>(pool, file_.header().objects);
  ASSERT_NE(newest->next, 0u);
  const auto* older = pool_at<ObjectRecord>(pool, newest->next);
  EXPECT_EQ(newest->owner, kChild);
  EXPECT_EQ(older->owner, kChild);
  EXPECT_NE(newest->time_unix_ns, older->time_unix_ns);
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

TEST_F(TaskRecordsTest, TheVdsoOf32BitProgramsIsAnother) {
  tasks_.expect(kPid);
  exec(kPid, "prog");
  map(kPid, 0xf7fc9000, "[vdso]");
  map(kPid, 0x7fff00001000, "[vdso]");
  EXPECT_TRUE(count(kPid, 0xf7fc9010));
  EXPECT_TRUE(count(kPid, 0x7fff00001020));
  EXPECT_TRUE(count(kPid, 0x7fff00001020));
  EXPECT_EQ(ticks_in("[vdso32]"), 1u);
  EXPECT_EQ(ticks_in("[vdso]"), 2u);
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
  exec(kPid, "privileged-prog");  // a name that may be cut: of one that has ended nothing is known then
  exit(kPid);
  EXPECT_TRUE(tasks_.observes(kPid));  // the whole machine's events see it go on
  tasks_.expect_removal(true);
  end(kPid);
  EXPECT_FALSE(tasks_.observes(kPid));
  ASSERT_NE(process(kPid), nullptr);
  EXPECT_EQ(process(kPid)->note, ProcessNote::kPrivileged);
  EXPECT_EQ(process(kPid)->flags & kProcessObserved, 0u);
}

TEST_F(TaskRecordsTest, OneThatIsKilledWithinItsExecHasNoPrivileges) {
  if (may_be_privileged("no-such-prog")) GTEST_SKIP() << "this kernel does not tell what it has in memory";
  tasks_.expect_removal(true);
  tasks_.expect(kPid);
  exec(kPid, "no-such-prog");
  end(kPid);
  ASSERT_NE(process(kPid), nullptr);
  EXPECT_EQ(process(kPid)->note, ProcessNote::kNone);
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
  tasks_.apply({.kind = PerfRecord::Kind::kExit, .pid = kNobody, .time = monotonic_ns() + 2000000000}, "");
  EXPECT_TRUE(tasks_.observes(getpid()));
  EXPECT_FALSE(tasks_.observes(kPid));
  auto here = reinterpret_cast<uint64_t>(&getpid);
  EXPECT_TRUE(count(getpid(), here));
  EXPECT_EQ(file_.header().ledger.counted, 1u);
}

// With many processes below many others, each was read once for each of its ancestors.
TEST_F(TaskRecordsTest, ResyncLooksForDescendantsOnlyWhereTheyWouldNotBeMet) {
  const pid_t child = ::fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  for (const auto unknown : {TaskTable::Unknown::kIgnore, TaskTable::Unknown::kAdopt}) {
    use(unknown);
    tasks_.adopt(getpid());
    tasks_.resync();
    EXPECT_EQ(tasks_.observes(child), unknown == TaskTable::Unknown::kIgnore);
    EXPECT_EQ(count(child, 0x1000), true);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

// -p: what the process has started before is not recorded, whatever is lost.
TEST_F(TaskRecordsTest, ResyncLeavesOutDescendantsOfBefore) {
  const auto start = [] {
    const pid_t child = ::fork();
    if (child != 0) return child;
    pause();
    _exit(0);
  };
  const pid_t older = start(), named = start();
  for (const pid_t pid : {getpid(), named}) tasks_.adopt(pid);
  tasks_.leave_out_descendants(getpid());
  const pid_t younger = start();
  tasks_.resync();
  EXPECT_FALSE(tasks_.observes(older));
  EXPECT_TRUE(tasks_.observes(named));
  EXPECT_TRUE(tasks_.observes(younger));
  for (const pid_t pid : {older, named, younger}) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
}

// Of several rings one may lose the starts of threads while another has their ends.
TEST_F(TaskRecordsTest, AProcessThatLivesHasNotEnded) {
  for (const bool resync : {true, false}) {
    use(TaskTable::Unknown::kIgnore);
    tasks_.adopt(getpid());
    const uint64_t now = monotonic_ns();
    for (pid_t thread = 1; !tasks_.has_ended(getpid()); ++thread) {
      ASSERT_LT(thread, 1000);
      tasks_.apply({.kind = PerfRecord::Kind::kExit, .pid = getpid(), .tid = thread, .time = now}, "");
    }
    if (resync) tasks_.resync();
    tasks_.apply({.kind = PerfRecord::Kind::kExit, .pid = kNobody, .time = now + 2000000000}, "");
    EXPECT_TRUE(tasks_.observes(getpid())) << resync;
    EXPECT_FALSE(tasks_.has_ended(getpid())) << resync;
    EXPECT_TRUE(count(getpid(), reinterpret_cast<uint64_t>(&getpid))) << resync;
  }
}

TEST_F(TaskRecordsTest, ResyncGivesAnEndItsTime) {
  tasks_.adopt(kPid);
  tasks_.resync();
  EXPECT_TRUE(tasks_.has_ended(kPid));
  EXPECT_TRUE(count(kPid, 0x1000)) << "a tick of before may still come";
}

// The record of its exec came, and those of its mappings did not.
TEST_F(TaskRecordsTest, AnImageWhoseMappingsWereLostIsReadWhenItRunsUnknownCode) {
  for (const bool lost : {false, true})
    for (const bool has_passed : {false, true}) {
      use(TaskTable::Unknown::kAdopt);
      exec(getpid(), "before");
      tasks_.expect_image(getpid(), 5, false, has_passed);
      tasks_.expect_losses(lost);
      EXPECT_TRUE(count(getpid(), reinterpret_cast<uint64_t>(&getpid)));
      EXPECT_EQ(process(getpid())->comm, lost && !has_passed ? comm_of(getpid()) : "before")
          << lost << has_passed;
    }
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

// Its addresses are another machine's: whatever the process has there.
TEST_F(TaskRecordsTest, TicksInAVirtualMachineHaveARowOfTheirOwn) {
  for (const bool scopes_kept : {false, true}) {
    if (scopes_kept) keep(ScopeKind::kProgram);
    tasks_.expect(kPid);
    exec(kPid, "emulator");
    map(kPid, 0x1000, "/bin/emulator");
    EXPECT_TRUE(count(kPid, 0x1000));
    EXPECT_TRUE(tasks_.count_guest({kPid, kPid + 1}, {}));
    EXPECT_FALSE(tasks_.count_guest({kChild, kChild}, {}));
  }
  EXPECT_EQ(ticks_in("[guest of a virtual machine]"), 2u);
  EXPECT_EQ(ticks_in("/bin/emulator"), 2u);
  EXPECT_EQ(scopes(), (std::map<std::string, uint64_t>{{"/bin/emulator", 1}}));
  EXPECT_EQ(process(kPid)->ticks, 4u);
}

// No record tells that mremap(2) moves memory. What was known before stays.
TEST_F(TaskRecordsTest, CodeThatWasMovedIsReadOfWhenItRuns) {
  constexpr uint64_t kKnown = 0x1000;
  constexpr size_t kBytes = 0x2000;
  use(TaskTable::Unknown::kAdopt);
  exec(getpid(), "before");
  map(getpid(), kKnown, "/bin/before");
  void* code = mmap(nullptr, kBytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(code, MAP_FAILED);
  EXPECT_TRUE(count(getpid(), reinterpret_cast<uint64_t>(code)));
  EXPECT_TRUE(count(getpid(), kKnown));
  EXPECT_EQ(ticks_in("/bin/before"), 1u);
  EXPECT_EQ(ticks_in("[code in no known mapping]"), 0u);
  EXPECT_TRUE(count(getpid(), 0x3000)) << "nothing is there";
  EXPECT_EQ(ticks_in("[code in no known mapping]"), 1u);
  EXPECT_EQ(process(getpid())->comm, std::string("before"));
  munmap(code, kBytes);
}

}  // namespace
}  // namespace pctally
