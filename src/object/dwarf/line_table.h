// The bytes of a unit's line table, and the rows that its program makes.
#pragma once
#include <elfutils/libdw.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/file/byte_reader.h"
#include "object/elf/elf_file.h"

namespace pctally {

/// Reads on and on; behind the end there are zeros, and damaged() is set.
class LineTableCursor {
 public:
  explicit LineTableCursor(std::span<const unsigned char> bytes) : bytes_(bytes) {}

  template <class T>
  T number() {
    T value{};
    if (!ByteReader(bytes_).read(at_, &value)) damaged_ = true;
    at_ += sizeof value;
    return value;
  }
  uint64_t offset(bool wide) { return wide ? number<uint64_t>() : number<uint32_t>(); }
  uint64_t leb();
  int64_t signed_leb();
  void skip(uint64_t bytes);
  void skip_text() {
    while (!damaged_ && number<uint8_t>() != 0) continue;
  }
  [[nodiscard]] uint64_t at() const { return at_; }
  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  std::span<const unsigned char> bytes_;
  uint64_t at_ = 0;
  bool damaged_ = false;
};

/// From the start of the unit's line table on; empty if it has none.
std::span<const unsigned char> line_table(Dwarf_Die unit);

struct LineRow {
  uint64_t address = 0;
  uint32_t file = 0;  ///< its number in the unit's table of files
  uint32_t line = 0;
  uint32_t discriminator = 0;
  bool ends = false;  ///< the first address behind a sequence
};

/// The rows of the table in the order of their addresses, an end before what begins there; up to where the
/// table is damaged. Linkers leave the sequences of dropped functions at address 0, over those of live code:
/// only sequences that begin in `text` count. (libdw sorts the rows of all sequences together, after which
/// nobody can tell them apart.)
std::vector<LineRow> line_rows(std::span<const unsigned char> table, AddressRange text);

}  // namespace pctally
