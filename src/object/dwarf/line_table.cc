#include "object/dwarf/line_table.h"

#include <dwarf.h>
#include <gelf.h>

#include <algorithm>
#include <string_view>
#include <tuple>

namespace pctally {
namespace {

using Bytes = std::span<const unsigned char>;

/// .debug_line as libdw has it: decompressed.
Bytes line_section(Dwarf* dwarf) {
  Elf* elf = dwarf_getelf(dwarf);
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return {};
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr ||
        (std::string_view(name) != ".debug_line" && std::string_view(name) != ".zdebug_line"))
      continue;
    const Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return {};
    return {static_cast<const unsigned char*>(data->d_buf), data->d_size};
  }
  return {};
}

/// Runs the program of one table: the state machine of DWARF 5, 6.2.
class LineProgram {
 public:
  LineProgram(Bytes table, AddressRange text) : cursor_(table), text_(text) {}

  std::vector<LineRow> run() {
    if (!read_header()) return {};
    while (cursor_.at() < end_ && !cursor_.damaged()) step();
    rows_.resize(sequence_);  // the last one without an end
    std::ranges::stable_sort(rows_, {},
                             [](const LineRow& row) { return std::tuple(row.address, !row.ends); });
    return std::move(rows_);
  }

 private:
  bool read_header();
  void step();
  void standard(uint8_t opcode);
  void extended();
  void special(uint8_t opcode) {
    advance(opcode / line_range_);
    row_.line += static_cast<uint32_t>(line_base_ + opcode % line_range_);
    add_row();
  }
  void advance(uint64_t operations) { row_.address += operations * shortest_; }
  void add_row() {
    rows_.push_back(row_);
    row_.discriminator = 0;
  }
  void end_sequence() {
    // A row at the end describes no byte; it would be in force up to the next sequence.
    while (rows_.size() > sequence_ && rows_.back().address >= row_.address) rows_.pop_back();
    row_.ends = true;
    add_row();
    if (!text_.contains(rows_[sequence_].address)) rows_.resize(sequence_);
    sequence_ = rows_.size();
    row_ = kFirst;
  }

  static constexpr LineRow kFirst{.file = 1, .line = 1};
  LineTableCursor cursor_;
  AddressRange text_;
  uint64_t end_ = 0;
  uint8_t shortest_ = 1, line_range_ = 1, opcodes_ = 0;
  int8_t line_base_ = 0;
  std::vector<uint8_t> operands_;  ///< of each standard instruction
  LineRow row_ = kFirst;
  std::vector<LineRow> rows_;
  size_t sequence_ = 0;  ///< where the sequence that is being read begins in rows_
};

/// False if it is none, or of a machine with several operations in an instruction.
bool LineProgram::read_header() {
  uint64_t length = cursor_.number<uint32_t>();
  const bool wide = length == UINT32_MAX;
  if (wide) length = cursor_.number<uint64_t>();
  end_ = length > UINT64_MAX - cursor_.at() ? UINT64_MAX : cursor_.at() + length;
  const auto version = cursor_.number<uint16_t>();
  if (version < 2 || version > 5) return false;
  if (version == 5) cursor_.skip(2);  // sizes of an address and of a segment's number
  LineTableCursor program = cursor_;
  program.skip(program.offset(wide));
  cursor_.offset(wide);
  shortest_ = cursor_.number<uint8_t>();
  if (version >= 4 && cursor_.number<uint8_t>() > 1) return false;
  cursor_.skip(1);  // whether rows are of statements
  line_base_ = cursor_.number<int8_t>();
  line_range_ = cursor_.number<uint8_t>();
  opcodes_ = cursor_.number<uint8_t>();
  operands_.resize(opcodes_);
  for (size_t i = 1; i < operands_.size(); i++) operands_[i] = cursor_.number<uint8_t>();
  if (cursor_.damaged() || line_range_ == 0 || opcodes_ == 0) return false;
  cursor_ = program;
  return true;
}

void LineProgram::step() {
  const auto opcode = cursor_.number<uint8_t>();
  if (cursor_.damaged()) return;
  if (opcode >= opcodes_) return special(opcode - opcodes_);
  if (opcode == 0) return extended();
  standard(opcode);
}

void LineProgram::standard(uint8_t opcode) {
  switch (opcode) {
    case DW_LNS_copy:
      return add_row();
    case DW_LNS_advance_pc:
      return advance(cursor_.leb());
    case DW_LNS_advance_line:
      row_.line += static_cast<uint32_t>(cursor_.signed_leb());
      return;
    case DW_LNS_set_file:
      row_.file = static_cast<uint32_t>(cursor_.leb());
      return;
    case DW_LNS_const_add_pc:
      return advance((255u - opcodes_) / line_range_);
    case DW_LNS_fixed_advance_pc:
      row_.address += cursor_.number<uint16_t>();
      return;
    default:
      for (unsigned i = 0; i < operands_[opcode]; i++) cursor_.leb();
  }
}

void LineProgram::extended() {
  const uint64_t length = cursor_.leb();
  LineTableCursor next = cursor_;
  next.skip(length);
  switch (length == 0 ? 0 : cursor_.number<uint8_t>()) {
    case DW_LNE_end_sequence:
      end_sequence();
      break;
    case DW_LNE_set_address:
      row_.address = length == 5 ? cursor_.number<uint32_t>() : cursor_.number<uint64_t>();
      break;
    case DW_LNE_set_discriminator:
      row_.discriminator = static_cast<uint32_t>(cursor_.leb());
      break;
    default:
      break;
  }
  cursor_ = next;
}

}  // namespace

uint64_t LineTableCursor::leb() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = number<uint8_t>();
    value |= uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80) == 0) return value;
  }
  damaged_ = true;
  return 0;
}

int64_t LineTableCursor::signed_leb() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64;) {
    const auto byte = number<uint8_t>();
    value |= uint64_t{byte & 0x7fu} << shift;
    shift += 7;
    if ((byte & 0x80) != 0) continue;
    if (shift < 64 && (byte & 0x40) != 0) value |= UINT64_MAX << shift;
    return static_cast<int64_t>(value);
  }
  damaged_ = true;
  return 0;
}

void LineTableCursor::skip(uint64_t bytes) {
  if (ByteReader(bytes_).holds(at_, bytes))
    at_ += bytes;
  else
    damaged_ = true;
}

Bytes line_table(Dwarf_Die unit) {
  Dwarf_Attribute attribute;
  Dwarf_Word start = 0;
  if (dwarf_formudata(dwarf_attr(&unit, DW_AT_stmt_list, &attribute), &start) != 0) return {};
  const Bytes section = line_section(dwarf_cu_getdwarf(unit.cu));
  return start < section.size() ? section.subspan(start) : Bytes();
}

std::vector<LineRow> line_rows(Bytes table, AddressRange text) { return LineProgram(table, text).run(); }

}  // namespace pctally
