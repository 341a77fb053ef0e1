// Engine "timer", the part inside the program: one CPU-time POSIX timer of the process on a free real-time
// signal.
#pragma once
#include "clock/tick_signal.h"

namespace pctally {

/// One timer that delivers ticks to one set of tables. Several may run in a process at once, each at its own
/// period, all on the same signal. Calls on one timer under the caller's lock; none from a signal handler.
class ProcessTimer {
 public:
  /// How many may run at once.
  static constexpr unsigned kMost = TickSlot::kMost;

  /// Ticks go to `tables`, which must outlive the process: a signal on its way may still look at them after
  /// stop(). The first delivery weighs `first_weight` ticks if that is more than it brings. Errors: EBUSY
  /// (running already), EAGAIN (no timer, slot or free signal left), ENOSYS.
  Result<void> start(PublishedTables* tables, uint64_t period_ns, uint64_t first_ns,
                     uint32_t first_weight = 0) noexcept;

  /// Deletes the timer. The handler stays, so that a signal still on its way does no harm.
  void stop() noexcept;

  /// In the child of a fork, which inherits the handler and no timer.
  void forget() noexcept;

  [[nodiscard]] bool running() const noexcept { return slot_.claimed(); }

  /// False if the program has taken the signal. Async-signal-safe.
  [[nodiscard]] static bool intact() noexcept { return !TickSlot::stolen(); }

 private:
  Result<void> arm(uint64_t period_ns, uint64_t first_ns) noexcept;

  int timer_ = 0;
  TickSlot slot_;
};

/// What the timer's expiries are tied to: the kernel's tick, in nanoseconds (10^9 / CONFIG_HZ), measured.
uint64_t kernel_tick_ns() noexcept;

}  // namespace pctally
