#include "object/dwarf/dwarf_line.h"

#include <algorithm>

namespace pctally {

DwarfLine::DwarfLine(Dwarf_Die unit, AddressRange text) {
  size_t count = 0;
  if (dwarf_getsrcfiles(&unit, &files_, &count) == 0) rows_ = line_rows(line_table(unit), text);
}

std::optional<SourceLine> DwarfLine::find(uint64_t address) const {
  // If several rows have one address, the last holds: the others describe no byte.
  const auto next = std::ranges::upper_bound(rows_, address, {}, &LineRow::address);
  if (next == rows_.begin() || (next - 1)->ends) return {};
  const LineRow& row = *(next - 1);
  const bool known = row.line <= INT32_MAX;  // a damaged table counts below 0
  return SourceLine{dwarf_filesrc(files_, row.file, nullptr, nullptr), known ? row.line : 0,
                    row.discriminator};
}

}  // namespace pctally
