#include "object/elf/go_functions.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace pctally {
namespace {

constexpr uint32_t kGo118 = 0xfffffff0, kGo120 = 0xfffffff1;  ///< the versions that brought these layouts
constexpr uint64_t kEntryBytes = 8, kLongestFunction = 4096;

/// For code of 8-byte pointers.
struct Header {
  uint32_t magic;
  uint8_t zero[2], instruction_bytes, pointer_bytes;
  uint64_t functions, files, text, names, units, file_names, lines, table;
};
static_assert(sizeof(Header) == 72);

bool is_table(const ByteReader& bytes, uint64_t offset, Header* header) {
  return bytes.read(offset, header) && (header->magic == kGo118 || header->magic == kGo120) &&
         header->zero[0] == 0 && header->zero[1] == 0 && header->pointer_bytes == 8;
}

/// Which a linker of C has put among the constants that it relocates, for the program may lie anywhere.
std::optional<uint64_t> find_table(std::span<const unsigned char> constants) {
  constexpr size_t kAlignment = 32;
  Header header;
  for (size_t at = 0; at + sizeof header <= constants.size(); at += kAlignment)
    if (is_table(ByteReader(constants), at, &header)) return at;
  return {};
}

/// What the dynamic linker adds to the load address, and writes at `address`; 0: nothing.
uint64_t relocated(const ElfFile& file, uint64_t address) {
  for (const ElfSection& section : file.sections()) {
    if (section.type != SHT_RELA || section.entry_size != sizeof(Elf64_Rela)) continue;
    const ByteReader entries(file.contents(section));
    Elf64_Rela entry;
    for (uint64_t at = 0; entries.read(at, &entry); at += sizeof entry)
      if (entry.r_offset == address && ELF64_R_SYM(entry.r_info) == 0)
        return static_cast<uint64_t>(entry.r_addend);
  }
  return 0;
}

}  // namespace

std::optional<GoFunctions> GoFunctions::open(const ElfFile& file) {
  const bool is_go = file.section(".go.buildinfo") != nullptr;
  if (!is_go || !file.is_64_bit() || !file.native_order()) return {};
  for (const char* name : {".gopclntab", ".data.rel.ro.gopclntab", ".data.rel.ro"}) {
    const ElfSection* section = file.section(name);
    if (section == nullptr) continue;
    const auto contents = file.contents(*section);
    const auto offset = find_table(contents);
    if (!offset) continue;
    return parse(contents.subspan(*offset),
                 relocated(file, section->address + *offset + offsetof(Header, text)));
  }
  return {};
}

std::optional<GoFunctions> GoFunctions::parse(std::span<const unsigned char> table, uint64_t text) {
  GoFunctions functions(table);
  Header header;
  if (!is_table(functions.table_, 0, &header)) return {};
  functions.text_ = header.text != 0 ? header.text : text;
  functions.count_ = header.functions;
  functions.names_ = header.names;
  functions.functions_ = header.table;
  // Behind the last pair lies where the last function ends.
  const bool fits = header.functions != 0 && header.functions < table.size() / kEntryBytes &&
                    functions.table_.holds(header.table, header.functions * kEntryBytes + sizeof(uint32_t)) &&
                    header.names < table.size();
  if (functions.text_ == 0 || !fits || !functions.is_sorted()) return {};
  return functions;
}

uint32_t GoFunctions::start(uint64_t entry) const {
  uint32_t value = 0;
  (void)table_.read(functions_ + entry * kEntryBytes, &value);
  return value;
}

bool GoFunctions::is_sorted() const {
  for (uint64_t entry = 0; entry < count_; ++entry)
    if (start(entry) > start(entry + 1)) return false;
  return true;
}

/// The place of a function leads to its start, and the place of its name.
std::string_view GoFunctions::name(uint64_t entry) const {
  uint32_t place = 0, name = 0;
  if (!table_.read(functions_ + entry * kEntryBytes + 4, &place)) return {};
  if (!table_.read(functions_ + place + 4, &name)) return {};
  const uint64_t at = names_ + name;
  if (at >= table_.size()) return {};
  const auto bytes = table_.slice(at, std::min(kLongestFunction, table_.size() - at));
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  const size_t length = strnlen(text, bytes.size());
  return length == bytes.size() ? std::string_view() : std::string_view(text, length);
}

std::optional<GoFunctions::Function> GoFunctions::find(uint64_t address) const {
  const uint64_t offset = address - text_;
  if (address < text_ || offset < start(0) || offset >= start(count_)) return {};
  uint64_t low = 0, high = count_;  // start(low) <= offset < start(high)
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    (start(middle) <= offset ? low : high) = middle;
  }
  return Function{{text_ + start(low), text_ + start(low + 1)}, name(low)};
}

}  // namespace pctally
