#include "tick/unwind/unwind_rule.h"

#include <gtest/gtest.h>
#include <sys/auxv.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "tick/unwind/clone_return.h"
#include "tick/unwind/frameless.h"
#include "tick/unwind/plt_stub.h"

namespace pctally {
namespace {

/// A stack of words with the numbers 1000, 1001, ...; what lies elsewhere cannot be read.
class UnwindStepTest : public testing::Test {
 protected:
  static constexpr uint64_t kStack = 0x7f0000001000;

  StepResult step(const UnwindRule& rule, bool whole) {
    auto read = [](uint64_t address, uint64_t* value, PathEnd* why) {
      *why = PathEnd::kUnreadable;
      *value = 1000 + (address - kStack) / 8;
      return address >= kStack && address < kStack + 512;
    };
    return unwind_step(rule, whole, &registers_, read, &why_);
  }

  UnwindRegisters registers_{.pc = 1, .stack = kStack, .frame = kStack + 80, .base = 2, .scratch = kStack};
  PathEnd why_ = PathEnd::kComplete;
};

#if defined(__aarch64__)

TEST_F(UnwindStepTest, AFunctionThatCallsNoneReturnsToTheLinkRegister) {
  const UnwindRule leaf{.cfa = CfaKind::kStack};
  EXPECT_EQ(step(leaf, true), StepResult::kCaller);
  EXPECT_EQ(registers_.pc, 2u);
  EXPECT_EQ(registers_.stack, kStack);
}

TEST_F(UnwindStepTest, NobodysLinkRegisterOutlivesACall) {
  const UnwindRule leaf{.cfa = CfaKind::kStack, .cfa_words = 2};
  EXPECT_EQ(step(leaf, false), StepResult::kCut);
  EXPECT_EQ(why_, PathEnd::kDoubtful);
}

TEST_F(UnwindStepTest, ASavedLinkRegisterIsTheReturnAddressWithoutItsSignature) {
  if ((getauxval(AT_HWCAP) & HWCAP_PACA) == 0) GTEST_SKIP() << "this machine signs no addresses";
  registers_.base = 0x0050000000000005;
  EXPECT_EQ(step({.cfa = CfaKind::kStack, .cfa_words = 4}, true), StepResult::kCaller);
  EXPECT_EQ(registers_.pc, 5u);
  registers_.stack = kStack;
  EXPECT_EQ(
      step({.cfa = CfaKind::kStack, .base = FrameKind::kSaved, .cfa_words = 4, .base_words = -3}, false),
      StepResult::kCaller);
  EXPECT_EQ(registers_.pc, 1001u);
  EXPECT_EQ(registers_.stack, kStack + 32);
}

TEST_F(UnwindStepTest, ALostLinkRegisterIsNotGuessed) {
  EXPECT_EQ(step({.cfa = CfaKind::kStack, .base = FrameKind::kUnsupported, .cfa_words = 4}, true),
            StepResult::kCut);
  EXPECT_EQ(why_, PathEnd::kUnsupported);
}

/// glibc, sysdeps/aarch64/dl-trampoline.S: x30 lies at the CFA + 8, where the PLT has pushed it.
TEST_F(UnwindStepTest, LazyBindingReturnsBelowWhatThePltHasPushed) {
  EXPECT_EQ(
      step({.cfa = CfaKind::kStack, .base = FrameKind::kSaved, .cfa_words = 26, .base_words = 1}, false),
      StepResult::kCaller);
  EXPECT_EQ(registers_.pc, 1027u);
  EXPECT_EQ(registers_.stack, kStack + (26 + 2) * 8);
}

TEST(PltStub, IsKnownAtEachOfItsInstructions) {
  //                      before the entry      stp x16,x30 adrp        ldr         add         br nop
  const uint32_t code[] = {0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f, 0xa9bf7bf0, 0xd0000570, 0xf947fe11,
                           0x913fe210, 0xd61f0220, 0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f, 0xd0000570,
                           0xf947fe11, 0x913fe210, 0xd61f0220, 0xd503201f, 0xd503201f, 0xd503201f};
  for (unsigned at = kPltBefore; at + kPltWords - kPltBefore < std::size(code); ++at) {
    uint32_t words[kPltWords];
    std::copy_n(code + at - kPltBefore, kPltWords, words);
    UnwindRule rule;
    const bool pushed = at >= 5 && at < 9, inside = at == 4 || (at >= 13 && at < 17);
    EXPECT_EQ(find_plt_rule(words, &rule), pushed || inside) << at;
    EXPECT_EQ(rule.cfa, pushed || inside ? CfaKind::kStack : CfaKind::kNone);
    EXPECT_EQ(rule.cfa_words, pushed ? 2 : 0) << at;
  }
}

/// An entry of 16 bytes, and where in it the rule holds, one bit a byte.
struct KnownEntry {
  std::vector<unsigned char> code;
  unsigned places;
};

TEST(PltStub, WithoutATableIsKnownByAllOfItsBytes) {
  if (kReturnsInRegister) GTEST_SKIP() << "of x86-64";
  const KnownEntry entries[] = {
      {{0xff, 0x25, 0x8a, 0x22, 0, 0, 0x68, 2, 0, 0, 0, 0xe9, 0xd0, 0xff, 0xff, 0xff}, 1},  // lld's
      {{0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 1, 2, 0, 0, 0x66, 0x0f, 0x1f, 0x44, 0, 0}, 1 | 1 << 4},
      {{0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 1, 2, 0, 0, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc}, 1 | 1 << 4},
      {{0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0xbb, 3, 0, 0, 0, 0xff, 0x25, 1, 2, 0, 0}, 1 | 1 << 4 | 1 << 10},
      // A function that goes where a variable says: its stack may be anything.
      {{0x55, 0x48, 0x89, 0xe5, 0xff, 0x25, 1, 2, 0, 0, 0x66, 0x0f, 0x1f, 0x44, 0, 0}, 0},
      {{0xff, 0x25, 0x8a, 0x22, 0, 0, 0x48, 0xff, 0xc0, 0xff, 0x25, 0xe9, 0xd0, 0xff, 0xff, 0xff}, 0},
      {{0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 1, 2, 0, 0, 0x48, 0xff, 0xc0, 0x5d, 0xc3, 0x90}, 0},
      {{0xff, 0xe0, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}, 0},
  };
  constexpr uint64_t kStart = 4096;
  for (const KnownEntry& entry : entries)
    for (unsigned place = 0; place < kEntryBytes; ++place) {
      UnwindRule rule;
      const auto read = [&entry](uint64_t from, unsigned bytes, unsigned char* to) {
        std::copy_n(entry.code.begin() + static_cast<long>(from - kStart), bytes, to);
        return true;
      };
      const bool is_known = (entry.places >> place & 1) != 0;
      EXPECT_EQ(find_rule_by_code(kStart + place, &rule, read), is_known) << place;
      EXPECT_EQ(rule.cfa, is_known ? CfaKind::kStack : CfaKind::kNone);
      EXPECT_EQ(rule.cfa_words, is_known ? 1 : 0);
    }
}

TEST_F(UnwindStepTest, BehindCloneTheParentAloneHasACaller) {
  const uint32_t glibc[] = {0,          0,          0,          0,          0,          0xd2801b88,
                            0xd4000001, 0xf100001f, 0x540000a0, 0x5400004b, 0xd65f03c0, 0x17fcee66};
  const uint32_t fork[] = {0, 0, 0, 0, 0, 0xd2801b88, 0xd4000001, 0xb140041f, 0x54000148, 0x2a0003e2, 0, 0};
  for (const auto* code : {glibc, fork})
    for (unsigned at = kCloneWords - 1; at < std::size(glibc); ++at) {
      const auto read = [&](uint64_t, uint32_t(&words)[kCloneWords]) {
        std::copy_n(code + at + 1 - kCloneWords, kCloneWords, words);
        return true;
      };
      const UnwindRule rule = rule_behind_clone({.cfa = CfaKind::kStack}, 4096, read);
      EXPECT_EQ(rule.cfa == CfaKind::kParent, code != fork && at >= 7 && at <= 10) << at;
    }
  registers_.scratch = 0;
  EXPECT_EQ(step({.cfa = CfaKind::kParent}, true), StepResult::kCut);
  EXPECT_EQ(why_, PathEnd::kNoUnwindTable);
  registers_.scratch = 4711;
  EXPECT_EQ(step({.cfa = CfaKind::kParent}, true), StepResult::kCaller);
  EXPECT_EQ(registers_.pc, registers_.base);
}

TEST(KnownCode, WhatLeavesASignalHandlerIsKnownAtBothInstructions) {
  const uint32_t code[] = {0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f, 0xd2801168, 0xd4000001,
                           0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f};
  for (unsigned at = kPltBefore; at + kPltWords - kPltBefore <= std::size(code); ++at) {
    uint32_t words[kPltWords];
    std::copy_n(code + at - kPltBefore, kPltWords, words);
    UnwindRule rule;
    const bool leaves = at == 5 || at == 6;
    EXPECT_EQ(find_rule_by_code(words, &rule), leaves) << at;
    EXPECT_EQ(rule.cfa, leaves ? CfaKind::kSignal : CfaKind::kNone) << at;
  }
}

TEST(Frameless, InstructionsThatMayChangeTheStackPointerOrTheLinkAreFound) {
  const uint32_t changes[] = {0xa9bf7bfd, 0xd10043ff, 0x910043ff, 0x94000001, 0xd63f0000, 0xf81f0ffe,
                              0xf8410ffd, 0xa8c17bfd, 0x910003fe, 0xf94007fe, 0x8b2063ff, 0x927cec1f,
                              0xd5300d1e, 0xd63f081f, 0xf81f0fe0, 0xaa0003fe};
  const uint32_t harmless[] = {0xd503233f,          0xd50323bf, 0xd65f03c0, 0x910003e0,
                               0xf94007e0,          0xa94007e0, 0x54000040, 0x1400001e,
                               0xd53be05e & ~0x1fu, 0xf100003f, 0xea1f001f, 0xb400003e};
  for (const uint32_t word : changes) EXPECT_TRUE(may_change_frame(word)) << std::hex << word;
  for (const uint32_t word : harmless) EXPECT_FALSE(may_change_frame(word)) << std::hex << word;
}

TEST_F(UnwindStepTest, AFramePointerDoesNotSayWhereTheCallersStackIs) {
  EXPECT_EQ(step_by_frame_pointer(&registers_, [](uint64_t, uint64_t*, PathEnd*) { return true; }),
            StepResult::kCut);
}

#else

TEST_F(UnwindStepTest, TheReturnAddressLiesBelowTheCfa) {
  EXPECT_EQ(step({.cfa = CfaKind::kStack, .cfa_words = 4}, true), StepResult::kCaller);
  EXPECT_EQ(registers_.pc, 1003u);
  EXPECT_EQ(registers_.stack, kStack + 32);
  EXPECT_EQ(registers_.base, 2u);
}

/// One entry of the table covers the whole section.
uint64_t start_in(const unsigned char* code, uint64_t bytes, const UnwindRule& rule, uint64_t address) {
  return function_start({0, bytes, rule}, address, [&](uint64_t from, unsigned char(&into)[kStubBytes]) {
    std::copy_n(code + from, kStubBytes, into);
    return true;
  });
}

/// Behind a call it may have the value of another function.
TEST_F(UnwindStepTest, AScratchRegisterIsOfTheInnermostFrameAlone) {
  const UnwindRule rule{.cfa = CfaKind::kScratch, .cfa_words = 4};
  EXPECT_EQ(step(rule, false), StepResult::kCut);
  EXPECT_EQ(why_, PathEnd::kUnsupported);
  EXPECT_EQ(step(rule, true), StepResult::kCaller);
  EXPECT_EQ(registers_.pc, 1003u);
}

TEST_F(UnwindStepTest, ALostRegisterIsNotTheCallees) {
  EXPECT_EQ(step({.cfa = CfaKind::kStack, .frame = FrameKind::kUndefined, .cfa_words = 2}, true),
            StepResult::kCaller);
  EXPECT_EQ(registers_.frame, 0u);
}

TEST_F(UnwindStepTest, AFramePointerIsTheAddressOfAWordOfTheStack) {
  const auto read = [](uint64_t address, uint64_t* value, PathEnd*) {
    *value = 1000 + (address - kStack) / 8;
    return true;
  };
  const UnwindRegisters before = registers_;
  for (const uint64_t frame : {kStack + 84, kStack - 8, kStack + (1 << 20)}) {
    registers_.frame = frame;
    EXPECT_EQ(step_by_frame_pointer(&registers_, read), StepResult::kCut);
  }
  registers_ = before;
  EXPECT_EQ(step_by_frame_pointer(&registers_, read), StepResult::kCaller);
  EXPECT_EQ(registers_.pc, 1011u);
  EXPECT_EQ(registers_.frame, 1010u);
  EXPECT_EQ(registers_.stack, before.frame + 16);
  EXPECT_EQ(registers_.base, before.base);
}

TEST(PltStub, IsAFunctionOfItsOwn) {
  const UnwindRule plain{.cfa = CfaKind::kStack, .cfa_words = 1};
  const unsigned char sec[] = {
      0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 1,    0, 0, 0, 0x66, 0x0f, 0x1f, 0x44, 0, 0,  //
      0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 1,    0, 0, 0, 0x66, 0x0f, 0x1f, 0x44, 0, 0,  //
      0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 1, 0, 0, 0,    0x0f, 0x1f, 0x44, 0, 0};
  for (const uint64_t stub : {0, 16, 32})
    for (const uint64_t instruction : {0, 4}) EXPECT_EQ(start_in(sec, 48, plain, stub + instruction), stub);
  const unsigned char got[] = {0xff, 0x25, 1, 0, 0, 0, 0x66, 0x90, 0xff, 0x25, 1, 0, 0, 0, 0x66, 0x90};
  for (const uint64_t stub : {0, 8}) EXPECT_EQ(start_in(got, 16, plain, stub), stub);
  const UnwindRule lazy{.cfa = CfaKind::kPlt, .cfa_words = 11};
  for (const uint64_t place : {32, 38, 43}) EXPECT_EQ(start_in(sec, 48, lazy, place), 32u);
  const unsigned char function[32] = {0x90};
  EXPECT_EQ(start_in(function, 32, plain, 16), 0u);
  EXPECT_EQ(start_in(sec, 48, {.cfa = CfaKind::kStack, .cfa_words = 2}, 20), 0u) << "it has pushed something";
}

/// glibc's vfork: the word has been popped before the system call, and the child overwrites it.
TEST_F(UnwindStepTest, TheReturnAddressMayBeInARegisterOfTheInnermostFrame) {
  registers_.link = 77;
  const UnwindRule popped{.cfa = CfaKind::kLink};
  EXPECT_EQ(step(popped, true), StepResult::kCaller);
  EXPECT_EQ(registers_.pc, 77u);
  EXPECT_EQ(registers_.stack, kStack);
  EXPECT_EQ(registers_.frame, kStack + 80);
  EXPECT_EQ(registers_.link, 0u) << "it is nobody's any more";
  EXPECT_EQ(step(popped, true), StepResult::kCut);
  EXPECT_EQ(why_, PathEnd::kUnsupported);
  registers_.link = 77;
  EXPECT_EQ(step(popped, false), StepResult::kCut);
}

TEST_F(UnwindStepTest, WhatHasToBeCalledIsInnermost) {
  EXPECT_EQ(step({.cfa = CfaKind::kCalled}, false), StepResult::kCut);
  EXPECT_EQ(step({.cfa = CfaKind::kCalled}, true), StepResult::kCaller);
  EXPECT_EQ(registers_.pc, 1000u);
  EXPECT_EQ(registers_.stack, kStack + 8);
}

TEST_F(UnwindStepTest, NeverStaysWhereItIs) {
  EXPECT_EQ(step({.cfa = CfaKind::kStack}, true), StepResult::kCut);
  EXPECT_EQ(why_, PathEnd::kDoubtful);
}

#endif

/// A function with more than 256 KiB of locals.
TEST_F(UnwindStepTest, TheCallerMayBeFarUpTheStack) {
  for (const int32_t words : {0x7fff, 0x8000, 38402, 0x10000, 0x1000000, -1, -0x8001}) {
    UnwindRule rule{.cfa = CfaKind::kStack, .base = FrameKind::kSaved, .base_words = -1};
    rule.set_far_words(words);
    EXPECT_EQ(rule.far_words(), words);
    registers_.stack = kStack + 64 - 8 * static_cast<uint64_t>(int64_t{words});
    const StepResult result = step(rule, true);
    if (words < 0) {
      EXPECT_EQ(result, StepResult::kCut);
      continue;
    }
    EXPECT_EQ(result, StepResult::kCaller);
    EXPECT_EQ(registers_.stack, kStack + 64);
    EXPECT_EQ(registers_.pc, 1007u);
  }
}

TEST_F(UnwindStepTest, NeverGoesDownTheStack) {
  EXPECT_EQ(step({.cfa = CfaKind::kStack,
                  .base = FrameKind::kSaved,
                  .cfa_words = -1,
                  .add_words = -1,
                  .base_words = -1},
                 true),
            StepResult::kCut);
  EXPECT_EQ(why_, PathEnd::kDoubtful);
}

}  // namespace
}  // namespace pctally
