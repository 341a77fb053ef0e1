// The functions of a Go program, from the table that its runtime reads for its own stack traces (.gopclntab).
// It stays where symbols are stripped. Go 1.18 and later; Go, src/debug/gosym/pclntab.go.
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "object/elf/elf_file.h"

namespace pctally {

class GoFunctions {
 public:
  struct Function {
    AddressRange range;
    std::string_view name;  ///< "main.work"
  };

  /// Nothing if the file has no such table, or one that is damaged. `file` must outlive the result.
  static std::optional<GoFunctions> open(const ElfFile& file);
  /// `table`: from its first byte on, little-endian, which must outlive the result. `text`: where the code
  /// starts, if the table leaves that to the linker; 0: not known.
  static std::optional<GoFunctions> parse(std::span<const unsigned char> table, uint64_t text);

  /// Of several that start at one address the last; nothing before the first and behind the last.
  [[nodiscard]] std::optional<Function> find(uint64_t address) const;

 private:
  explicit GoFunctions(std::span<const unsigned char> table) : table_(table) {}
  [[nodiscard]] bool is_sorted() const;
  [[nodiscard]] uint32_t start(uint64_t entry) const;
  [[nodiscard]] std::string_view name(uint64_t entry) const;

  ByteReader table_;
  uint64_t text_ = 0;       ///< address that starts are relative to
  uint64_t count_ = 0;      ///< of functions
  uint64_t names_ = 0;      ///< offset of the first name
  uint64_t functions_ = 0;  ///< offset of the pairs of a start and the place of what is known of the function
};

}  // namespace pctally
