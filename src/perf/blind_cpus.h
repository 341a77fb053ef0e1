// CPUs that were switched on while events were open, by hotplug or after a suspend. The kernel takes the
// events of a CPU off when that is switched off, and does not put them back.
#pragma once
#include <stdint.h>

#include <string>
#include <vector>

#include "perf/ring.h"

namespace pctally {

/// An event of all that runs on one CPU.
struct CpuEventTime {
  int cpu = 0;
  uint64_t enabled_ns = 0;
};

/// Those of `online` that have no event, or whose event was there for a second less than the longest.
std::vector<int> blind_cpus(const std::vector<CpuEventTime>& events, const std::vector<int>& online);

/// What to warn of, in one line; empty if there are none. `rings`: of all that runs on each CPU, enabled
/// together.
std::string blind_cpus_text(const std::vector<PerfRing*>& rings);

}  // namespace pctally
