// The entry of .eh_frame for an address: a function's range and the call frame instructions that describe it.
#pragma once
#include "tick/unwind/cfi.h"
#include "tick/unwind/cfi_cursor.h"

namespace pctally {

/// A common information entry: what many functions share.
struct Cie {
  uint64_t code_unit = 1;
  int64_t data_unit = 1;
  uint64_t return_register = 0;
  uint8_t encoding = 0;
  bool is_signal = false;
  bool has_augmentation = false;
  CfiCursor instructions;
};

/// A function's entry.
struct Fde {
  Cie cie;
  uint64_t start = 0;
  uint64_t end = 0;
  CfiCursor instructions;
};

/// The entry at an address of the object. False if it is none of a function, or cannot be understood.
bool read_fde(const CfiSections& sections, uint64_t address, Fde* fde) noexcept;

enum class FdeFound : uint8_t {
  kNone,        ///< no function with an entry is there
  kUnreadable,  ///< there is one, which cannot be understood: of *fde its start alone is set
  kFound,
};

/// Finds the entry of the function around `address` by the sorted table of .eh_frame_hdr.
FdeFound find_fde(const CfiSections& sections, uint64_t address, Fde* fde) noexcept;

/// Entries of the sorted table; 0 if it cannot be understood.
uint32_t count_fdes(const CfiSections& sections) noexcept;

/// The entry with that number, in the order of addresses. find_fde() takes it from *from on to the next
/// one's. False if it cannot be understood. REQUIRES: number < count_fdes().
bool fde_at(const CfiSections& sections, uint32_t number, uint64_t* from, Fde* fde) noexcept;

}  // namespace pctally
