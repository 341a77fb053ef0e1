#include "perf/event.h"

#include <errno.h>
#include <unistd.h>

#include "base/kernel/perf_event.h"
#include "perf/refusal.h"

namespace pctally {
namespace {

// Periods of a third of a millisecond or so of a busy CPU; what software counts is rare enough to see all.
constexpr uint64_t kFrequent = 1000000, kUsual = 100000, kRare = 10000, kEach = 1;

constexpr Event hardware(const char* name, uint64_t config, uint64_t count) {
  return {name, PERF_TYPE_HARDWARE, config, count};
}

constexpr Event software(const char* name, uint64_t config) {
  return {name, PERF_TYPE_SOFTWARE, config, kEach};
}

constexpr Event kEvents[] = {
    kCpuTime,
    hardware("cycles", PERF_COUNT_HW_CPU_CYCLES, kFrequent),
    hardware("ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES, kFrequent),
    hardware("instructions", PERF_COUNT_HW_INSTRUCTIONS, kFrequent),
    hardware("stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, kFrequent),
    hardware("stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND, kFrequent),
    hardware("bus-cycles", PERF_COUNT_HW_BUS_CYCLES, kUsual),
    hardware("branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, kUsual),
    hardware("cache-references", PERF_COUNT_HW_CACHE_REFERENCES, kUsual),
    hardware("branch-misses", PERF_COUNT_HW_BRANCH_MISSES, kRare),
    hardware("cache-misses", PERF_COUNT_HW_CACHE_MISSES, kRare),
    software("page-faults", PERF_COUNT_SW_PAGE_FAULTS),
    software("minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN),
    software("major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ),
    software("context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES),
    software("cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS),
    software("alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS),
    software("emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS),
};

struct Alias {
  std::string_view alias, name;
};

constexpr Alias kAliases[] = {
    {"task-clock", "cpu-clock"},
    {"cpu-cycles", "cycles"},
    {"branch-instructions", "branches"},
    {"idle-cycles-frontend", "stalled-cycles-frontend"},
    {"idle-cycles-backend", "stalled-cycles-backend"},
    {"faults", "page-faults"},
    {"cs", "context-switches"},
    {"migrations", "cpu-migrations"},
};

/// 0, or the errno of ticking by it in this process.
int try_to_count(const Event& event) {
  perf_event_attr attr = tick_attributes(event, event.usual_count, false);
  UniqueFd fd = open_perf_event(attr, 0, -1);
  return fd.valid() ? 0 : errno;
}

}  // namespace

const Event* find_event(std::string_view name) noexcept {
  for (const Alias& alias : kAliases)
    if (name == alias.alias) name = alias.name;
  for (const Event& event : kEvents)
    if (name == event.name) return &event;
  return nullptr;
}

std::vector<std::string> event_names() {
  std::vector<std::string> names;
  for (const Event& event : kEvents) names.emplace_back(event.name);
  for (const Alias& alias : kAliases) names.emplace_back(alias.alias);
  return names;
}

perf_event_attr tick_attributes(const Event& event, uint64_t period, bool kernel) noexcept {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = event.type;
  attr.config = event.config;
  attr.sample_period = period;
  attr.disabled = 1;
  attr.exclude_idle = event.is_cpu_time();  // some PMUs refuse it
  attr.exclude_kernel = !kernel;
  attr.exclude_hv = 1;
  return attr;
}

std::string explain_absence(const Event& event) {
  int error = event.is_cpu_time() ? 0 : try_to_count(event);
  if (error != ENOENT && error != EOPNOTSUPP && error != ENODEV) return {};
  bool hardware = event.type == PERF_TYPE_HARDWARE;
  return std::string(event.name) + ": this " +
         (hardware ? "machine has no hardware counter for it" : "kernel does not count it") +
         "; without -e, CPU time is recorded";
}

}  // namespace pctally
