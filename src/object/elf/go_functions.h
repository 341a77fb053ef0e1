// The functions of a Go program by their addresses: their names stay where symbols are stripped.
#pragma once
#include <optional>
#include <string_view>

#include "base/file/go_table.h"
#include "object/elf/elf_file.h"

namespace pctally {

class GoFunctions {
 public:
  struct Function {
    AddressRange range;
    std::string_view name;  ///< "main.work"; [...] stands for lengths and type arguments
  };

  /// Nothing if it is no Go program, or its table is of another version or damaged. `file` must outlive the
  /// result.
  static std::optional<GoFunctions> open(const ElfFile& file);
  /// The function at an address; nothing where none with a name is.
  [[nodiscard]] std::optional<Function> find(uint64_t address) const;

 private:
  explicit GoFunctions(const GoTable& table) : table_(table) {}
  GoTable table_;
};

}  // namespace pctally
