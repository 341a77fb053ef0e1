// CPU time to be sampled. For tests only.
#pragma once
#include <stdint.h>
#include <time.h>

#include <algorithm>

#include "base/proc_file.h"
#include "base/time_ns.h"

namespace pctally {

/// The CPU time of this process.
inline uint64_t process_cpu_ns() noexcept {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return to_ns(used);
}

/// Uses so much of it, mostly in user mode. A host may hold the CPU and not say so: that time is charged to
/// the process, and brings no ticks from outside. So it comes on top, up to 2 s, and is returned.
inline uint64_t burn(uint64_t ns) noexcept {
  constexpr uint64_t kHeldNs = 5'000'000, kMostHeldNs = 2'000'000'000;  // the work takes some 10 us
  uint64_t now = process_cpu_ns(), held = 0;
  for (const uint64_t begun = now; now - begun < ns + std::min(held, kMostHeldNs);) {
    for (int i = 0; i < 10000; ++i) asm volatile("");
    const uint64_t next = process_cpu_ns();
    if (next - now > kHeldNs) held += next - now;
    now = next;
  }
  return held;
}

/// What the host took of the machine since it started, to 10 ms a CPU: it brings no ticks from outside.
inline uint64_t stolen_ns() noexcept { return clock_ticks_to_ns(read_machine_ticks().steal); }

}  // namespace pctally
