// Looks now and then whether a clock's ticks can still come, by a timer and a signal of its own: whoever took
// the clock's signal or closed its descriptors has rarely taken these, too.
#pragma once
#include "base/result.h"

namespace pctally {

/// One per process. Calls under the caller's lock; none from a signal handler, or from the look.
class ClockWatch {
 public:
  /// In a signal handler; never two at a time.
  using Look = void (*)() noexcept;

  /// Which CPU time passes between two looks: a timer on the process's makes its clock() coarse.
  enum class Clock : unsigned char { kProcess, kMainThread };

  /// Looks every sixteen kernel ticks of CPU time. Errors: EBUSY (one is running), EAGAIN (no free signal or
  /// timer left).
  static Result<void> start(Clock clock, Look look) noexcept;

  /// On return nothing looks, nor will.
  static void stop() noexcept;

  /// In the child of a fork, which inherits the handler and no timer.
  static void forget() noexcept;
};

}  // namespace pctally
