#include "engine/event_name.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "engine/refusal.h"

namespace pctally {
namespace {

struct HardwareEvent {
  const char* name;
  uint64_t config;
};

constexpr HardwareEvent kHardwareEvents[] = {
    {"cycles", PERF_COUNT_HW_CPU_CYCLES},
    {"cpu-cycles", PERF_COUNT_HW_CPU_CYCLES},
    {"ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES},
    {"bus-cycles", PERF_COUNT_HW_BUS_CYCLES},
    {"instructions", PERF_COUNT_HW_INSTRUCTIONS},
    {"cache-references", PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache-misses", PERF_COUNT_HW_CACHE_MISSES},
    {"branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", PERF_COUNT_HW_BRANCH_MISSES},
    {"stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    {"stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
};

const HardwareEvent* find_event(const std::string& name) {
  for (const HardwareEvent& event : kHardwareEvents)
    if (name == event.name) return &event;
  return nullptr;
}

/// 0, or the errno of counting it for this process.
int try_to_count(uint64_t config) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_HARDWARE;
  attr.config = config;
  attr.disabled = attr.exclude_kernel = attr.exclude_hv = 1;
  UniqueFd fd(static_cast<int>(syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  return fd.valid() ? 0 : errno;
}

}  // namespace

bool is_clock_event(const std::string& name) { return name == "cpu-clock" || name == "task-clock"; }

bool is_hardware_event(const std::string& name) { return find_event(name) != nullptr; }

std::string explain_hardware_event(const std::string& name) {
  const HardwareEvent* event = find_event(name);
  int error = event == nullptr ? EINVAL : try_to_count(event->config);
  if (error == 0)
    return "-e " + name + ": ticks stand for CPU time, not yet for hardware events; use -e cpu-clock";
  if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV)
    return "-e " + name + ": this machine has no PMU that counts it (perf_event_open: " + error_name(error) +
           ", usual in a virtual machine); use -e cpu-clock";
  Refusal refusal = explain_refusal(error);
  return "-e " + name + ": " + refusal.reason + "; " +
         (refusal.remedy.empty() ? "use -e cpu-clock" : refusal.remedy);
}

}  // namespace pctally
