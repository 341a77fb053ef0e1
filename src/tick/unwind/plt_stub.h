// Entries of a procedure linkage table (PLT) on aarch64, which linkers describe in no unwind table, known by
// their instructions: adrp x16; ldr x17, [x16, #]; add x16, x16, #; br x17. The first entry, by which
// functions are bound, pushes x16 and x30 before.
#pragma once
#include "tick/unwind/unwind_rule.h"

namespace pctally {

inline constexpr unsigned kPltBefore = 4;  ///< instructions before a place, by which an entry is known,
inline constexpr unsigned kPltWords = 8;   ///< and all of them

/// The rule at words[kPltBefore], if that lies in an entry and changes nothing that a path needs.
inline bool find_plt_rule(const uint32_t (&words)[kPltWords], UnwindRule* rule) noexcept {
  constexpr uint32_t kMask[] = {0x9f00001f, 0xffc003ff, 0xff8003ff, 0xffffffff};
  constexpr uint32_t kEntry[] = {0x90000010, 0xf9400211, 0x91000210, 0xd61f0220};
  constexpr uint32_t kPush = 0xa9bf7bf0;  // stp x16, x30, [sp, #-16]!
  for (unsigned place = 0; place < 4; ++place) {
    const uint32_t* entry = words + kPltBefore - place;
    unsigned same = 0;
    while (same < 4 && (entry[same] & kMask[same]) == kEntry[same]) ++same;
    if (same != 4) continue;
    *rule = {.cfa = CfaKind::kStack, .cfa_words = static_cast<int16_t>(entry[-1] == kPush ? 2 : 0)};
    return true;
  }
  return false;
}

}  // namespace pctally
