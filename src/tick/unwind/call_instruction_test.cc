#include "tick/unwind/call_instruction.h"

#include <gtest/gtest.h>
#include <string.h>

#include <algorithm>
#include <vector>

namespace pctally {
namespace {

/// `code` at the end of the bytes; what is before it is no call of any length.
bool is_call(const std::vector<unsigned char>& code) {
  unsigned char bytes[kLongestCall];
  std::fill(std::begin(bytes), std::end(bytes), 0x90);
  std::copy(code.begin(), code.end(), std::end(bytes) - static_cast<ptrdiff_t>(code.size()));
  return ends_in_call(bytes);
}

#if defined(__aarch64__)

/// The instruction as it lies in memory.
std::vector<unsigned char> word(uint32_t instruction) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&instruction);
  return {bytes, bytes + sizeof instruction};
}

TEST(CallInstruction, EveryFormOfACall) {
  EXPECT_TRUE(is_call(word(0x94000010))) << "bl";
  EXPECT_TRUE(is_call(word(0x97fffff0))) << "bl back";
  EXPECT_TRUE(is_call(word(0xd63f0060))) << "blr x3";
  EXPECT_TRUE(is_call(word(0xd63f0860 | 0x1f))) << "blraaz x3";
  EXPECT_TRUE(is_call(word(0xd73f0862))) << "blraa x3, x2";
}

TEST(CallInstruction, NothingElse) {
  EXPECT_FALSE(is_call(word(0x14000010))) << "b";
  EXPECT_FALSE(is_call(word(0xd61f0220))) << "br x17";
  EXPECT_FALSE(is_call(word(0xd65f03c0))) << "ret";
  EXPECT_FALSE(is_call(word(0xd503201f))) << "nop";
}

/// runtime.goexit of Go 1.19.
TEST(CallInstruction, WhereAGoroutineEnds) {
  const auto is_end = [](uint32_t before, uint32_t behind) {
    unsigned char bytes[kGoroutineEndBytes];
    memcpy(bytes, &before, sizeof before);
    memcpy(bytes + sizeof before, &behind, sizeof behind);
    return is_goroutine_end(bytes);
  };
  EXPECT_TRUE(is_end(0xaa0003e0, 0x94000613));
  EXPECT_FALSE(is_end(0xd65f03c0, 0x94000613)) << "the start of a function";
  EXPECT_FALSE(is_end(0xaa0003e0, 0x14000613)) << "a jump";
}

#else

#if defined(__x86_64__)
TEST(CallInstruction, ADirectCallLeadsToOneFunction) {
  const unsigned char call[kLongestCall] = {0x90, 0x90, 0x90, 0xe8, 0xf0, 0xff, 0xff, 0xff};
  EXPECT_TRUE(ends_in_call_of(call, 0x1010, 0x1000));
  EXPECT_FALSE(ends_in_call_of(call, 0x1010, 0x1001));
  const unsigned char jump[kLongestCall] = {0x90, 0x90, 0x90, 0xe9, 0xf0, 0xff, 0xff, 0xff};
  EXPECT_FALSE(ends_in_call_of(jump, 0x1010, 0x1000));
}
#endif

TEST(CallInstruction, EveryFormOfANearCall) {
  EXPECT_TRUE(is_call({0xe8, 1, 2, 3, 4})) << "call rel32";
  EXPECT_TRUE(is_call({0xff, 0xd0})) << "call *%rax";
  EXPECT_TRUE(is_call({0x41, 0xff, 0xd4})) << "call *%r12";
  EXPECT_TRUE(is_call({0xff, 0x15, 1, 2, 3, 4})) << "call *0x...(%rip)";
  EXPECT_TRUE(is_call({0xff, 0x50, 0x18})) << "call *0x18(%rax)";
  EXPECT_TRUE(is_call({0xff, 0x90, 1, 2, 0, 0})) << "call *0x201(%rax)";
  EXPECT_TRUE(is_call({0xff, 0x14, 0xc8})) << "call *(%rax,%rcx,8)";
  EXPECT_TRUE(is_call({0xff, 0x54, 0xc8, 0x10})) << "call *0x10(%rax,%rcx,8)";
  EXPECT_TRUE(is_call({0xff, 0x14, 0xc5, 1, 2, 3, 4})) << "call *0x...(,%rax,8)";
  EXPECT_TRUE(is_call({0xff, 0x94, 0xc8, 1, 2, 3, 4})) << "call *0x...(%rax,%rcx,8)";
}

/// The compiler refuses it where bytes behind the last one are read.
constexpr unsigned char kCutCall[kLongestCall] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x14};
static_assert(!ends_in_call(kCutCall), "its second operand byte is missing");

TEST(CallInstruction, NothingElse) {
  EXPECT_FALSE(is_call({0xe9, 1, 2, 3, 4})) << "jmp rel32";
  EXPECT_FALSE(is_call({0xff, 0xe0})) << "jmp *%rax";
  EXPECT_FALSE(is_call({0xff, 0x25, 1, 2, 3, 4})) << "jmp *0x...(%rip)";
  EXPECT_FALSE(is_call({0xff, 0xc0})) << "inc %eax";
  EXPECT_FALSE(is_call({0x48, 0x89, 0xe5})) << "mov %rsp,%rbp";
  EXPECT_FALSE(is_call({}));
}

/// runtime.goexit of Go 1.19 to 1.25.
TEST(CallInstruction, WhereAGoroutineEnds) {
  EXPECT_TRUE(is_goroutine_end({0x90, 0xe8, 0x1a, 0x25, 0, 0, 0x90}));
  EXPECT_FALSE(is_goroutine_end({0xcc, 0xe8, 0x1a, 0x25, 0, 0, 0x90})) << "the start of a function";
  EXPECT_FALSE(is_goroutine_end({0x90, 0xe9, 0x1a, 0x25, 0, 0, 0x90})) << "a jump";
  EXPECT_FALSE(is_goroutine_end({0x90, 0xe8, 0x1a, 0x25, 0, 0, 0xc3})) << "a function that calls and returns";
}

#endif

}  // namespace
}  // namespace pctally
