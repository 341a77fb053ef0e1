#include "object/dwarf/dwarf_digests.h"

#include <dwarf.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "object/dwarf/line_table.h"

namespace pctally {
namespace {

using Bytes = std::span<const unsigned char>;

/// One column of the table of files: what it means, and how it is written.
struct Column {
  uint64_t content = 0, form = 0;
};

std::vector<Column> read_columns(LineTableCursor* cursor) {
  std::vector<Column> columns(cursor->number<uint8_t>());
  for (Column& column : columns) {
    column.content = cursor->leb();
    column.form = cursor->leb();
  }
  return columns;
}

/// False if the form is none that a line table may have.
bool skip_form(uint64_t form, bool wide, LineTableCursor* cursor) {
  switch (form) {
    case DW_FORM_string:
      cursor->skip_text();
      return true;
    case DW_FORM_line_strp:
    case DW_FORM_strp:
    case DW_FORM_sec_offset:
      cursor->offset(wide);
      return true;
    case DW_FORM_udata:
    case DW_FORM_strx:
      cursor->leb();
      return true;
    case DW_FORM_block:
      cursor->skip(cursor->leb());
      return true;
    case DW_FORM_data1:
    case DW_FORM_strx1:
      cursor->skip(1);
      return true;
    case DW_FORM_data2:
    case DW_FORM_strx2:
      cursor->skip(2);
      return true;
    case DW_FORM_strx3:
      cursor->skip(3);
      return true;
    case DW_FORM_data4:
    case DW_FORM_strx4:
      cursor->skip(4);
      return true;
    case DW_FORM_data8:
      cursor->skip(8);
      return true;
    case DW_FORM_data16:
      cursor->skip(16);
      return true;
    default:
      return false;
  }
}

/// A row of directories or files; false if it cannot be read.
bool read_row(const std::vector<Column>& columns, bool wide, LineTableCursor* cursor,
              std::optional<Md5>* digest) {
  for (const Column& column : columns) {
    if (column.content == DW_LNCT_MD5 && column.form == DW_FORM_data16)
      *digest = cursor->number<Md5>();
    else if (!skip_form(column.form, wide, cursor))
      return false;
  }
  return !cursor->damaged();
}

/// The MD5s of the files of the line table that starts the bytes, in their order; nothing if it has none.
std::vector<std::optional<Md5>> digests_in(Bytes table, size_t files) {
  LineTableCursor cursor(table);
  const bool wide = cursor.number<uint32_t>() == UINT32_MAX;
  if (wide) cursor.number<uint64_t>();
  if (cursor.number<uint16_t>() != 5) return {};
  cursor.skip(2);  // sizes of an address and of a segment's number
  cursor.offset(wide);
  cursor.skip(5);  // instructions and lines
  const auto opcodes = cursor.number<uint8_t>();
  cursor.skip(opcodes > 0 ? opcodes - 1u : 0u);
  std::optional<Md5> digest;
  std::vector<Column> columns = read_columns(&cursor);
  for (uint64_t left = cursor.leb(); left > 0; --left)
    if (columns.empty() || !read_row(columns, wide, &cursor, &digest)) return {};
  columns = read_columns(&cursor);
  if (std::ranges::find(columns, uint64_t{DW_LNCT_MD5}, &Column::content) == columns.end()) return {};
  if (cursor.leb() != files) return {};
  std::vector<std::optional<Md5>> digests(files);
  for (std::optional<Md5>& entry : digests)
    if (!read_row(columns, wide, &cursor, &entry)) return {};
  return digests;
}

}  // namespace

SourceDigests source_digests(const DwarfFile::Unit& unit) {
  SourceDigests digests;
  Dwarf_Die die = unit.die;
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (dwarf_getsrcfiles(&die, &files, &count) != 0) return digests;
  const std::vector<std::optional<Md5>> found = digests_in(line_table(die), count);
  for (size_t i = 0; i < found.size(); ++i) {
    std::string path = source_path(unit.directory, dwarf_filesrc(files, i, nullptr, nullptr));
    if (!path.empty() && found[i]) digests.emplace(std::move(path), *found[i]);
  }
  return digests;
}

}  // namespace pctally
