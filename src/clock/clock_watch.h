// Periodically verifies that the trap's ticks can still come, by a CPU timer of the main thread on the
// timers' signal: a program that closes descriptors it does not know has closed the trap's, too.
#pragma once
#include "base/status.h"

namespace pctally {

/// One per process. Calls under the caller's lock; none from a signal handler, or from the check.
class ClockWatch {
 public:
  /// In a signal handler; never two at a time.
  using Check = void (*)() noexcept;

  /// Every sixteen kernel ticks of CPU time of the main thread. Errors: EBUSY (one is running), EAGAIN (no
  /// free signal or timer left).
  static Status start(Check check) noexcept;

  /// After it returns no check runs or starts.
  static void stop() noexcept;

  /// In the child of a fork, which inherits the handler and no timer.
  static void forget() noexcept;
};

}  // namespace pctally
