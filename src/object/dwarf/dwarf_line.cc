#include "object/dwarf/dwarf_line.h"

namespace pctally {

DwarfLine::DwarfLine(Dwarf_Die unit) {
  if (dwarf_getsrclines(&unit, &rows_, &count_) != 0) count_ = 0;
}

uint64_t DwarfLine::address_of(size_t row) const {
  Dwarf_Addr address = 0;
  dwarf_lineaddr(dwarf_onesrcline(rows_, row), &address);
  return address;
}

std::optional<SourceLine> DwarfLine::find(uint64_t address) const {
  // Rows are sorted. Of several at one address the last is in force: the others describe no byte.
  size_t low = 0;
  size_t high = count_;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (address_of(middle) <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return {};
  Dwarf_Line* row = dwarf_onesrcline(rows_, low - 1);
  bool ends = false;
  int line = 0;
  if (dwarf_lineendsequence(row, &ends) != 0 || ends || dwarf_lineno(row, &line) != 0) return {};
  unsigned discriminator = 0;
  if (dwarf_linediscriminator(row, &discriminator) != 0) discriminator = 0;
  return SourceLine{dwarf_linesrc(row, nullptr, nullptr), line > 0 ? static_cast<uint32_t>(line) : 0,
                    discriminator};
}

}  // namespace pctally
