// Lowers the ticks of processes, or of rows, until their sum is no more than what was counted.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace pctally {

/// A tick raises its process before its cell, so a copy of a growing file may have processes with more ticks
/// than were `placed` (counted, outside and full). Takes what is too much from those with the most ticks
/// first, of equals from the first, and returns it. `Part` has `uint64_t ticks`.
template <class Part>
uint64_t take_tick_excess(std::vector<Part>* parts, uint64_t placed) {
  uint64_t claimed = 0;
  for (const Part& part : *parts) claimed += part.ticks;
  if (claimed <= placed) return 0;
  std::vector<size_t> order(parts->size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return (*parts)[a].ticks > (*parts)[b].ticks; });
  uint64_t excess = claimed - placed;
  for (size_t index : order) {
    const uint64_t taken = std::min(excess, (*parts)[index].ticks);
    (*parts)[index].ticks -= taken;
    excess -= taken;
  }
  return claimed - placed;
}

}  // namespace pctally
