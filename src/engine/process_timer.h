// Engine "timer", the part inside the program: one CPU-time POSIX timer of the process on a free real-time
// signal.
//
// Never SIGPROF, which belongs to the applications. The handler does no system call and calls nothing but the
// tick.
#pragma once
#include "base/result.h"
#include "tick/publication.h"

namespace pctally {

/// One per process; all functions under the caller's lock, none from a signal handler.
class ProcessTimer {
 public:
  /// Ticks go to `tables`, which must outlive the process. Errors: EAGAIN (no timer left, no free signal),
  /// ENOSYS.
  static Result<void> start(PublishedTables* tables, uint64_t period_ns, uint64_t first_ns) noexcept;

  /// Deletes the timer. The handler stays, so that a signal still on its way does no harm.
  static void stop() noexcept;

  /// In the child of a fork, which inherits the handler and no timer.
  static Result<void> restart(uint64_t period_ns, uint64_t first_ns) noexcept;

  /// The signal in use, 0 if none.
  static int signal_number() noexcept;
};

/// What the timer's expiries are tied to: the kernel's tick, in nanoseconds (10^9 / CONFIG_HZ), measured.
uint64_t kernel_tick_ns() noexcept;

}  // namespace pctally
