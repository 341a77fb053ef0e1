// Three kinds of address that do not convert into each other silently. Most symbolisation bugs are a
// mix-up of these.
#pragma once
#include <compare>
#include <cstdint>

namespace pctally {

/// Where a byte of text lay in a running process.
struct RuntimeAddress {
  uint64_t value = 0;
  auto operator<=>(const RuntimeAddress&) const = default;
};

/// Where the linker put it: symbol values, DWARF, what objdump prints. ("svma" elsewhere.)
struct ObjectAddress {
  uint64_t value = 0;
  auto operator<=>(const ObjectAddress&) const = default;
};

/// Where it lies in the file. The recorder's cells are keyed by this.
struct FileOffset {
  uint64_t value = 0;
  auto operator<=>(const FileOffset&) const = default;
};

}  // namespace pctally
