#include "base/kernel/perf_event.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace pctally {

UniqueFd open_perf_event(const perf_event_attr& attributes, pid_t tid, int cpu,
                         unsigned long flags) noexcept {
  constexpr int kNoGroup = -1;
  flags |= PERF_FLAG_FD_CLOEXEC;
  return UniqueFd(static_cast<int>(syscall(SYS_perf_event_open, &attributes, tid, cpu, kNoGroup, flags)));
}

}  // namespace pctally
