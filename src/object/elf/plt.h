// Names for the stubs of procedure linkage tables: which relocation fills the slot a stub jumps
// through. Stubs are read instruction by instruction (x86-64, aarch64, riscv64), so the order of the
// tables does not matter.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>

#include "object/elf/elf_file.h"

namespace pctally {

class Plt {
 public:
  explicit Plt(const ElfFile& file) : file_(&file) {}

  /// Whether a section is made of stubs.
  static bool is_stub_section(const ElfSection& section);

  /// The stub of `section` that `address` lies in; cut at the section's end.
  [[nodiscard]] AddressRange stub(const ElfSection& section, uint64_t address) const;
  /// The symbol a stub jumps to, as mangled; empty if it is not known.
  std::string target(const AddressRange& stub);

 private:
  struct Relocation {
    uint32_t table = 0;   ///< section index of its symbol table
    uint32_t symbol = 0;  ///< 0: none, a resolver stands in `addend`
    uint64_t addend = 0;
  };
  [[nodiscard]] const Relocation* find(uint64_t slot);
  void read_section(const ElfSection& section);
  [[nodiscard]] std::optional<uint64_t> slot(const AddressRange& stub) const;
  [[nodiscard]] std::string resolver_name(uint64_t address) const;
  [[nodiscard]] std::string symbol_name(const Relocation& relocation) const;

  const ElfFile* file_;
  unsigned parts_read_ = 0;  ///< as of find()
  std::unordered_map<uint64_t, Relocation> by_slot_;
};

}  // namespace pctally
