#include "fault/fault_guard.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "base/next_call.h"
#include "fault/front_handler.h"
#include "tick/guarded_cell.h"
#include "tick/tick.h"

namespace pctally {
namespace {

class FaultGuard : public testing::Test {
 protected:
  void SetUp() override {
    if (!PCTALLY_GUARDED_CELLS) GTEST_SKIP() << "no guarded cells on this machine";
    ASSERT_TRUE(install_fault_guard());
    page_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  void TearDown() override { munmap(page_, bytes_); }
  template <class Cell>
  Cell* cell() {
    return static_cast<Cell*>(page_);
  }
  void protect(int protection) { mprotect(page_, bytes_, protection); }
  const size_t bytes_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* page_ = nullptr;
};

template <class Cell>
void expect_guarded(Cell* cell, const std::function<void(int)>& protect) {
  Cell value = 0;
  bool done = false;
  *cell = 5;
  EXPECT_TRUE(guarded_load(cell, &value));
  EXPECT_EQ(value, 5u);
  EXPECT_TRUE(guarded_swap(cell, &value, Cell{6}, &done));
  EXPECT_TRUE(done);
  EXPECT_EQ(*cell, 6u);
  EXPECT_TRUE(guarded_swap(cell, &value, Cell{9}, &done));
  EXPECT_FALSE(done) << "5 is no longer there";
  EXPECT_EQ(value, 6u);
  protect(PROT_READ);
  EXPECT_TRUE(guarded_load(cell, &value));
  EXPECT_FALSE(guarded_swap(cell, &value, Cell{7}, &done));
  EXPECT_FALSE(done);
  EXPECT_EQ(*cell, 6u);
  protect(PROT_NONE);
  EXPECT_FALSE(guarded_load(cell, &value));
  protect(PROT_READ | PROT_WRITE);
}

struct Reading {
  const volatile int* at;
  int before, after;
};

void read_once(void* argument) noexcept {
  auto* reading = static_cast<Reading*>(argument);
  ++reading->before;
  (void)*reading->at;
  ++reading->after;
}

/// Twice: a signal that the first fault left blocked would make the second one the end of the process.
TEST_F(FaultGuard, GuardedWorkEndsAtItsFaultAndTheMaskIsAsBefore) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP()
      << "ThreadSanitizer takes all that follows a jump out of its handler for a part of the handler";
#endif
  Reading reading{cell<int>(), 0, 0};
  EXPECT_TRUE(run_guarded(read_once, &reading));
  protect(PROT_NONE);
  sigset_t before, after;
  sigprocmask(SIG_BLOCK, nullptr, &before);
  EXPECT_FALSE(run_guarded(read_once, &reading));
  EXPECT_FALSE(run_guarded(read_once, &reading));
  sigprocmask(SIG_BLOCK, nullptr, &after);
  EXPECT_EQ(reading.before, 3);
  EXPECT_EQ(reading.after, 1);
  for (int signal = 1; signal < 64; ++signal)
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << signal;
}

TEST_F(FaultGuard, AFaultAfterGuardedWorkIsTheProgramsAgain) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer answers a fault itself";
#endif
  Reading reading{cell<int>(), 0, 0};
  EXPECT_TRUE(run_guarded(read_once, &reading));
  protect(PROT_NONE);
  EXPECT_EXIT((void)*cell<volatile int>(), testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(FaultGuard, EachWidthTellsAFault) {
  auto change = [&](int protection) { protect(protection); };
  expect_guarded(cell<uint16_t>(), change);
  expect_guarded(cell<uint32_t>(), change);
  expect_guarded(cell<uint64_t>(), change);
}

// Most machines cannot change such a cell atomically: it is left alone, and nothing around it is touched.
TEST_F(FaultGuard, ACellAcrossAWordIsAFaultButOnX86) {
  auto* bytes = cell<unsigned char>();
  auto* odd = reinterpret_cast<uint16_t*>(bytes + 7);
  uint16_t value = 0;
  bool done = false;
  bool able = guarded_load(odd, &value) && guarded_swap(odd, &value, uint16_t{0x0101}, &done);
#ifdef __x86_64__
  EXPECT_TRUE(able && done);
#else
  EXPECT_FALSE(able || done);
#endif
  for (int at = 0; at < 16; ++at) EXPECT_EQ(bytes[at], done && (at == 7 || at == 8) ? 1 : 0) << at;
}

TEST_F(FaultGuard, ATickInMemoryThatIsGoneIsLost) {
  Region region{};
  region.last = region.reach = ~uint64_t{0};
  region.rule.cells = 1;
  region.rule.flags = PCTALLY_BIN_ANY_PC;
  region.cells = page_;
  region.kind = CellKind::kU32;
  Ledger ledger{};
  uint32_t faulted[2] = {};
  RegionTable table{};
  table.regions = &region;
  table.count = 1;
  table.ledger = &ledger;
  table.faulted = faulted;
  EXPECT_EQ(tick(table, 1, 2), TickOutcome::kCounted);
  protect(PROT_READ);
  EXPECT_EQ(tick(table, 1, 3), TickOutcome::kFaulted);
  protect(PROT_READ | PROT_WRITE);
  EXPECT_EQ(tick(table, 1, 4), TickOutcome::kFaulted) << "for good";
  EXPECT_EQ(*cell<uint32_t>(), 2u);
  EXPECT_EQ(faulted[0], 1u);
  EXPECT_EQ(faulted[1], 0u);
  EXPECT_EQ(ledger.counted, 2u);
  EXPECT_EQ(ledger.lost, 7u);
}

TEST_F(FaultGuard, GetsBackInFrontOfTheDefaultAnyNumberOfTimes) {
  protect(PROT_READ);
  for (int i = 0; i < 50; ++i) {
    signal(SIGSEGV, SIG_DFL);
    ASSERT_TRUE(install_fault_guard());
    uint32_t value = 0;
    bool done = false;
    EXPECT_FALSE(guarded_swap(cell<uint32_t>(), &value, 1u, &done));
  }
}

TEST_F(FaultGuard, AStackOfHandlersThatPassOnDoesNotLoop) {
  static struct sigaction below;
  static volatile int seen;
  struct sigaction own {};
  own.sa_sigaction = [](int signal, siginfo_t* info, void* context) {
    seen = seen + 1;
    if (seen > 3) _exit(3);
    below.sa_sigaction(signal, info, context);
  };
  own.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &own, &below);
  ASSERT_TRUE(install_fault_guard());
  EXPECT_EXIT(
      {
        int* volatile nowhere = reinterpret_cast<int*>(24);
        *nowhere = 1;
      },
      [](int status) {
        // At the bottom of the stack: the default, or a sanitizer's handler, which exits with a code
        // of its own.
        return (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) ||
               (WIFEXITED(status) && WEXITSTATUS(status) != 3);
      },
      "");
}

constexpr int kStack = 3;  ///< the program's handlers: as many as the guard has levels, the guard's own first
struct sigaction g_below[kStack];
volatile int g_seen[kStack];

template <int kNumber>
void passes_on(int signal, siginfo_t* info, void* context) {
  g_seen[kNumber] = g_seen[kNumber] + 1;
  g_below[kNumber].sa_sigaction(signal, info, context);
}

constexpr void (*kPassOn[kStack])(int, siginfo_t*, void*) = {passes_on<0>, passes_on<1>, passes_on<2>};

void put_on_top(int number) {
  struct sigaction own {};
  own.sa_sigaction = kPassOn[number];
  own.sa_flags = SA_SIGINFO;
  next_sigaction(SIGSEGV, &own, &g_below[number]);
}

/// Ends the process with a code that says what went wrong.
void require(bool what, int code) {
  if (!what) _exit(code);
}

bool store_faults(void* page) {
  uint32_t value = 0;
  bool done = false;
  return !guarded_swap(static_cast<uint32_t*>(page), &value, 1u, &done);
}

/// Handler, guard, handler, guard ...: at each height a guarded store gets its fault, whoever is in front.
void climb(void* page) {
  for (int height = 0; height < kStack; ++height) {
    put_on_top(height);
    require(store_faults(page), 10 + height);  // passed on by this handler, taken by the guard below it
    require(g_seen[height] == 1, 20 + height);
    auto in_front = install_fault_guard();
    require(bool(in_front) == (height + 1 < kStack), 30 + height);
    if (!in_front) require(in_front.error() == EAGAIN, 40);
    require(store_faults(page), 50 + height);
    require(g_seen[height] == (in_front ? 1 : 2), 60 + height);
  }
}

/// The faults of the program itself meet each of its handlers once, and then the end.
void crash_through_all() {
  for (int number = 0; number < kStack; ++number) g_seen[number] = 0;
  int* volatile nowhere = reinterpret_cast<int*>(24);
  *nowhere = 1;
}

TEST_F(FaultGuard, ClimbsAllLevels) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";  // a process of its own, where no level is in use yet
  EXPECT_EXIT(
      {
        protect(PROT_READ);
        climb(page_);
        _exit(0);
      },
      testing::ExitedWithCode(0), "");
  testing::GTEST_FLAG(death_test_style) = "fast";
}

TEST_F(FaultGuard, ACrashMeetsEachHandlerOnceOnItsWayThroughAllLevels) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        protect(PROT_READ);
        climb(page_);
        struct sigaction bottom {};
        bottom.sa_sigaction = [](int, siginfo_t*, void*) {
          bool once = true;
          for (int seen : g_seen) once = once && seen == 1;
          _exit(once ? 7 : 8);
        };
        bottom.sa_flags = SA_SIGINFO;
        g_below[0] = bottom;  // where the lowest handler passes on to: the guard's first level
        crash_through_all();
      },
      testing::ExitedWithCode(7), "");
  testing::GTEST_FLAG(death_test_style) = "fast";
}

