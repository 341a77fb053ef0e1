#include "recorder/cpu_account.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/kernel/cpu_time_for_test.h"
#include "base/time_ns.h"
#include "perf/process_tree.h"

namespace pctally {
namespace {

/// What it used by its own clock, from here on: a process may have begun long before its account. More than
/// was asked for where a host held the CPU, as no clock shows that.
uint64_t burn(uint64_t ns) {
  const uint64_t begun = process_cpu_ns();
  uint64_t used = 0;
  while ((used = process_cpu_ns() - begun) < ns) {
  }
  return used;
}

/// A process that waits for go(), works, says how many nanoseconds that took, and waits again, until the end
/// of the test.
class Worker {
 public:
  explicit Worker(const std::function<uint64_t()>& work) {
    EXPECT_EQ(pipe(start_), 0);
    EXPECT_EQ(pipe(done_), 0);
    pid_ = fork();
    if (pid_ != 0) return;
    for (char byte; read(start_[0], &byte, 1) == 1;) {
      const uint64_t ns = work();
      if (write(done_[1], &ns, sizeof ns) != sizeof ns) _exit(1);
    }
    _exit(1);
  }
  ~Worker() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    for (int fd : {start_[0], start_[1], done_[0], done_[1]}) close(fd);
  }
  /// Seconds of CPU time that its work took, by its own clock.
  double go() {
    uint64_t ns = 0;
    EXPECT_EQ(write(start_[1], "x", 1), 1);
    EXPECT_EQ(read(done_[0], &ns, sizeof ns), ssize_t{sizeof ns});
    return static_cast<double>(ns) * 1e-9;
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  int start_[2], done_[2];
  pid_t pid_ = 0;
};

double seconds_used(CpuAccount& account) {
  account.poll();
  return static_cast<double>(account.used(nullptr).total()) * 1e-9;
}

double seconds_since(uint64_t begun_ns) { return static_cast<double>(monotonic_ns() - begun_ns) * 1e-9; }

/// At least what the work says of itself. At most the time that passed, as one works at a time: where a host
/// holds a CPU, that is charged to whoever runs there, also behind the last look at its clock.
void expect_seconds_used(CpuAccount& account, Worker& worker) {
  const uint64_t begun = monotonic_ns();
  const double worked = worker.go();
  const double used = seconds_used(account);
  EXPECT_GE(used, 0.98 * worked);
  EXPECT_LE(used, 0.02 + 1.1 * seconds_since(begun));
}

/// What the worker itself has used since it began, by its own clock: of a host that holds the CPU, too.
double own_seconds(const Worker& worker) {
  return static_cast<double>(cpu_ns_of(worker.pid()).value_or(0)) * 1e-9;
}

TEST(CpuAccount, OfAProcessIsItsOwnClock) {
  Worker worker([] { return burn(100000000); });
  worker.go();
  CpuAccount account;
  const uint64_t begun = monotonic_ns();
  account.start(Target::running({worker.pid()}));
  EXPECT_TRUE(account.known());
  EXPECT_LE(seconds_used(account), 1.1 * seconds_since(begun)) << "what it used before is not in it";
  expect_seconds_used(account, worker);
}

/// A double fork: nobody ever waits for the one that works. Returns what that used.
uint64_t leave_an_orphan() {
  int done[2];
  uint64_t ns = 0;
  if (pipe(done) != 0) _exit(1);
  if (fork() == 0) {
    if (fork() == 0) {
      ns = burn(100000000);
      if (write(done[1], &ns, sizeof ns) != sizeof ns) _exit(1);
    }
    _exit(0);
  }
  if (read(done[0], &ns, sizeof ns) != sizeof ns) _exit(1);
  return ns;
}

TEST(CpuAccount, ATreesCountHoldsWhatNobodyWaitsFor) {
  if (!may_observe_machine()) GTEST_SKIP() << "needs CAP_PERFMON or kernel.perf_event_paranoid <= 0";
  Worker worker(leave_an_orphan);
  CpuAccount account, by_clocks;
  account.count_tree(Target::running({worker.pid()}));
  account.start(Target::running({worker.pid()}));
  by_clocks.start(Target::running({worker.pid()}));
  expect_seconds_used(account, worker);
  EXPECT_LT(seconds_used(by_clocks), own_seconds(worker) + 0.05) << "nothing of the 0.1 s";
}

/// A child that is waited for burns 0.1 s. Returns what it used.
uint64_t leave_work_to_a_child() {
  rusage used{};
  if (fork() == 0) {
    burn(100000000);
    _exit(0);
  }
  wait4(-1, nullptr, 0, &used);
  return to_ns(used.ru_utime) + to_ns(used.ru_stime);
}

TEST(CpuAccount, WithoutChildrenIsOfTheProcessAlone) {
  Worker worker(leave_work_to_a_child);
  CpuAccount alone, counted, whole;
  for (CpuAccount* account : {&alone, &counted}) account->follow_children(false);
  counted.count_tree(Target::running({worker.pid()}));
  for (CpuAccount* account : {&alone, &counted, &whole}) account->start(Target::running({worker.pid()}));
  const uint64_t stolen_before = stolen_ns();
  const double of_child = worker.go(), without = seconds_used(alone), by_count = seconds_used(counted);
  // Of the child's user and system time the whole has what the kernel says in steps of 10 ms.
  EXPECT_GE(seconds_used(whole), without + of_child - 0.02);
  EXPECT_LT(without, own_seconds(worker) + of_child / 2);
  const double stolen = 1e-9 * static_cast<double>(stolen_ns() - stolen_before);  // perf counts on meanwhile
  EXPECT_LT(by_count, own_seconds(worker) + of_child / 2 + stolen) << "where the kernel counts";
}

TEST(CpuAccount, AProcessNobodyHasWaitedForStillHasItsOwnTime) {
  const pid_t pid = fork();
  if (pid == 0) {
    leave_work_to_a_child();
    burn(20000000);
    _exit(0);
  }
  siginfo_t end{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(pid), &end, WEXITED | WNOWAIT), 0);
  EXPECT_GE(cpu_time_of(pid, false).total(), 20'000'000u);
  EXPECT_GE(cpu_time_of(pid).total(), cpu_time_of(pid, false).total() + 80'000'000);
  waitpid(pid, nullptr, 0);
}

TEST(CpuAccount, OfACommandTheLargerFigureIsTaken) {
  CpuAccount account;
  account.start(Target::running({getpid()}));
  CpuTime command{70, 30};
  EXPECT_EQ(account.used(&command).total(), 100u);
}

TEST(CpuAccount, OfACommandACountBeyondTheKernelsIsOfThoseNobodyWaitedFor) {
  CpuAccount account;
  account.start(Target::running({getpid()}));
  CpuTime command{70, 30};
  EXPECT_EQ(account.used(&command, 90).total(), 100u);
  EXPECT_EQ(account.used(&command, 250).total(), 250u);
  EXPECT_EQ(account.used(nullptr, 90).total(), 90u);
}

constexpr uint64_t kCounted = 50'000'000;

/// perf's count lacks the end of each process. The clocks have it.
TEST(CpuAccount, OfRunningProcessesTheClocksAreTakenIfTheyHaveMore) {
  Worker older([] { return burn(1'000'000); });
  for (const bool children : {false, true}) {
    CpuAccount account;
    account.follow_children(children);
    account.start(Target::running({getpid()}));
    burn(100'000'000);
    account.poll();
    EXPECT_GE(account.used(nullptr, kCounted).total(), 100'000'000u);
  }
}

/// Both are rounded; the kernel's part is never more than the whole.
TEST(CpuAccount, OfACountTheKernelsPartIsNoMoreThanTheCount) {
  CpuAccount account;
  account.start(Target::running({getpid()}));
  std::ifstream zeroes("/dev/zero", std::ios::binary);
  std::vector<char> buffer(1 << 20);
  CpuTime clocks;
  for (uint64_t begun = process_cpu_ns(); process_cpu_ns() - begun < 100'000'000;) {
    for (int i = 0; i < 100; ++i) zeroes.read(buffer.data(), 1 << 20);
    account.poll();
    clocks = account.used(nullptr);
  }
  if (clocks.user_ns > 15'000'000 || clocks.system_ns == 0) GTEST_SKIP() << "reading takes user time here";
  const CpuTime counted = account.used(nullptr, clocks.system_ns - 1);
  EXPECT_EQ(counted.system_ns, clocks.system_ns - 1);
  EXPECT_EQ(counted.user_ns, 0u);
}

/// A child that does a part at each go(), and ends after the last.
class OlderChild {
 public:
  explicit OlderChild(const std::vector<std::function<void()>>& parts) {
    EXPECT_EQ(pipe(orders_), 0);
    EXPECT_EQ(pipe(done_), 0);
    pid_ = fork();
    if (pid_ != 0) return;
    close(orders_[1]);
    for (const auto& part : parts) {
      char byte = 0;
      if (read(orders_[0], &byte, 1) != 1) _exit(1);
      part();
      if (write(done_[1], "d", 1) != 1) _exit(1);
    }
    _exit(0);
  }
  ~OlderChild() {
    for (int fd : {orders_[0], orders_[1], done_[0], done_[1]}) close(fd);
    if (pid_ != 0) wait();
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  void go() {
    char byte = 0;
    EXPECT_EQ(write(orders_[1], "x", 1), 1);
    EXPECT_EQ(read(done_[0], &byte, 1), 1);
  }
  void wait() { EXPECT_GT(waitpid(std::exchange(pid_, 0), nullptr, 0), 0); }

 private:
  int orders_[2], done_[2];
  pid_t pid_ = 0;
};

/// Of this process, since its clock was at `begun_ns`: what perf is said to have counted, or the clock if
/// that has more, and nothing of the 200 ms of a child.
void expect_own_time_alone(const CpuAccount& account, uint64_t begun_ns) {
  const uint64_t own = process_cpu_ns() - begun_ns;
  EXPECT_LT(account.used(nullptr).total(), own + 100'000'000);
  EXPECT_LT(account.used(nullptr, kCounted).total(), std::max(own, kCounted) + 100'000'000);
}

TEST(CpuAccount, WhatOlderChildrenUsedBeforeIsNotOfTheirParents) {
  OlderChild child({[] { burn(200'000'000); }, [] {}});
  child.go();
  CpuAccount account;
  const uint64_t begun = process_cpu_ns();
  account.start(Target::running({getpid()}));
  child.go();
  child.wait();
  account.poll();
  expect_own_time_alone(account, begun);
}

/// What its parent used in the time between two other polls is still of the parent.
TEST(CpuAccount, TheTimeInWhichAnOlderChildEndsIsNotCounted) {
  OlderChild child({[] { burn(200'000'000); }, [] {}});
  child.go();
  CpuAccount account;
  const uint64_t begun = process_cpu_ns();
  account.start(Target::running({getpid()}));
  burn(100'000'000);
  account.poll();
  child.go();
  child.wait();
  account.poll();
  burn(100'000'000);
  account.poll();
  EXPECT_GE(account.used(nullptr, kCounted).total(), 200'000'000u);
  expect_own_time_alone(account, begun);
}

/// That of each comes into the parent's clock at its own end.
TEST(CpuAccount, WhatSeveralOlderChildrenUsedBeforeIsNotOfTheirParent) {
  const auto work = [] { burn(200'000'000); };
  OlderChild one({work, [] {}}), other({work, [] {}});
  one.go();
  other.go();
  CpuAccount account;
  const uint64_t begun = process_cpu_ns();
  account.start(Target::running({getpid()}));
  for (OlderChild* child : {&one, &other}) {
    child->go();
    child->wait();
    account.poll();
  }
  expect_own_time_alone(account, begun);
}

/// They are not observed, and what they have started since is not either.
TEST(CpuAccount, WhatOlderChildrenStartIsNotOfTheirParents) {
  OlderChild child({[] {
                      if (fork() != 0) return;
                      burn(200'000'000);
                      _exit(0);
                    },
                    [] { ::wait(nullptr); }, [] {}});
  CpuAccount account;
  const uint64_t begun = process_cpu_ns();
  account.start(Target::running({getpid()}));
  child.go();
  child.go();
  account.poll();
  child.go();
  child.wait();
  account.poll();
  expect_own_time_alone(account, begun);
}

/// What it used before is not counted, and what it used since is counted once.
TEST(CpuAccount, OneOfTheProcessesMayBeAnothersChildAndEnd) {
  OlderChild child({[] { burn(200'000'000); }, [] { burn(100'000'000); }, [] {}});
  child.go();
  CpuAccount account;
  const uint64_t begun = process_cpu_ns(), childs_begun = cpu_ns_of(child.pid()).value_or(0);
  account.start(Target::running({getpid(), child.pid()}));
  child.go();
  account.poll();
  const uint64_t childs = cpu_ns_of(child.pid()).value_or(0) - childs_begun;
  child.go();
  child.wait();
  account.poll();
  const uint64_t own = process_cpu_ns() - begun;
  EXPECT_GE(account.used(nullptr, kCounted).total(), 100'000'000u);
  EXPECT_LT(account.used(nullptr, kCounted).total(), own + childs + 90'000'000);
}

TEST(CpuAccount, OfTheMachineIsKnown) {
  CpuAccount account;
  account.start(Target::machine());
  EXPECT_TRUE(account.known());
  EXPECT_GE(seconds_used(account), 0);
}

/// Two CPUs for 10 s, one of them half busy: of 20 s 15 were idle.
TEST(CpuAccount, OfTheMachineIsWhatPassedLessWhatWasIdle) {
  const auto hertz = static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  MachineReading first{5 * kNsPerSecond, {}};
  // Far more idle time than these two can have had (CPUs that are off by now), or none of it (they came
  // late).
  for (const uint64_t idle : {1'000'000 * hertz, uint64_t{0}}) {
    first.ticks = {.user = 100 * hertz, .system = 900 * hertz, .idle = idle};
    MachineReading last{15 * kNsPerSecond, first.ticks};
    last.ticks.user += 4 * hertz, last.ticks.softirq += hertz, last.ticks.idle += 14 * hertz,
        last.ticks.wait += hertz;
    const CpuTime used = used_between(first, last, 2);
    EXPECT_EQ(used.user_ns, 4 * kNsPerSecond);
    EXPECT_EQ(used.system_ns, kNsPerSecond);
  }
}

/// What another machine had of the CPUs nobody here used.
TEST(CpuAccount, OfTheMachineIsNothingThatAHostTook) {
  const auto hertz = static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  const MachineReading first{5 * kNsPerSecond, {}};
  MachineReading last{15 * kNsPerSecond, {}};
  last.ticks.user = 4 * hertz, last.ticks.idle = 11 * hertz, last.ticks.steal = 5 * hertz;
  EXPECT_EQ(used_between(first, last, 2).total(), 4 * kNsPerSecond);
}

TEST(CpuAccount, OfNoControlGroupIsUnknown) {
  CpuAccount account;
  account.start(Target::control_group("/nonexistent"));
  EXPECT_FALSE(account.known());
}

/// The files of a control group, in a directory of ours.
class Group : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "cpu_account_XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  void write(const std::string& stat) { std::ofstream(directory_ + "/cpu.stat") << stat; }
  void remove() { std::filesystem::remove(directory_ + "/cpu.stat"); }
  std::string directory_;
};

TEST_F(Group, ThatIsRemovedKeepsItsLastReading) {
  CpuAccount account;
  write("usage_usec 1000\nuser_usec 600\nsystem_usec 400\n");
  account.start(Target::control_group(directory_));
  write("usage_usec 5000\nuser_usec 3600\nsystem_usec 1400\n");
  account.poll();
  remove();
  account.end();
  EXPECT_TRUE(account.known());
  EXPECT_EQ(account.used(nullptr).user_ns, 3'000'000u);
  EXPECT_EQ(account.used(nullptr).system_ns, 1'000'000u);
}

TEST_F(Group, WithoutAFirstReadingIsUnknown) {
  CpuAccount account;
  account.start(Target::control_group(directory_));
  write("usage_usec 5000\nuser_usec 3600\nsystem_usec 1400\n");
  account.end();
  EXPECT_FALSE(account.known());
}

TEST(ProcessTree, KnowsTheProcessOfAThread) {
  EXPECT_EQ(process_of_thread(gettid()), getpid());
  EXPECT_EQ(process_of_thread(0x7ffffff0), 0);
}

}  // namespace
}  // namespace pctally
