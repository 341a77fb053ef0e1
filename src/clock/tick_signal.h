// The real-time signal on which timers deliver ticks, and its handler.
//
// Never SIGPROF, which belongs to the applications. The handler calls nothing but the tick, and does no
// system call unless it has to open the mask of a thread that blocks SIGSEGV.
#pragma once
#include <signal.h>
#include <sys/types.h>

#include "base/result.h"
#include "tick/publication.h"

namespace pctally {

/// Where the ticks of some timers of this process go. Given to each timer as the value its signals carry.
class TickSlot {
 public:
  /// How many may be in use at once.
  static constexpr unsigned kMost = 16;

  /// Ticks go to `tables`, which must outlive the process: a signal on its way may still look at them after
  /// release(). The first delivery weighs `first_weight` ticks if that is more than it brings. Errors: EAGAIN
  /// (no slot or free signal left).
  Result<void> claim(PublishedTables* tables, uint32_t first_weight = 0) noexcept;

  /// The handler stays, so that a signal still on its way does no harm.
  void release() noexcept;

  [[nodiscard]] bool claimed() const noexcept { return index_ != kMost; }

  /// Creates a timer (not yet set) on `clock` whose signals come to `thread`, or to any thread of the process
  /// if that is 0. Errors: EAGAIN, EINVAL (no such clock or thread), ENOSYS. REQUIRES: claimed().
  Result<int> create_timer(int clock, pid_t thread) const noexcept;

  /// Takes a signal now, for a child of fork(2) that may have all of them blocked and then needs one.
  static void reserve_signal() noexcept;

  /// The signal in use by all timers of the process, 0 if none.
  static int signal_number() noexcept;

  /// True if the signal is taken and its handler is not ours any more.
  static bool stolen() noexcept;

 private:
  unsigned index_ = kMost;
};

/// Installs `handler`, which lets faults through, on the highest real-time signal below `below` that nobody
/// uses. Errors: EAGAIN (none is free).
Result<int> take_free_signal(void (*handler)(int, siginfo_t*, void*), int below) noexcept;

/// timer_create(2), timer_settime(2) and timer_delete(2) by the kernel's own numbers, all async-signal-safe.
/// A timer's signals carry `value` and come to `thread`, or to any thread of the process if that is 0.
/// set_timer: 0 or an errno; with `absolute` a first expiry that has passed fires at once.
Result<int> create_cpu_timer(int clock, pid_t thread, int signal, void* value) noexcept;
int set_timer(int timer, uint64_t first_ns, uint64_t period_ns, bool absolute) noexcept;
void delete_timer(int timer) noexcept;

}  // namespace pctally