volatile sig_atomic_t g_calls = 0;

// SA_RESETHAND: a handler for one signal; the next finds the default, which ends the program.
TEST(FrontHandler, AHandlerForOneSignalIsCalledOnce) {
  pid_t child = fork();
  if (child == 0) {
    struct sigaction once {};
    once.sa_handler = [](int) { g_calls = g_calls + 1; };
    once.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGTRAP, &once, nullptr);
    Claim nothing = [](siginfo_t*, void*) { return false; };
    if (!put_in_front(SIGTRAP, nothing, WhileClaiming::kBlockAsBefore)) _exit(2);
    raise(SIGTRAP);
    if (g_calls != 1) _exit(3);
    raise(SIGTRAP);
    _exit(4);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP) << "status " << status;
}

const void* volatile g_context = nullptr;
volatile int g_code = 0;

void takes_all(int, siginfo_t* info, void* context) {
  g_code = info->si_code;
  g_context = context;
}

// The kernel passes all three, whatever the flags, and handlers older than SA_SIGINFO use them.
TEST(FrontHandler, AHandlerWithoutTheFlagGetsAllArguments) {
  struct sigaction old {
  }, before{};
  old.sa_sigaction = takes_all;
  ASSERT_EQ(sigaction(SIGTRAP, &old, &before), 0);
  Claim nothing = [](siginfo_t*, void*) { return false; };
  ASSERT_TRUE(put_in_front(SIGTRAP, nothing, WhileClaiming::kBlockAsBefore));
  raise(SIGTRAP);
  EXPECT_EQ(g_code, SI_TKILL);
  EXPECT_NE(g_context, nullptr);
  sigaction(SIGTRAP, &before, nullptr);
}

}  // namespace
}  // namespace pctally
