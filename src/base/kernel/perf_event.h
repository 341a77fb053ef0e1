// The one call of perf_event_open(2): attributes in, a descriptor or errno out. What the errno means to a
// user is said elsewhere (perf/refusal.h).
#pragma once
#include <linux/perf_event.h>
#include <sys/types.h>

#include "base/unique_fd.h"

namespace pctally {

/// Opens an event of its own group for thread `tid` (0: the caller, -1: every thread) on `cpu`
/// (-1: any). With the flag PERF_FLAG_PID_CGROUP `tid` is the descriptor of a control group's
/// directory. The descriptor is closed by exec(2). Not valid, with errno of perf_event_open(2), if
/// the kernel refuses. Async-signal-safe.
[[nodiscard]] UniqueFd open_perf_event(const perf_event_attr& attributes, pid_t tid, int cpu,
                                       unsigned long flags = 0) noexcept;

}  // namespace pctally
