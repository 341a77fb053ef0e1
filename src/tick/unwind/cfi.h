// The unwind rule for an address, straight from an object's .eh_frame_hdr and .eh_frame: nothing is built
// beforehand, nothing is allocated.
//
// The bytes may be hostile: every read is checked against their end, and a function takes at most
// kMostInstructions. What is not understood is CfaKind::kUnsupported. Format: LSB 5.0, chapter 8.6; DWARF
// 5, section 6.4.
#pragma once
#include "tick/unwind/unwind_rule.h"

namespace pctally {

/// The two sections, wherever they lie in memory, with the addresses they have in the object.
struct CfiSections {
  const unsigned char* header = nullptr;  ///< .eh_frame_hdr: a table sorted by address
  uint64_t header_bytes = 0;
  uint64_t header_address = 0;
  const unsigned char* frames = nullptr;  ///< .eh_frame
  uint64_t frames_bytes = 0;
  uint64_t frames_address = 0;
};

/// The sections of an object that is loaded here, from where its .eh_frame_hdr lies in memory and where the
/// object ends. Their addresses are those in memory. False if the header is of a kind no linker writes.
bool find_loaded_sections(uint64_t header, uint64_t end, CfiSections* found) noexcept;

/// The function that a table describes, and the rule at the address asked for.
struct CfiFunction {
  uint64_t start = 0;
  uint64_t end = 0;
  UnwindRule rule;
};

/// True for the code at an entry point, of a program or of its interpreter, which nothing calls: the dynamic
/// linker's, and that of other C libraries, has no table. Addresses or positions, as the caller has them.
inline bool find_entry_code(uint64_t entry, uint64_t address, CfiFunction* found) noexcept {
  constexpr uint64_t kEntryBytes = 64;  // glibc's ld.so has 61
  if (entry == 0 || address < entry || address - entry >= kEntryBytes) return false;
  found->start = entry;
  found->end = entry + kEntryBytes;
  found->rule.cfa = CfaKind::kEnd;
  return true;
}

/// True if `address` lies in a function of the table; else *found has CfaKind::kNone. A function whose entry
/// cannot be understood is CfaKind::kUnsupported, and ends behind `address`. Any thread, any signal handler.
bool find_cfi(const CfiSections& sections, uint64_t address, CfiFunction* found) noexcept;

/// True if no entry covers `address`, behind one that can be understood: where that code starts, and ends at
/// the next one.
bool find_gap(const CfiSections& sections, uint64_t address, uint64_t* start, uint64_t* end) noexcept;

}  // namespace pctally
