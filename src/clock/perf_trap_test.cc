#include "clock/perf_trap.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#include "base/kernel/cpu_time_for_test.h"
#include "base/next_call.h"
#include "base/time_ns.h"
#include "clock/tick_clock.h"
#include "histfile/publish.h"

namespace pctally {
namespace {

/// Works for `ns` of the thread's CPU time, nearly all of it in user mode: the trap sees nothing else.
uint64_t burn_thread(uint64_t ns) { return burn(thread_cpu_ns, 500000, ns); }

/// Every pc into one counter.
class Trap : public testing::Test {
 protected:
  void SetUp() override {
    if (auto works = PerfTrap::probe(); !works) GTEST_SKIP() << explained(works).error().text;
    region_.last = region_.reach = ~uint64_t{0};
    region_.rule.cells = 1;
    region_.rule.flags = PCTALLY_BIN_ANY_PC;
    region_.cells = &count_;
    region_.kind = CellKind::kU64;
    RegionTable table{};
    table.regions = &region_;
    table.count = 1;
    table.ledger = &ledger_;
    publish(&tables_, table);
  }
  void TearDown() override {
    trap_.stop();
    withdraw(&tables_);
  }
  void start(uint64_t period_ns = 1000000, Pace pace = Pace::kRandomised) {
    auto started = trap_.start(&tables_, period_ns, pace);
    ASSERT_TRUE(started) << explained(started).error().text;
  }
  [[nodiscard]] double count() const {
    return static_cast<double>(__atomic_load_n(&count_, __ATOMIC_RELAXED));
  }

  static inline PublishedTables tables_;
  Region region_{};
  uint64_t count_ = 0;
  Ledger ledger_{};
  PerfTrap trap_;
};

/// The ticks of so much CPU time, `spread` periods more at most. Those that would fall into the kernel do
/// not come, which is a few percent on an idle machine and more where its interrupts are slow: a quarter
/// may be missing, and those of the periods that were `held`.
void expect_ticks(double ticks, double periods, double held, double spread) {
  EXPECT_LE(ticks, periods + spread);
  EXPECT_GE(ticks, 0.75 * (periods - held) - spread);
}

// The number of kept ticks of N has a standard deviation below sqrt(0.13 N); with N = 500 below 8.1. The
// bound of 50 is 6 of them.
TEST_F(Trap, OneTickPerPeriodAndNoWeights) {
  start();
  burn_thread(500'000'000);
  expect_ticks(count(), 500, 0, 50);
  EXPECT_EQ(ledger_.samples, ledger_.weight_squares);
}

TEST_F(Trap, AsGivenIsAsGiven) {
  const uint64_t begun = thread_cpu_ns();
  start(1000000, Pace::kAsGiven);
  const uint64_t held = burn_thread(500'000'000);
  const double ticks = count();
  expect_ticks(ticks, static_cast<double>(thread_cpu_ns() - begun) / 1e6, static_cast<double>(held) / 1e6,
               25);  // a virtual machine's timer may come twice
}

uint64_t thread_user_ns() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return to_ns(used.ru_utime);
}

// A machine may take most of 50 us for the tick itself, in the kernel, where none comes: the least number is
// that of user time. The kernel knows its share by 250 samples a second, of 200 ms by a seventh.
TEST_F(Trap, FiftyMicroseconds) {
  const uint64_t begun = thread_cpu_ns(), user_begun = thread_user_ns();
  start(50000);
  burn_thread(200'000'000);
  const double ticks = count();
  const auto periods = static_cast<double>(thread_cpu_ns() - begun) / 50000;
  const auto in_user_mode = static_cast<double>(thread_user_ns() - user_begun) / 50000;
  EXPECT_LE(ticks, periods + 400);
  EXPECT_GE(ticks, 0.5 * in_user_mode - 400);
}

TEST_F(Trap, ThreadsOlderThanTheStartAndYoungerOnes) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer calls handlers in threads whose own state it has not made yet, and dies";
#endif
  std::atomic<bool> go = false;
  auto work = [&] {
    while (!go) std::this_thread::yield();
    burn_thread(200'000'000);
  };
  std::thread older(work), second(work);
  start();
  go = true;
  std::thread younger(work);
  older.join();
  second.join();
  younger.join();
  expect_ticks(count(), 600, 0, 70);
}

