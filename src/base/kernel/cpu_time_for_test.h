// CPU time to be sampled. For tests only.
#pragma once
#include <stdint.h>
#include <time.h>

#include <algorithm>

#include "base/kernel/proc_file.h"
#include "base/time_ns.h"

namespace pctally {

/// The CPU time of this process.
inline uint64_t process_cpu_ns() noexcept {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return to_ns(used);
}

/// Works until `clock()` has gone on by `ns`, mostly in user mode: `turns` of a loop between two readings of
/// it. A host may hold the CPU and not say so: that time is charged to whoever runs, and brings no ticks. So
/// it comes on top, up to 2 s, and is returned.
template <class Clock>
uint64_t burn(Clock&& clock, unsigned turns, uint64_t ns) noexcept {
  constexpr uint64_t kHeldNs = 5'000'000,
                     kMostHeldNs = 2'000'000'000;  // the turns take less than a tenth of it
  uint64_t now = clock(), held = 0;
  for (const uint64_t begun = now; now - begun < ns + std::min(held, kMostHeldNs);) {
    for (unsigned i = 0; i < turns; ++i) asm volatile("");
    const uint64_t next = clock();
    if (next - now > kHeldNs) held += next - now;
    now = next;
  }
  return held;
}

/// Of the process's CPU time.
inline uint64_t burn(uint64_t ns) noexcept { return burn(process_cpu_ns, 10000, ns); }

/// What the host took of the machine since it started, to 10 ms a CPU: it brings no ticks from outside.
inline uint64_t stolen_ns() noexcept { return clock_ticks_to_ns(read_machine_ticks().steal); }

}  // namespace pctally
