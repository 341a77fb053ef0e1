// Do the CPU timers of this kernel fire? Some have been released on which they do not.
#pragma once
#include "base/result.h"

namespace pctally {

/// Arms a CPU timer of this process and uses CPU time until it fires: on average half a kernel tick, at most
/// 50 ms. ENOTSUP if it does not; EAGAIN if there is no timer.
Result<void> test_cpu_timer() noexcept;

}  // namespace pctally
