// The code symbols of one symbol table, read in place. It leaves out what does not name text: data, section
// and linker-made bounds, undefined symbols, and the mapping symbols of assemblers.
#pragma once
#include <libelf.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "object/elf/elf_file.h"

namespace pctally {

struct Symbol {
  uint64_t value = 0;
  uint64_t size = 0;
  bool exported = false;     ///< global, weak or unique
  bool is_function = false;  ///< not a bare label
};

class SymbolTable {
 public:
  /// `section` is one of the file's, of type SHT_SYMTAB or SHT_DYNSYM. Nothing if it cannot be read.
  static std::optional<SymbolTable> open(const ElfFile& file, const ElfSection& section);

  [[nodiscard]] size_t size() const { return count_; }
  /// The i-th symbol if it names text.
  [[nodiscard]] std::optional<Symbol> code(size_t i) const;
  /// The name of the i-th symbol of any kind; empty if it has none. One that is too long for demangle() is
  /// cut, and still too long.
  [[nodiscard]] std::string_view name(size_t i) const;

 private:
  [[nodiscard]] bool in_text(size_t section) const;
  [[nodiscard]] std::string_view string(uint64_t offset) const;

  Elf_Data* symbols_ = nullptr;
  size_t count_ = 0;
  std::span<const unsigned char> strings_;
  std::vector<bool> text_sections_;  ///< by section index
};

/// Whether `a` is the better name for text that both name: a function before a label, an exported name before
/// a local one, then fewer leading underscores, then the shorter, then the alphabetically first.
bool names_better(const Symbol& a, std::string_view a_name, const Symbol& b, std::string_view b_name);

}  // namespace pctally
