#include "perf/stack_room.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "base/kernel/kernel_setting.h"

namespace pctally {
namespace {

constexpr uint64_t kSteadyRing = 4 << 20;    ///< 128 stacks: 64 ms at 1 kHz until it is half full
constexpr uint64_t kBurstRing = 32 << 20;    ///< 1,000 stacks: page faults of a program's start
constexpr uint64_t kBurstRings = 256 << 20;  ///< of all CPUs
constexpr uint64_t kSmallestRing = 64 << 10;
constexpr uint64_t kRecordRing = 65 * 4096;  ///< a second ring on each CPU, without ticks

uint64_t cpus() { return static_cast<uint64_t>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF))); }

/// What each CPU's ring may take, with its first page. Root locks as much as it likes.
uint64_t share_of_cpu() {
  rlimit limit{};
  if (geteuid() == 0 || getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return UINT64_MAX;
  const long kib = kernel_setting("/proc/sys/kernel/perf_event_mlock_kb", 0);
  const uint64_t of_each = kib > 0 ? static_cast<uint64_t>(kib) << 10 : 0;
  const uint64_t share = of_each + limit.rlim_cur / cpus();
  return share > kRecordRing ? share - kRecordRing : 0;
}

/// CPU time comes at a known rate, other events in bursts.
uint64_t useful_bytes(const Event& event) {
  uint64_t bytes = event.is_cpu_time() ? kSteadyRing : kBurstRing;
  while (bytes > kSteadyRing && bytes * cpus() > kBurstRings) bytes /= 2;
  return bytes;
}

}  // namespace

void choose_stack_room(PerfSettings* settings) {
  const uint64_t share = share_of_cpu();
  uint64_t bytes = useful_bytes(settings->event);
  while (bytes > kSmallestRing && bytes + 4096 > share) bytes /= 2;
  settings->ring_pages = static_cast<uint32_t>(bytes / static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
  settings->stack_bytes = std::min(kLargestStackCopy, static_cast<uint32_t>(bytes / kStacksInARing));
}

}  // namespace pctally
