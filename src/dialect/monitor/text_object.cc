#include "dialect/monitor/text_object.h"

#include <link.h>
#include <stdio.h>
#include <string.h>

namespace pctally {
namespace {

struct Search {
  uint64_t address;
  TextObject object;
};

bool holds(const dl_phdr_info& info, uint64_t address) noexcept {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const auto& segment = info.dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && address - (info.dlpi_addr + segment.p_vaddr) < segment.p_memsz)
      return true;
  }
  return false;
}

int find_in(dl_phdr_info* info, size_t, void* argument) {
  auto* search = static_cast<Search*>(argument);
  if (!holds(*info, search->address)) return 0;
  const char* slash = strrchr(info->dlpi_name, '/');
  TextObject& object = search->object;
  object.base = info->dlpi_addr;
  object.found = true;
  object.is_program = *info->dlpi_name == '\0';
  if (!object.is_program)
    snprintf(object.name, sizeof object.name, "%s", slash != nullptr ? slash + 1 : info->dlpi_name);
  return 1;
}

struct Collection {
  MappedArray<TextRange>* ranges;
  bool complete = true;
};

bool add_sorted(MappedArray<TextRange>* ranges, const TextRange& range) noexcept {
  size_t at = ranges->size();
  while (at > 0 && (*ranges)[at - 1].low > range.low) --at;
  return ranges->insert(at, range);
}

int collect(dl_phdr_info* info, size_t, void* argument) {
  auto* collection = static_cast<Collection*>(argument);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || segment.p_memsz == 0) continue;
    uint64_t low = info->dlpi_addr + segment.p_vaddr;
    if (!add_sorted(collection->ranges, {low, low + segment.p_memsz})) collection->complete = false;
  }
  return 0;
}

}  // namespace

TextObject text_object(uint64_t address) noexcept {
  Search search{address, {}};
  dl_iterate_phdr(find_in, &search);
  return search.object;
}

bool loaded_text(MappedArray<TextRange>* ranges) noexcept {
  Collection collection{ranges};
  dl_iterate_phdr(collect, &collection);
  return collection.complete;
}

}  // namespace pctally
