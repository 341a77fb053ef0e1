// Do the CPU timers of this kernel fire? Some have been released on which they do not.
#pragma once
#include "base/result.h"

namespace pctally {

/// Arms a CPU timer of this process before a kernel tick and uses CPU time until it fires. ENOTSUP
/// if it does not in six kernel ticks of undisturbed running (25 ms of a machine that is idle, 2 s of CPU
/// time at most); EAGAIN if there is no timer.
Result<void> test_cpu_timer() noexcept;

}  // namespace pctally