TEST_F(Trap, NoTickAfterStopAndAgainAfterAStart) {
  start();
  burn_thread(50'000'000);
  trap_.stop();
  withdraw(&tables_);
  double before = count();
  EXPECT_GT(before, 20);
  burn_thread(50'000'000);
  EXPECT_EQ(count(), before);
}

TEST_F(Trap, StopLeavesNoDescriptor) {
  int before = dup(0);
  close(before);
  for (int i = 0; i < 20; ++i) start(), trap_.stop();
  int after = dup(0);
  EXPECT_EQ(after, before);
  EXPECT_EQ(fcntl(512, F_GETFD), -1);
  close(after);
}

TEST_F(Trap, DescriptorsTheProgramClosedAreNotClosedTwice) {
  start();
  int mine = -1;
  for (int fd = 3; fd < 1024; ++fd) {
    char path[64], target[64] = {};
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (readlink(path, target, sizeof target - 1) > 0 && strstr(target, "perf_event") != nullptr) {
      close(fd);
      mine = mine < 0 ? dup2(0, fd) : mine;
    }
  }
  ASSERT_GT(mine, 0);
  trap_.stop();
  EXPECT_NE(fcntl(mine, F_GETFD), -1);
  close(mine);
}

// perf drops what comes while one is pending: the thread lives, one tick is lost, and the account says so. (A
// drawn period keeps a share of its ticks only, of lost ones too.)
TEST_F(Trap, AThreadThatBlocksSigtrapLives) {
  start(1000000, Pace::kAsGiven);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  double open = count();
  burn_thread(50'000'000);
  EXPECT_EQ(count(), open);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(ledger_.lost, 1u);
  burn_thread(50'000'000);
  EXPECT_GT(count(), open + 20);
}

struct sigaction g_traps_handler;
std::atomic<uint64_t> g_signals, g_waited;

/// Counts the signals of perf and those among them that found SIGTRAP blocked; then the trap's
/// own handler runs.
void count_and_pass_on(int signal, siginfo_t* info, void* context) {
  constexpr int kTrapPerf = 6;  // younger than the C library's header, as are the fields behind si_addr
  struct Fields {
    unsigned long data;
    uint32_t type, flags;
  };
  const auto* fields = reinterpret_cast<const Fields*>(&info->si_addr + 1);
  if (info->si_code == kTrapPerf) ++g_signals, g_waited += fields->flags & 1;
  g_traps_handler.sa_sigaction(signal, info, context);
}

// Two profiles, every 20 and every 23 us: many ticks of one come while the handler runs for the
// other. They wait and are counted. (Those that meet one that waits already never become a signal:
// the kernel drops them.)
TEST_F(Trap, TicksThatWaitForOurOwnHandlerAreCounted) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer puts its own handler in front of a program's and delivers signals later";
#endif
  start(20000, Pace::kAsGiven);
  PerfTrap second;
  ASSERT_TRUE(second.start(&tables_, 23000, Pace::kAsGiven));
  g_signals = g_waited = 0;
  ASSERT_EQ(next_sigaction(SIGTRAP, nullptr, &g_traps_handler), 0);
  struct sigaction counting = g_traps_handler;
  counting.sa_sigaction = count_and_pass_on;
  ASSERT_EQ(next_sigaction(SIGTRAP, &counting, nullptr), 0);
  burn_thread(200'000'000);
  second.stop();
  trap_.stop();
  next_sigaction(SIGTRAP, &g_traps_handler, nullptr);
  withdraw(&tables_);
  EXPECT_GT(g_waited, 0u);
  EXPECT_GE(count(), static_cast<double>(g_signals)) << "and those before the handler that counts them";
  EXPECT_EQ(ledger_.lost, 0u);
}

