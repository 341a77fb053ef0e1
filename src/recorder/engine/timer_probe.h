// Finds out whether the CPU timers of this kernel fire: on some released kernels they do not.
#pragma once
#include "base/status.h"

namespace pctally {

/// Uses CPU time until a tick comes: in the calling thread, and then, while that waits, in a second one that
/// makes its timer itself. Each tick has to come to the thread that runs. Errors: ENOTSUP (none came in six
/// kernel ticks of undisturbed running, which take 25 ms on an idle machine and at most 2 s of CPU time),
/// EAGAIN (there is no timer).
Status probe_cpu_timer() noexcept;

}  // namespace pctally
