// The way of glibc's clone and clone3 back to their caller on x86-64, which its unwind table leaves out: the
// child comes by there as well, and it has no caller.
//
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

}  // namespace pctally