TEST_F(Trap, IsNotStartedWhereSigtrapIsBlocked) {
  sigset_t trap;
  sigemptyset(&trap);
  sigaddset(&trap, SIGTRAP);
  pthread_sigmask(SIG_BLOCK, &trap, nullptr);
  auto started = trap_.start(&tables_, 1000000, Pace::kRandomised);
  pthread_sigmask(SIG_UNBLOCK, &trap, nullptr);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error(), EAGAIN);
}

int status_of(const std::function<void()>& body) {
  pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

volatile sig_atomic_t g_seen;

TEST_F(Trap, ABreakpointIsStillTheProgramsOwn) {
  int status = status_of([&] {
    signal(SIGTRAP, [](int) { g_seen = g_seen + 1; });
    PerfTrap trap;
    if (!trap.start(&tables_, 1000000, Pace::kRandomised)) _exit(1);
    raise(SIGTRAP);
#if defined(__x86_64__)
    __asm__ volatile("int3");
#else
    raise(SIGTRAP);
#endif
    burn_thread(20'000'000);
    _exit(g_seen == 2 ? 0 : 2);
  });
  EXPECT_EQ(status, 0);
}

TEST_F(Trap, ABreakpointNobodyWantsStillEndsTheProgram) {
  int status = status_of([&] {
    PerfTrap trap;
    if (!trap.start(&tables_, 1000000, Pace::kRandomised)) _exit(1);
#if defined(__x86_64__)
    __asm__ volatile("int3");
#else
    raise(SIGTRAP);
#endif
    _exit(2);
  });
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), SIGTRAP);
}

TEST_F(Trap, TheMaskOfADisplacedHandlerIsItsOwn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer puts its own handler in front of a program's, with its own mask";
#endif
  int status = status_of([&] {
    signal(SIGTRAP, [](int) {
      sigset_t now;
      pthread_sigmask(SIG_BLOCK, nullptr, &now);
      g_seen = sigismember(&now, SIGTRAP) == 1 && sigismember(&now, SIGALRM) == 0 ? 1 : 2;
    });
    PerfTrap trap;
    if (!trap.start(&tables_, 1000000, Pace::kRandomised)) _exit(3);
    raise(SIGTRAP);
    _exit(g_seen == 1 ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
}

TEST_F(Trap, ExecIsSafeAtAnyMoment) {
  for (int i = 0; i < 50; ++i) {
    int status = status_of([&] {
      PerfTrap trap;
      if (!trap.start(&tables_, 20000, Pace::kRandomised)) _exit(1);
      burn_thread(1'000'000 + static_cast<uint64_t>(i) * 7000);
      execl("/bin/true", "true", nullptr);
    });
    ASSERT_EQ(status, 0);
  }
}

/// Restarted in the child as the fork handlers do.
TEST_F(Trap, AChildThatBlocksSigtrapGetsTheTimer) {
  TickClock clock;
  ASSERT_TRUE(clock.start(&tables_, {ClockKind::kTrap, 1000000}));
  EXPECT_EQ(clock.kind(), ClockKind::kTrap);
  int open_child = status_of([&] {
    if (!clock.restart() || clock.kind() != ClockKind::kTrap) _exit(1);
    double before = count();
    burn_thread(50'000'000);
    _exit(count() - before > 20 ? 0 : 2);
  });
  EXPECT_EQ(open_child, 0);
  sigset_t all, before;
  sigfillset(&all);
  next_sigmask(SIG_SETMASK, &all, &before);
  int blocked_child = status_of([&] { _exit(clock.restart() && clock.kind() == ClockKind::kTimer ? 0 : 1); });
  next_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(blocked_child, 0);
  double parents = count();
  burn_thread(50'000'000);
  EXPECT_GT(count(), parents + 20) << "the parent's clock goes on";
  clock.stop();
}

}  // namespace
}  // namespace pctally
