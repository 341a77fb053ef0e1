// Do the CPU timers of this kernel fire? Some have been released on which they do not.
#pragma once
#include "base/status.h"

namespace pctally {

/// Uses CPU time until a tick comes, in the calling thread and, while that waits, in a second one that makes
/// its timer itself: each tick has to come to the thread that runs. ENOTSUP if one does not in six kernel
/// ticks of undisturbed running (25 ms of a machine that is idle, 2 s of CPU time at most); EAGAIN if there
/// is no timer.
Status test_cpu_timer() noexcept;

}  // namespace pctally
