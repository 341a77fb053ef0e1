// CPU time to be sampled. For tests only.
#pragma once
#include <stdint.h>
#include <time.h>

#include "base/time_ns.h"

namespace pctally {

/// Of this process.
inline uint64_t process_cpu_ns() noexcept {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return to_ns(used);
}

/// Uses so much of it, mostly in user mode.
inline void burn(uint64_t ns) noexcept {
  for (const uint64_t end = process_cpu_ns() + ns; process_cpu_ns() < end;)
    for (int i = 0; i < 10000; ++i) asm volatile("");
}

}  // namespace pctally
