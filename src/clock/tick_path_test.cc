// The path that a handler takes of its own stack, beside libgcc's unwinder in the same handler.
#include "clock/tick_path.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/page.h"
#include "clock/injected_call.h"
#include "tick/context.h"

#if PCTALLY_FOLLOWS_PATHS

namespace pctally {
namespace {

constexpr uint32_t kSlots = 64;
constexpr unsigned kTicks = 400, kMost = 200;

struct Frame {
  uint64_t function, address;
};

struct Taken {
  uint64_t pc;
  PathEnd end;
  unsigned ours, theirs;
  Frame our[kMost], their[kMost];
};

std::vector<Taken> g_taken(kTicks);
volatile sig_atomic_t g_ticks;
uint64_t g_stack_end;

class OwnSlots {
 public:
  OwnSlots() : states_(kSlots), slots_(kSlots) {
    paths_.slots = {&head_, states_.data(), slots_.data(), kSlots};
    paths_.process = 1;
    paths_.find_tables = find_own_tables;
    table_.paths = &paths_;
  }
  /// In a handler.
  void take(const void* context, Taken* taken) {
    std::fill(states_.begin(), states_.end(), 0);
    OwnPath path;
    if (!open_own_path(paths_, 1, &path)) return;
    walk_own_stack(table_, {interrupted_registers(context), g_stack_end}, &path);
    taken->end = path.end;
    for (uint32_t at = path.first + 1; at != 0; at = slots_[at - 1].next)
      for (uint32_t i = 0; i < slots_[at - 1].frames && taken->ours < kMost; ++i)
        taken->our[taken->ours++] = {slots_[at - 1].frame[i].function & ~PathSlotFrame::kAddress,
                                     slots_[at - 1].frame[i].place & ~PathSlotFrame::kAddress};
  }

 private:
  PathSlotsHead head_{};
  std::vector<uint32_t> states_;
  std::vector<PathSlot> slots_;
  OwnPaths paths_;
  RegionTable table_{};
};

OwnSlots* g_slots;

/// The frames from the interrupted one on.
_Unwind_Reason_Code add_their_frame(_Unwind_Context* context, void* argument) {
  auto* taken = static_cast<Taken*>(argument);
  int is_exact = 0;
  const uint64_t address = _Unwind_GetIPInfo(context, &is_exact);
  if (taken->theirs == 0 && (is_exact == 0 || address != taken->pc)) return _URC_NO_REASON;
  if (address == 0 || taken->theirs == kMost) return _URC_END_OF_STACK;
  taken->their[taken->theirs++] = {_Unwind_GetRegionStart(context), is_exact != 0 ? address : address - 1};
  return _URC_NO_REASON;
}

void on_tick(int, siginfo_t*, void* context) {
  if (g_ticks == kTicks) return;
  Taken* taken = &g_taken[static_cast<size_t>(g_ticks)];
  taken->pc = interrupted_pc(context);
  g_slots->take(context, taken);
  _Unwind_Backtrace(add_their_frame, taken);
  g_ticks = g_ticks + 1;
}

uint64_t end_of_own_stack() {
  pthread_attr_t attributes;
  void* start = nullptr;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  pthread_attr_getstack(&attributes, &start, &bytes);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<uint64_t>(start) + bytes;
}

int compare_texts(const void* left, const void* right) {
  char a[32], b[32];
  snprintf(a, sizeof a, "%.3f", *static_cast<const double*>(left));
  snprintf(b, sizeof b, "%.3f", *static_cast<const double*>(right));
  return strtod(a, nullptr) < strtod(b, nullptr) ? -1 : 1;
}

/// Code of the C and C++ libraries that calls this program's and is called by it.
void work() {
  std::vector<double> numbers(64);
  std::map<std::string, int> words;
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i * 7919 % 64) / 3;
  qsort(numbers.data(), numbers.size(), sizeof(double), compare_texts);
  for (double number : numbers) ++words[std::to_string(number)];
  std::stable_sort(numbers.begin(), numbers.end(),
                   [](double a, double b) { return compare_texts(&a, &b) > 0; });
}

class TickPathTest : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "libgcc does not find its way out of a handler that ThreadSanitizer called";
#endif
    if (!can_find_own_tables()) GTEST_SKIP() << "glibc before 2.35";
    g_stack_end = end_of_own_stack();
    g_slots = &slots_;
    g_ticks = 0;
    std::fill(g_taken.begin(), g_taken.end(), Taken{});
    struct sigaction action {};
    action.sa_sigaction = on_tick;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    ASSERT_EQ(sigaction(SIGALRM, &action, &before_), 0);
  }
  void TearDown() override {
    set_timer(0);
    sigaction(SIGALRM, &before_, nullptr);
  }
  static void set_timer(suseconds_t microseconds) {
    const itimerval value{{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &value, nullptr);
  }

  OwnSlots slots_;
  struct sigaction before_ {};
};

