// Entries of a procedure linkage table (PLT), known by their instructions.
//
// On aarch64 linkers describe them in no unwind table: adrp x16; ldr x17, [x16, #]; add x16, x16, #; br x17.
// The first entry, by which functions are bound, pushes x16 and x30 before. On x86-64 one entry of the unwind
// table covers all of a section .plt, .plt.sec or .plt.got: where a stub of it begins follows from
// CfaKind::kPlt, or from its jump. There lld and mold describe them in no table.
#pragma once
#include "tick/unwind/cfi.h"
#include "tick/unwind/stack_walk.h"

namespace pctally {

inline constexpr unsigned kPltBefore = 4;  ///< instructions before a place, by which an entry is known,
inline constexpr unsigned kPltWords = 9;   ///< and all of them

/// The rule at words[kPltBefore], if that lies in an entry and changes nothing that a path needs.
inline bool find_plt_rule(const uint32_t (&words)[kPltWords], UnwindRule* rule) noexcept {
  constexpr uint32_t kMask[] = {0x9f00001f, 0xffc003ff, 0xff8003ff, 0xffffffff};
  constexpr uint32_t kEntry[] = {0x90000010, 0xf9400211, 0x91000210, 0xd61f0220};
  constexpr uint32_t kPush = 0xa9bf7bf0;  // stp x16, x30, [sp, #-16]!
  constexpr uint32_t kMark = 0xd503245f;  // bti c
  const auto is_entry = [&](const uint32_t* entry) {
    unsigned same = 0;
    while (same < 4 && (entry[same] & kMask[same]) == kEntry[same]) ++same;
    return same == 4;
  };
  *rule = {.cfa = CfaKind::kStack};
  const bool is_before = words[kPltBefore] == kPush || words[kPltBefore] == kMark;
  if (is_before && is_entry(words + kPltBefore + 1)) return true;
  for (unsigned place = 0; place < 4; ++place) {
    const uint32_t* entry = words + kPltBefore - place;
    if (!is_entry(entry)) continue;
    *rule = {.cfa = CfaKind::kStack, .cfa_words = static_cast<int16_t>(entry[-1] == kPush ? 2 : 0)};
    return true;
  }
  *rule = {};
  return false;
}

/// The rule at words[kPltBefore], if that lies in an entry of a PLT or leaves a signal handler (kTrampoline).
inline bool find_rule_by_code(const uint32_t (&words)[kPltWords], UnwindRule* rule) noexcept {
  const bool leaves_handler = __builtin_memcmp(words + kPltBefore, kTrampoline, sizeof kTrampoline) == 0 ||
                              __builtin_memcmp(words + kPltBefore - 1, kTrampoline, sizeof kTrampoline) == 0;
  if (!leaves_handler) return find_plt_rule(words, rule);
  *rule = kTrampolineRule;
  return true;
}

/// Where a jump through a pointer may lead: endbr64, of kMarkBytes.
inline bool is_mark(const unsigned char* at) noexcept {
  return at[0] == 0xf3 && at[1] == 0x0f && at[2] == 0x1e && at[3] == 0xfa;
}
inline constexpr unsigned kMarkBytes = 4;

inline constexpr unsigned kEntryBytes = 16;  ///< of an entry, on x86-64, which begins at a multiple of that

/// x86-64: true if the code there is an entry of lld's or mold's, and `place` before or at its jump to the
/// function: the stack is as the caller left it. All of an entry is compared: a jump through a variable may
/// be anything else.
///   lld      jmp *slot(%rip); push $number; jmp to the first entry
///   -z ibtplt, and mold's .plt.got    endbr64; jmp *slot(%rip); nopw or int3
///   mold     endbr64; mov $number,%r11d; jmp *slot(%rip)
inline bool is_stub(const unsigned char (&code)[kEntryBytes], unsigned place) noexcept {
  constexpr unsigned char kNop[] = {0x66, 0x0f, 0x1f, 0x44, 0, 0};
  const auto jumps = [&code](unsigned at) { return code[at] == 0xff && code[at + 1] == 0x25; };
  const bool is_marked = is_mark(code);
  if (place == 0 && jumps(0) && code[6] == 0x68 && code[11] == 0xe9) return true;
  if (is_marked && jumps(10) && code[4] == 0x41 && code[5] == 0xbb)
    return place == 0 || place == 4 || place == 10;
  const bool is_filled =
      __builtin_memcmp(code + 10, kNop, sizeof kNop) == 0 || (code[10] == 0xcc && code[15] == 0xcc);
  return is_marked && jumps(4) && is_filled && (place == 0 || place == 4);
}

/// The rule at `address`, in code without tables, if that lies in an entry of a PLT or leaves a signal
/// handler. `read(address, bytes, to)` reads code; false if it cannot.
template <class Read>
bool find_rule_by_code(uint64_t address, UnwindRule* rule, Read&& read) noexcept {
  if constexpr (kReturnsInRegister) {
    constexpr uint64_t kBefore = kPltBefore * sizeof(uint32_t);
    uint32_t words[kPltWords];
    return address >= kBefore && address % sizeof *words == 0 &&
           read(address - kBefore, sizeof words, reinterpret_cast<unsigned char*>(words)) &&
           find_rule_by_code(words, rule);
  } else {
    unsigned char code[kEntryBytes];
    const unsigned place = address % kEntryBytes;
    if (!read(address - place, sizeof code, code) || !is_stub(code, place)) return false;
    *rule = {.cfa = CfaKind::kStack, .cfa_words = 1};
    return true;
  }
}

inline constexpr unsigned kStubBefore = 4;  ///< bytes before a place, by which a stub is known,
inline constexpr unsigned kStubBytes = 11;  ///< and all of them

/// True if the code at bytes[kStubBefore] is a stub of .plt.sec or .plt.got on x86-64: jmp *offset(%rip),
/// with or without an endbr64 and a prefix. *before: bytes from its start.
inline bool find_jump_stub(const unsigned char (&bytes)[kStubBytes], unsigned* before) noexcept {
  const auto is_jump = [](const unsigned char* at) {
    return at[at[0] == 0xf2] == 0xff && at[1 + (at[0] == 0xf2)] == 0x25;
  };
  const unsigned char* here = bytes + kStubBefore;
  *before = is_jump(here) && is_mark(here - kMarkBytes) ? kMarkBytes : 0;
  return is_jump(here) || (is_mark(here) && is_jump(here + kMarkBytes));
}

/// Where the function of a frame starts, given what its table says: there, but for a stub of x86-64's PLT.
/// `read(address, bytes)` reads kStubBytes of code that the table covers; false if it cannot.
template <class Read>
uint64_t function_start(const CfiFunction& function, uint64_t address, Read&& read) noexcept {
  unsigned char bytes[kStubBytes];
  unsigned before = 0;
  if (kReturnsInRegister) return function.start;
  if (function.rule.cfa == CfaKind::kPlt) return address & ~uint64_t{kEntryBytes - 1};
  if (function.rule.cfa != CfaKind::kStack || function.rule.cfa_words != 1) return function.start;
  if (address - function.start < kStubBefore || function.end - address < kStubBytes - kStubBefore)
    return function.start;
  const bool is_stub = read(address - kStubBefore, bytes) && find_jump_stub(bytes, &before);
  return is_stub ? address - before : function.start;
}

}  // namespace pctally
