// mon.out of System V: {low pc, high pc, number of call counts}, the call counts, 16-bit counters to the end.
#pragma once
#include <stdint.h>

#include <span>

#include "monfile/write/mon_file.h"

namespace pctally {

/// struct hdr and struct cnt of <mon.h>, as wide as this machine's pointers.
struct MonHeader {
  uintptr_t low;
  uintptr_t high;
  size_t call_counts;
};
struct MonCallCount {
  uintptr_t function;
  long calls;
};

/// One region and its counters, where they lie in the program.
struct MonHistogram {
  uint64_t low = 0;
  uint64_t high = 0;
  const void* calls = nullptr;  ///< of MonCallCount, at any alignment
  size_t call_counts = 0;
  std::span<const uint16_t> counters;
};

/// `base` is taken off every address.
void write_mon_out(MonFile* file, const MonHistogram& histogram, uint64_t base) noexcept;

}  // namespace pctally
