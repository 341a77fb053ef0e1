// Engine "timer", the part inside the program: a CPU-time POSIX timer for each thread.
//
// The kernel delivers a timer's ticks to the thread whose time they are, on every kernel: no thread that
// waits is ever interrupted. Threads that run at the start get their timer from the caller; those to come
// make their own, where pthread_create(3) is ours (clock/thread_hook.h). The others have none until
// adopt_threads(), and their time before it is unsampled.
#pragma once
#include "clock/tick_signal.h"

namespace pctally {

/// Calls on one object under the caller's lock; none from a signal handler.
class ThreadTimers {
 public:
  struct Plan {
    uint64_t period_ns;
    uint32_t first_weight = 0;  ///< not 0: the process begins here, and its first delivery weighs so much
  };

  /// Ticks go to `tables`, which must outlive the process, from threads that run and from those to come.
  /// Errors: EBUSY (running already), EAGAIN (no timer, slot or free signal left), ENOSYS, ENOENT (no /proc).
  Status start(PublishedTables* tables, const Plan& plan) noexcept;

  /// Threads that began since and made no timer themselves get one now, as far as there is room.
  void adopt_threads() noexcept;

  /// Deletes the timers. The handler stays, so that a signal still on its way does no harm.
  void stop() noexcept;

  /// In the child of a fork, which inherits the handler and no timer.
  void forget() noexcept;

  /// The same whether or not a clock runs: of the parent's threads none is there, and one that was about to
  /// end may have held the lock.
  static void forget_parent() noexcept;

  [[nodiscard]] bool running() const noexcept { return slot_.claimed(); }

  /// False if the program has taken the signal. Async-signal-safe.
  [[nodiscard]] static bool intact() noexcept { return !TickSlot::stolen(); }

 private:
  Status adopt_all() noexcept REQUIRES(g_threads);
  void end() noexcept REQUIRES(g_threads);

  TickSlot slot_;
  Plan plan_{};
};

/// A record without timers; null if there is none left. When they are used up, records of threads that ended
/// by the bare exit(2) are taken back.
ThreadRecord* new_thread_record() noexcept REQUIRES(g_threads);

/// Makes the timers of the calling thread, whose record this is, for all clocks that run. Takes the lock.
/// REQUIRES: HandlersBlocked.
void begin_thread(ThreadRecord* record) noexcept;
/// Deletes them, and books the CPU time of the thread that they have not booked. Takes the lock.
void end_thread(ThreadRecord* record) noexcept;

/// Call it in the thread that ends the process. Notes the CPU time for which that thread had its ticks
/// blocked.
void end_process() noexcept;

/// CPU time of threads that no pthread_create(3) of ours has started and that have no timer for it, out of
/// `process_ns`: what the process has used since its first clock was started. A lower bound, by half a
/// millisecond per thread that has ended, and 5 ms.
[[nodiscard]] uint64_t unseen_start_ns(uint64_t process_ns) noexcept EXCLUDES(g_threads);

/// CPU time of threads without ticks, by the reason, since it was last asked for.
void note_untimed(Untimed why, uint64_t cpu_ns) noexcept;
uint64_t take_untimed_ns(Untimed why) noexcept;

}  // namespace pctally
