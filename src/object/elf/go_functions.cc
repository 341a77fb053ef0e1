#include "object/elf/go_functions.h"

namespace pctally {

std::optional<GoFunctions> GoFunctions::open(const ElfFile& file) {
  if (file.section(GoTable::kSign) == nullptr || !file.is_64_bit() || !file.native_order()) return {};
  const auto contents_of = [&file](const ElfSection* section) {
    return section == nullptr ? std::span<const unsigned char>{} : file.contents(*section);
  };
  std::span<const unsigned char> relocations;
  for (const char* name : GoTable::kRelocations)
    if (relocations.empty()) relocations = contents_of(file.section(name));
  for (const char* name : GoTable::kSections) {
    const ElfSection* section = file.section(name);
    const uint64_t address = section == nullptr ? 0 : section->address;
    if (const auto table = GoTable::in_section(contents_of(section), address, relocations))
      return GoFunctions(*table);
  }
  return {};
}

std::optional<GoFunctions::Function> GoFunctions::find(uint64_t address) const {
  const auto number = table_.find(address);
  if (!number || table_.name(*number).empty()) return {};
  return Function{{table_.start(*number), table_.end(*number)}, table_.name(*number)};
}

}  // namespace pctally
