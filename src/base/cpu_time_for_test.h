// CPU time to be sampled. For tests only.
#pragma once
#include <stdint.h>
#include <time.h>

#include "base/proc_file.h"
#include "base/time_ns.h"

namespace pctally {

/// The CPU time of this process.
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

/// What the host took of the machine since it started, to 10 ms a CPU: it brings no ticks from outside.
inline uint64_t stolen_ns() noexcept { return clock_ticks_to_ns(read_machine_ticks().steal); }

}  // namespace pctally