/// False for a PLT on aarch64, where libgcc gives up.
bool has_table(uint64_t pc) {
  CfiSections sections;
  CfiFunction function;
  return find_own_tables(pc, &sections) && find_cfi(sections, pc, &function);
}

void expect_same(const Taken& taken) {
  ASSERT_EQ(taken.ours, taken.theirs) << std::hex << taken.pc;
  // Of a PLT, which is one function to libgcc, each stub is one to us.
  const bool in_stub =
      taken.our[0].function == (taken.pc & ~uint64_t{15}) && taken.their[0].function < taken.our[0].function;
  EXPECT_TRUE(in_stub || taken.our[0].function == taken.their[0].function) << std::hex << taken.pc;
  for (unsigned i = 1; i < taken.ours; ++i) {
    ASSERT_EQ(taken.our[i].address, taken.their[i].address) << i << " of " << taken.ours;
    ASSERT_EQ(taken.our[i].function, taken.their[i].function) << i << " of " << taken.ours;
  }
}

/// All functions are bound before the first tick: aarch64's tables of the code that binds them lead libgcc
/// to a fault.
TEST_F(TickPathTest, AgreesWithLibgccFrameByFrame) {
  unsigned complete = 0, compared = 0;
  work();
  set_timer(500);
  while (g_ticks < static_cast<int>(kTicks)) work();
  set_timer(0);
  for (const Taken& taken : g_taken) {
    if (taken.end != PathEnd::kComplete) continue;
    ++complete;
    if (!has_table(taken.pc)) continue;
    ++compared;
    expect_same(taken);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(complete, kTicks * 98 / 100);
  EXPECT_GT(compared, kReturnsInRegister ? kTicks / 2 : kTicks * 95 / 100);
}

/// A tick in a handler of the program's own: the path goes on in what the handler interrupted.
TEST_F(TickPathTest, LeavesAHandlersFrame) {
  struct sigaction action {
  }, other{};
  action.sa_handler = [](int) { raise(SIGALRM); };
  ASSERT_EQ(sigaction(SIGUSR2, &action, &other), 0);
  raise(SIGUSR2);
  sigaction(SIGUSR2, &other, nullptr);
  ASSERT_EQ(g_ticks, 1);
  EXPECT_EQ(g_taken[0].end, PathEnd::kComplete);
  EXPECT_GT(g_taken[0].ours, 5u) << "raise, the handler, the kernel's frame, raise, this test";
  const auto here = reinterpret_cast<uint64_t>(&end_of_own_stack);
  EXPECT_TRUE(std::any_of(g_taken[0].our, g_taken[0].our + g_taken[0].ours,
                          [here](const Frame& frame) { return frame.address - here < 1 << 20; }));
}

#if defined(__x86_64__)

TEST(InjectedCall, ATickAtTheStartOfGosPreemptionBelongsWhereTheGoroutineWas) {
  volatile unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x9c, 0x90};
  const auto start = reinterpret_cast<uint64_t>(code);
  Region region{};
  region.low = region.rule.origin = start;
  region.reach = region.last = start + sizeof code - 1;
  region.rule.cells = sizeof code;
  region.rule.family = PCTALLY_BIN_SHIFT;
  RegionTable table{};
  table.regions = &region;
  table.count = 1;
  const uint64_t stack[] = {0x1234, 0};
  const auto top = reinterpret_cast<uint64_t>(stack);
  const auto place_of = [&](uint64_t pc) {
    UnwindRegisters registers;
    registers.pc = pc;
    registers.stack = top;
    skip_injected_call(table, &registers);
    EXPECT_EQ(registers.stack, registers.pc == pc ? top : top + 8);
    return registers.pc;
  };
  EXPECT_EQ(place_of(start), 0x1234u);
  EXPECT_EQ(place_of(start + 1), start + 1) << "the function itself runs";
  EXPECT_EQ(place_of(16), 16u) << "no code is known there, and nothing is read";
  code[4] = 0x90;
  EXPECT_EQ(place_of(start), start) << "another function";
}

TEST(InjectedCall, NothingBehindThePageOfTheInterruptedCodeIsRead) {
  const uint64_t bytes = kSmallestPageBytes;
  auto* pages = static_cast<char*>(
      mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(munmap(pages + bytes, bytes), 0);
  Region region{};
  region.low = region.rule.origin = reinterpret_cast<uint64_t>(pages);
  region.reach = region.last = region.low + 2 * bytes - 1;
  region.rule.cells = 2 * bytes;
  region.rule.family = PCTALLY_BIN_SHIFT;
  RegionTable table{};
  table.regions = &region;
  table.count = 1;
  UnwindRegisters registers;
  registers.pc = region.low + bytes - 3;
  EXPECT_EXIT((skip_injected_call(table, &registers), _exit(registers.pc == region.low + bytes - 3 ? 0 : 1)),
              testing::ExitedWithCode(0), "");
  munmap(pages, bytes);
}

#endif

}  // namespace
}  // namespace pctally

#endif
