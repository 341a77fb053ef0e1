// Writes a mon.out of System V.
#pragma once
#include <stdint.h>

#include <span>

#include "monfile/mon_layout.h"
#include "monfile/write/mon_file.h"

namespace pctally {

using MonHeader = MonLayout::Header<uintptr_t>;
using MonCallCount = MonLayout::CallCount<uintptr_t>;

/// One region and its counters, where they lie in the program.
struct MonHistogram {
  uint64_t low = 0;
  uint64_t high = 0;
  const void* calls = nullptr;  ///< of MonCallCount, at any alignment
  size_t call_counts = 0;
  std::span<const MonLayout::Counter> counters;
};

/// `base` is taken off every address.
void write_mon_out(MonFile* file, const MonHistogram& histogram, uint64_t base) noexcept;

}  // namespace pctally
