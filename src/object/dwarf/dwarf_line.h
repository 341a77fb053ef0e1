// The line table of one unit: from an address to a file and a line.
#pragma once
#include <elfutils/libdw.h>

#include <optional>
#include <vector>

#include "object/dwarf/line_table.h"

namespace pctally {

/// A place in the sources. The name lives as long as the unit's Dwarf.
struct SourceLine {
  const char* file = nullptr;  ///< as libdw has it: for source_path(); null if unknown
  uint32_t line = 0;           ///< 0 if unknown
  uint32_t discriminator = 0;  ///< which of the line's basic blocks, as the compiler numbers them
};

class DwarfLine {
 public:
  /// Reads the table; one that cannot be read is empty. Sequences outside `text` do not count.
  DwarfLine(Dwarf_Die unit, AddressRange text);

  /// The row in force at `address`, or nothing between sequences.
  [[nodiscard]] std::optional<SourceLine> find(uint64_t address) const;

  [[nodiscard]] size_t rows() const { return rows_.size(); }

 private:
  std::vector<LineRow> rows_;
  Dwarf_Files* files_ = nullptr;
};

}  // namespace pctally
