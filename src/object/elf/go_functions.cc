#include "object/elf/go_functions.h"

#include <elf.h>

namespace pctally {
namespace {

/// 0: nothing.
uint64_t relocated(const ElfFile& file, uint64_t address) {
  uint64_t value = 0;
  for (const ElfSection& section : file.sections())
    if (section.type == SHT_RELA && value == 0) value = GoTable::relocated(file.contents(section), address);
  return value;
}

}  // namespace

/// A linker of C has put the table among the constants that it relocates, where the program may lie anywhere.
std::optional<GoFunctions> GoFunctions::open(const ElfFile& file) {
  const bool is_go = file.section(".go.buildinfo") != nullptr;
  if (!is_go || !file.is_64_bit() || !file.native_order()) return {};
  for (const char* name : {".gopclntab", ".data.rel.ro.gopclntab", ".data.rel.ro"}) {
    const ElfSection* section = file.section(name);
    if (section == nullptr) continue;
    const auto contents = file.contents(*section);
    const auto offset = GoTable::find_table(contents);
    if (!offset) continue;
    const auto table = GoTable::parse(contents.subspan(*offset),
                                      relocated(file, section->address + *offset + GoTable::kTextOffset));
    return table ? std::optional(GoFunctions(*table)) : std::nullopt;
  }
  return {};
}

std::optional<GoFunctions::Function> GoFunctions::find(uint64_t address) const {
  const auto number = table_.find(address);
  if (!number || table_.name(*number).empty()) return {};
  return Function{{table_.start(*number), table_.end(*number)}, table_.name(*number)};
}

}  // namespace pctally
