#include "object/elf/symbol_table.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "object/elf/demangle.h"

namespace pctally {
namespace {

/// Labels the linker puts at the ends of sections: they mark text, they do not name it.
constexpr std::string_view kBounds[] = {"etext",        "_etext",      "__etext",
                                        "edata",        "_edata",      "end",
                                        "_end",         "__bss_start", "__executable_start",
                                        "__ehdr_start", "_ftext"};

bool is_code_type(unsigned type) { return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE; }

/// "$x", "$d" of aarch64 and riscv mark where code and data begin; ".L" labels are the compiler's own.
bool names_text(std::string_view label) {
  return !label.empty() && label[0] != '$' && !label.starts_with(".L") &&
         std::ranges::find(kBounds, label) == std::end(kBounds);
}

/// Leading underscores beyond 64 do not matter. A file can have millions of them.
size_t underscores(std::string_view name) {
  constexpr size_t kMost = 64;
  name = name.substr(0, kMost);
  return std::min(name.find_first_not_of('_'), name.size());
}

}  // namespace

std::optional<SymbolTable> SymbolTable::open(const ElfFile& file, const ElfSection& section) {
  SymbolTable table;
  table.symbols_ = elf_getdata(elf_getscn(file.handle(), section.index), nullptr);
  const size_t entry = gelf_fsize(file.handle(), ELF_T_SYM, 1, EV_CURRENT);
  if (table.symbols_ == nullptr || table.symbols_->d_buf == nullptr || entry == 0) return {};
  if (table.symbols_->d_type != ELF_T_SYM) return {};
  table.count_ = table.symbols_->d_size / entry;
  for (const ElfSection& other : file.sections()) {
    if (other.index == section.link && other.type == SHT_STRTAB) table.strings_ = file.contents(other);
    if ((other.flags & SHF_EXECINSTR) == 0) continue;
    table.text_sections_.resize(std::max(table.text_sections_.size(), other.index + 1));
    table.text_sections_[other.index] = true;
  }
  return table;
}

bool SymbolTable::in_text(size_t section) const {
  return section < text_sections_.size() && text_sections_[section];
}

std::optional<Symbol> SymbolTable::code(size_t i) const {
  GElf_Sym raw;
  if (gelf_getsym(symbols_, static_cast<int>(i), &raw) == nullptr) return {};
  const unsigned type = GELF_ST_TYPE(raw.st_info);
  const bool indexed = raw.st_shndx < SHN_LORESERVE;
  if (!is_code_type(type) || raw.st_shndx == SHN_UNDEF) return {};
  // An index too large for the field (SHN_XINDEX) is left to the caller's check of the address.
  if (indexed ? !in_text(raw.st_shndx) : raw.st_shndx != SHN_XINDEX) return {};
  // Reading every name would cost more than all the rest: strings are looked at where they decide something.
  if (type == STT_NOTYPE ? !names_text(string(raw.st_name)) : raw.st_name == 0) return {};
  return Symbol{raw.st_value, raw.st_size, GELF_ST_BIND(raw.st_info) != STB_LOCAL, type != STT_NOTYPE};
}

std::string_view SymbolTable::name(size_t i) const {
  GElf_Sym raw;
  if (gelf_getsym(symbols_, static_cast<int>(i), &raw) == nullptr) return {};
  return string(raw.st_name);
}

std::string_view SymbolTable::string(uint64_t offset) const {
  if (offset == 0 || offset >= strings_.size()) return {};
  const auto rest = strings_.subspan(offset);
  const auto* text = reinterpret_cast<const char*>(rest.data());
  constexpr size_t kMost = kLongestName + 1;  // demangle() sees that it is too long
  const auto* end = static_cast<const char*>(memchr(text, 0, std::min(rest.size(), kMost)));
  if (end == nullptr) return rest.size() < kMost ? std::string_view() : std::string_view(text, kMost);
  return {text, static_cast<size_t>(end - text)};
}

bool names_better(const Symbol& a, std::string_view a_name, const Symbol& b, std::string_view b_name) {
  const auto rank = [](const Symbol& symbol, std::string_view name) {
    return std::tuple(!symbol.is_function, !symbol.exported, underscores(name), name.size(), name);
  };
  return rank(a, a_name) < rank(b, b_name);
}

}  // namespace pctally
