// POSIX timers on CPU clocks by the kernel's own calls, all async-signal-safe.
#pragma once
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

namespace pctally {

/// Creates a timer, not yet set, on the CPU clock of `thread` (of this process), which also gets its signals;
/// they carry `value`. Its number goes into *timer. Errors: EAGAIN (RLIMIT_SIGPENDING), EINVAL (no such
/// thread or signal), ENOSYS.
Status create_thread_timer(pid_t thread, int signal, void* value, int* timer) noexcept;

/// Fires after `first_ns` (at least 1) and then every `period_ns`. 0 or an errno.
int set_timer(int timer, uint64_t first_ns, uint64_t period_ns) noexcept;

void delete_timer(int timer) noexcept;

/// CPU time that `thread` of this process has used so far; 0 if there is no such thread.
uint64_t thread_cpu_ns(pid_t thread) noexcept;

}  // namespace pctally
