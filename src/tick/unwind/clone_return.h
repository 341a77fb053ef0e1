// The way of clone and clone3 back to their caller. The child comes by there as well, and it has no caller.
//
// On aarch64 the parent and the child have the return address in x30, and the table says so of both. x0 tells
// them apart: it is 0 in the child.
//
// On x86-64 the unwind table of glibc leaves that way out.
// The entry of the function ends at its system call, and one for the child begins where the two part. The ten
// bytes in between do not change the stack pointer, so the parent's return address is the word there. Whether
// a tick was the parent's is not known: its caller is proved by a direct call of the function.
#pragma once
#include "tick/unwind/cfi.h"

namespace pctally {

inline constexpr unsigned kCloneReturnBytes = 10;

/// syscall; test %rax,%rax; jl to where the error is set; je to the child's code, behind; ret.
inline bool is_clone_return(const unsigned char (&bytes)[kCloneReturnBytes]) noexcept {
  constexpr unsigned char kCode[kCloneReturnBytes] = {0x0f, 0x05, 0x48, 0x85, 0xc0,
                                                      0x7c, 0,    0x74, 0x01, 0xc3};
  constexpr unsigned kDistance = 6;  // of the jump
  for (unsigned i = 0; i < kCloneReturnBytes; ++i)
    if (i != kDistance && bytes[i] != kCode[i]) return false;
  return true;
}

/// True if `address` lies there; then *found is the code from the start of the function to the child's.
/// `read(address, bytes)` reads kCloneReturnBytes of code; false if it cannot.
template <class Read>
bool find_clone_return(const CfiSections& sections, uint64_t address, CfiFunction* found,
                       Read&& read) noexcept {
  uint64_t start = 0, end = 0;
  unsigned char bytes[kCloneReturnBytes];
  if (kReturnsInRegister || !find_gap(sections, address, &start, &end) || end - start != kCloneReturnBytes ||
      !read(start, bytes) || !is_clone_return(bytes))
    return false;
  const UnwindRule entered{.cfa = CfaKind::kStack, .cfa_words = 1};
  CfiFunction parent, child;
  if (!find_cfi(sections, end, &child) || child.start != end || child.rule.cfa != CfaKind::kEnd) return false;
  if (!find_cfi(sections, start - 1, &parent) || !(parent.rule == entered)) return false;
  *found = {parent.start, end, {.cfa = CfaKind::kCalled}};
  return true;
}

inline constexpr unsigned kCloneWords = 6;  ///< instructions up to the one at a place, by which it is known

/// aarch64: is the last one on that way? mov x8, the number of clone or clone3; svc #0; cmp x0, #0; then the
/// jumps to the child's code and to where the error is set, and ret.
inline bool is_clone_return(const uint32_t (&words)[kCloneWords]) noexcept {
  constexpr uint32_t kClone = 0xd2801b88, kClone3 = 0xd2803668, kCall = 0xd4000001, kCompare = 0xf100001f;
  for (unsigned call = 1; call + 1 < kCloneWords; ++call) {
    const uint32_t before = words[call - 1];
    if (words[call] == kCall && (before == kClone || before == kClone3) && words[call + 1] == kCompare)
      return true;
  }
  return false;
}

/// aarch64: the rule at `address`, where the table has `found`. `read(address, words)` reads kCloneWords
/// instructions, the last at `address`; false if it cannot.
template <class Read>
UnwindRule rule_behind_clone(const UnwindRule& found, uint64_t address, Read&& read) noexcept {
  constexpr UnwindRule kOfParent{.cfa = CfaKind::kParent};
  uint32_t words[kCloneWords];
  const bool may_be = kReturnsInRegister && found == kFramelessRule && (address & 3) == 0;
  return may_be && read(address, words) && is_clone_return(words) ? kOfParent : found;
}

}  // namespace pctally
