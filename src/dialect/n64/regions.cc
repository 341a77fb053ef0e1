#include "dialect/n64/regions.h"

#include <algorithm>

namespace pctally::n64 {
namespace {

uint64_t start_of(const pctally_n64_prof& entry) noexcept {
  return reinterpret_cast<uintptr_t>(entry.text_start);
}
uint64_t end_of(const pctally_n64_prof& entry) noexcept {
  return reinterpret_cast<uintptr_t>(entry.text_end);
}

bool collect_edges(std::span<const pctally_n64_prof> list, MappedArray<uint64_t>* edges) noexcept {
  for (const pctally_n64_prof& entry : list)
    if (!edges->push_back(start_of(entry)) || !edges->push_back(end_of(entry))) return false;
  std::sort(edges->begin(), edges->end());
  return true;
}

const pctally_n64_prof* first_holding(std::span<const pctally_n64_prof> list, uint64_t pc) noexcept {
  for (const pctally_n64_prof& entry : list)
    if (start_of(entry) <= pc && pc < end_of(entry)) return &entry;
  return nullptr;
}

/// Cells beyond the segment's last word are never reached, and a pc beyond the last cell is in no region.
Region piece_of(const pctally_n64_prof& entry, uint64_t low, uint64_t end) noexcept {
  Region region{};
  region.low = low;
  region.last = end - 1;
  region.rule.origin = start_of(entry);
  region.rule.cells = entry.histo_size;
  region.rule.family = PCTALLY_BIN_SHIFT;
  region.rule.cell_shift = 1;
  region.rule.shift = 2;
  region.cells = entry.histo_base;
  region.kind = CellKind::kU16;
  region.when_full = WhenFull::kWrap;
  return region;
}

}  // namespace

bool make_regions(std::span<const pctally_n64_prof> list, MappedArray<Region>* regions) noexcept {
  MappedArray<uint64_t> edges;
  if (!collect_edges(list, &edges)) return false;
  const pctally_n64_prof* before = nullptr;
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    if (edges[i] == edges[i + 1]) continue;
    const pctally_n64_prof* entry = first_holding(list, edges[i]);
    if (entry != nullptr && entry == before)
      (*regions)[regions->size() - 1].last = edges[i + 1] - 1;
    else if (entry != nullptr && !regions->push_back(piece_of(*entry, edges[i], edges[i + 1])))
      return false;
    before = entry;
  }
  return true;
}

Region overflow_region(uint32_t* counter) noexcept {
  Region region{};
  region.last = ~uint64_t{0};
  region.rule.cells = 1;
  region.rule.family = PCTALLY_BIN_SHIFT;
  region.rule.cell_shift = 2;
  region.rule.flags = PCTALLY_BIN_ANY_PC;
  region.cells = counter;
  region.kind = CellKind::kU32;
  region.when_full = WhenFull::kWrap;
  return region;
}

}  // namespace pctally::n64
