#include "path/frame_table.h"

#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <limits>

#include "tick/unwind/cfi_entry.h"

namespace pctally {
namespace {

/// A row of the table, as it is written.
struct Row {
  int32_t function, entry;
};

/// False if one of the two lies too far away for a table of 32 bits.
bool make_row(uint64_t base, uint64_t function, uint64_t entry, Row* row) {
  const auto far = static_cast<int64_t>(function - base), near = static_cast<int64_t>(entry - base);
  const auto fits = [](int64_t distance) {
    return distance >= std::numeric_limits<int32_t>::min() && distance <= std::numeric_limits<int32_t>::max();
  };
  if (!fits(far) || !fits(near)) return false;
  *row = {static_cast<int32_t>(far), static_cast<int32_t>(near)};
  return true;
}

/// In the order of the section. It ends with a length of 0.
std::vector<Row> rows_of(const CfiSections& sections) {
  std::vector<Row> rows;
  uint32_t length = 0;
  for (uint64_t offset = 0; sections.frames_bytes - offset > sizeof length;
       offset += sizeof length + length) {
    memcpy(&length, sections.frames + offset, sizeof length);
    if (length == 0 || length > sections.frames_bytes - offset - sizeof length) break;
    Fde fde;
    Row row{};
    const uint64_t entry = sections.frames_address + offset;
    if (read_fde(sections, entry, &fde) && make_row(sections.frames_address, fde.start, entry, &row))
      rows.push_back(row);
  }
  return rows;
}

}  // namespace

std::vector<unsigned char> make_frame_table(const CfiSections& sections) {
  using namespace pointer_encoding;
  std::vector<Row> rows = rows_of(sections);
  if (rows.empty()) return {};
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.function < b.function; });
  const auto count = static_cast<uint32_t>(rows.size());
  std::vector<unsigned char> table = {1, kOmitted, kUnsigned4, kSortedTable};
  const size_t head = table.size();
  table.resize(head + sizeof count + rows.size() * sizeof(Row));
  memcpy(table.data() + head, &count, sizeof count);
  memcpy(table.data() + head + sizeof count, rows.data(), rows.size() * sizeof(Row));
  return table;
}

}  // namespace pctally
