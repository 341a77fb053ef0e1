#include "perf/blind_cpus.h"

#include <algorithm>

#include "base/time_ns.h"
#include "perf/cpu_numbers.h"

namespace pctally {

std::vector<int> blind_cpus(const std::vector<CpuEventTime>& events, const std::vector<int>& online) {
  uint64_t longest = 0;
  for (const CpuEventTime& event : events) longest = std::max(longest, event.enabled_ns);
  std::vector<int> blind = online;
  std::erase_if(blind, [&](int cpu) {
    const auto event = std::ranges::find(events, cpu, &CpuEventTime::cpu);
    return event != events.end() && event->enabled_ns + kNsPerSecond >= longest;
  });
  return blind;
}

std::string blind_cpus_text(const std::vector<PerfRing*>& rings) {
  std::vector<CpuEventTime> events;
  for (const PerfRing* ring : rings) events.push_back({ring->cpu(), ring->count().enabled_ns});
  const std::vector<int> blind = blind_cpus(events, online_cpus());
  if (blind.empty()) return {};
  return (blind.size() == 1 ? "CPU " : "CPUs ") + cpu_list_text(blind) +
         (blind.size() == 1 ? " was" : " were") +
         " switched on meanwhile (hotplug, suspend); what ran there since was not sampled";
}

}  // namespace pctally
