// The line table of one unit: from an address to a file and a line.
#pragma once
#include <elfutils/libdw.h>

#include <optional>

namespace pctally {

/// A place in the sources. The name lives as long as the unit's Dwarf.
struct SourceLine {
  const char* file = nullptr;  ///< as libdw has it: for source_path(); null if unknown
  uint32_t line = 0;           ///< 0 if unknown
  uint32_t discriminator = 0;  ///< which of the line's basic blocks, as the compiler numbers them
};

class DwarfLine {
 public:
  /// Reads the table; one that cannot be read is empty.
  explicit DwarfLine(Dwarf_Die unit);

  /// The row in force at `address`, or nothing between sequences.
  [[nodiscard]] std::optional<SourceLine> find(uint64_t address) const;

  [[nodiscard]] size_t rows() const { return count_; }

 private:
  [[nodiscard]] uint64_t address_of(size_t row) const;

  Dwarf_Lines* rows_ = nullptr;
  size_t count_ = 0;
};

}  // namespace pctally
