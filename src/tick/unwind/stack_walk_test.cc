#include "tick/unwind/stack_walk.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace pctally {
namespace {

constexpr uint64_t kStack = 0x7f0000001000;

/// Code at 0x1000 and above, with a table below 0x2000: CFA = stack pointer + 16. At 0x3000 the code has to
/// be called, which the code before 0x1200 does not do.
struct Code {
  int frames = 0;
  uint64_t address = 0;
  bool find(uint64_t at, UnwindRule* rule) {
    address = at;
    *rule =
        at < 0x2000
            ? UnwindRule{.cfa = CfaKind::kStack, .base = FrameKind::kSaved, .cfa_words = 2, .base_words = -1}
            : UnwindRule{};
    if (at == 0x3000) rule->cfa = CfaKind::kCalled;
    return at >= 0x1000;
  }
  static ReturnsTo returns_to(uint64_t) { return ReturnsTo::kCaller; }
  static bool reads_as(uint64_t, const unsigned char (&)[kTrampolineBytes]) { return false; }
  static bool find_by_code(uint64_t, UnwindRule*) { return false; }
  static bool calls_inner(uint64_t address) { return address != 0x1200; }
  bool add() { return ++frames != 0; }
};

struct Stack {
  std::vector<uint64_t> words;
  bool operator()(uint64_t address, uint64_t* value, PathEnd* why) const {
    *why = PathEnd::kUnreadable;
    const uint64_t number = (address - kStack) / 8;
    if (address < kStack || number >= words.size()) return false;
    *value = words[number];
    return true;
  }
  static void go_on_at(uint64_t) {}
};

TEST(StackWalk, AZeroThatATableLedToIsTheEndOfTheStack) {
  Code code;
  EXPECT_EQ(walk_stack({.pc = 0x1100, .stack = kStack}, code, Stack{{7, 0}}), PathEnd::kComplete);
  EXPECT_EQ(code.frames, 1);
}

#if !defined(__aarch64__)  // where no frame pointer is followed

TEST(StackWalk, OnlyACallOfItProvesTheCallerOfWhatAChildMayBeIn) {
  for (const auto& [words, frames, end] : std::vector<std::tuple<std::vector<uint64_t>, int, PathEnd>>{
           {{0x1100, 7, 0}, 2, PathEnd::kComplete},
           {{0x1200, 7, 0}, 1, PathEnd::kNoUnwindTable},  // another function is called there
           {{0x10, 7, 0}, 1, PathEnd::kNoUnwindTable},    // no code
           {{0}, 1, PathEnd::kNoUnwindTable},
           {{}, 1, PathEnd::kNoUnwindTable}}) {
    Code code;
    EXPECT_EQ(walk_stack({.pc = 0x3000, .stack = kStack}, code, Stack{words}), end);
    EXPECT_EQ(code.frames, frames);
  }
}

/// Code without a table may use the register for anything: as a pointer into its own zeroed memory.
TEST(StackWalk, AZeroThatAFramePointerLedToIsNoEnd) {
  Code code;
  const UnwindRegisters registers{.pc = 0x2100, .stack = kStack, .frame = kStack + 8};
  EXPECT_EQ(walk_stack(registers, code, Stack{{7, 0, 0, 0x1100}}), PathEnd::kNoUnwindTable);
  EXPECT_EQ(code.frames, 1);
}

TEST(StackWalk, AFramePointerIsFollowedToCodeWithATable) {
  Code code;
  const UnwindRegisters registers{.pc = 0x2100, .stack = kStack, .frame = kStack};
  EXPECT_EQ(walk_stack(registers, code, Stack{{5, 0x1100, 7, 0}}), PathEnd::kComplete);
  EXPECT_EQ(code.frames, 2);
}

#endif

}  // namespace
}  // namespace pctally
