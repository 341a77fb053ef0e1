#include "base/file/go_table.h"

#include <elf.h>

namespace pctally {
namespace {

constexpr uint32_t kGo118 = 0xfffffff0, kGo120 = 0xfffffff1;  ///< the versions that brought these layouts
constexpr uint64_t kPairBytes = 8;

struct Header {
  uint32_t magic;
  uint8_t zero[2], instruction_bytes, pointer_bytes;
  uint64_t functions, files, text, names, units, file_names, runs, table;
};
static_assert(sizeof(Header) == 72);

bool read_header(const ByteReader& bytes, uint64_t offset, Header* header) noexcept {
  return bytes.read(offset, header) && (header->magic == kGo118 || header->magic == kGo120) &&
         header->zero[0] == 0 && header->zero[1] == 0 &&
         (header->instruction_bytes == 1 || header->instruction_bytes == 4) && header->pointer_bytes == 8;
}

std::optional<size_t> find_table(std::span<const unsigned char> bytes) noexcept {
  constexpr size_t kAlignment = 32;
  Header header;
  for (size_t at = 0; at < bytes.size(); at += kAlignment)
    if (read_header(ByteReader(bytes), at, &header)) return at;
  return {};
}

/// What relocations make of the word at `address`, before the load address is added; 0: nothing.
uint64_t relocated(std::span<const unsigned char> relocations, uint64_t address) noexcept {
  const ByteReader entries(relocations);
  Elf64_Rela entry;
  for (uint64_t at = 0; entries.read(at, &entry); at += sizeof entry)
    if (entry.r_offset == address && ELF64_R_SYM(entry.r_info) == 0)
      return static_cast<uint64_t>(entry.r_addend);
  return 0;
}

}  // namespace

std::optional<GoTable> GoTable::in_section(std::span<const unsigned char> section, uint64_t address,
                                           std::span<const unsigned char> relocations) noexcept {
  const auto offset = find_table(section);
  if (!offset) return {};
  return parse(section.subspan(*offset), relocated(relocations, address + *offset + offsetof(Header, text)));
}

std::optional<GoTable> GoTable::parse(std::span<const unsigned char> bytes, uint64_t text) noexcept {
  GoTable table(bytes);
  Header header;
  if (!read_header(table.table_, 0, &header)) return {};
  table.text_ = header.text != 0 ? header.text : text;
  table.count_ = header.functions;
  table.names_ = header.names;
  table.runs_ = header.runs;
  table.functions_ = header.table;
  table.instruction_bytes_ = header.instruction_bytes;
  table.flags_at_ = header.magic == kGo118 ? 37 : 41;
  // Behind the last pair lies where the last function ends.
  const bool fits = header.functions != 0 && header.functions < bytes.size() / kPairBytes &&
                    table.table_.holds(header.table, header.functions * kPairBytes + sizeof(uint32_t)) &&
                    header.names < bytes.size() && header.runs < bytes.size();
  if (table.text_ == 0 || !fits || !table.is_sorted()) return {};
  if (table.text_ > UINT64_MAX - table.offset(table.count_)) return {};
  return table;
}

uint32_t GoTable::word(uint64_t offset) const noexcept {
  uint32_t value = 0;
  (void)table_.read(offset, &value);
  return value;
}

uint32_t GoTable::offset(uint64_t number) const noexcept { return word(functions_ + number * kPairBytes); }

/// The place of a function's record. The table has it relative to the pairs.
uint64_t GoTable::place(uint64_t number) const noexcept {
  return functions_ + word(functions_ + number * kPairBytes + 4);
}

uint8_t GoTable::flags(uint64_t number) const noexcept {
  uint8_t value = 0;
  (void)table_.read(place(number) + flags_at_, &value);
  return value;
}

bool GoTable::is_sorted() const noexcept {
  for (uint64_t number = 0; number < count_; ++number)
    if (offset(number) > offset(number + 1)) return false;
  return true;
}

std::string_view GoTable::name(uint64_t number) const noexcept {
  constexpr uint64_t kNameAt = 4, kLongest = 4096;
  const uint64_t at = names_ + word(place(number) + kNameAt);
  if (at >= bytes_.size()) return {};
  const auto* text = reinterpret_cast<const char*>(bytes_.data() + at);
  const uint64_t most = bytes_.size() - at < kLongest ? bytes_.size() - at : kLongest;
  for (size_t length = 0; length < most; ++length)
    if (text[length] == '\0') return {text, length};
  return {};
}

std::optional<uint64_t> GoTable::find(uint64_t address) const noexcept {
  const uint64_t wanted = address - text_;
  if (address < text_ || wanted < offset(0) || wanted >= offset(count_)) return {};
  uint64_t low = 0, high = count_;  // offset(low) <= wanted < offset(high)
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    (offset(middle) <= wanted ? low : high) = middle;
  }
  return low;
}

/// No run: nothing is known of its stack.
bool GoTable::find_stack(uint64_t number, uint64_t* at) const noexcept {
  constexpr uint64_t kRunAt = 16;
  const uint32_t run = word(place(number) + kRunAt);
  *at = runs_ + run;
  return run != 0;
}

bool GoTable::read_varint(uint64_t* at, uint32_t* value) const noexcept {
  uint8_t byte = 0x80;
  *value = 0;
  for (unsigned shift = 0; shift < 32 && (byte & 0x80) != 0; shift += 7) {
    if (!table_.read((*at)++, &byte)) return false;
    *value |= uint32_t{byte & 0x7fu} << shift;
  }
  return (byte & 0x80) == 0;
}

}  // namespace pctally
