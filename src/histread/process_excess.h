// Lowers the processes' tick counts until their sum is no more than what was counted, outside and full.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace pctally {

/// A tick raises its process before its cell, so a copy of a growing file may have processes with more ticks
/// than were `placed` (counted, outside and full). Takes what is too much from those with the most ticks
/// first, of equals from the first, and returns it. `Process` has `uint64_t ticks`.
template <class Process>
uint64_t take_process_excess(std::vector<Process>* processes, uint64_t placed) {
  uint64_t claimed = 0;
  for (const Process& process : *processes) claimed += process.ticks;
  if (claimed <= placed) return 0;
  std::vector<size_t> order(processes->size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return (*processes)[a].ticks > (*processes)[b].ticks; });
  uint64_t excess = claimed - placed;
  for (size_t index : order) {
    uint64_t taken = std::min(excess, (*processes)[index].ticks);
    (*processes)[index].ticks -= taken;
    excess -= taken;
  }
  return claimed - placed;
}

}  // namespace pctally
