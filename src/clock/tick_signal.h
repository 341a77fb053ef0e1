// The real-time signal on which timers deliver ticks, and its handler.
//
// Never SIGPROF, which belongs to the applications. An ordinary tick makes no system call;
// docs/signal-safety.md lists the cases in which the handler does.
#pragma once
#include <signal.h>

#include "base/status.h"
#include "clock/thread_record.h"
#include "tick/publication.h"

namespace pctally {

/// Where the ticks of one clock's timers go. A timer finds it by its number within its thread's record.
class TickSlot {
 public:
  /// Ticks go to `tables`, which must outlive the process: a signal on its way may still use them after
  /// release(). Errors: EAGAIN (no slot or free signal left).
  Status claim(PublishedTables* tables, uint64_t period_ns, uint32_t first_weight) noexcept
      REQUIRES(g_threads);

  /// The handler stays, so that a signal still on its way does no harm.
  void release() noexcept;

  [[nodiscard]] bool claimed() const noexcept { return index_ != kMostClocks; }
  [[nodiscard]] unsigned index() const noexcept { return index_; }

  /// Takes a signal early. A thread that blocks all signals when it needs one would find none free: a child
  /// of fork(2), and the holder of a ThreadsLock.
  static void reserve_signal() noexcept REQUIRES(g_threads);

  /// The signal in use by all timers of the process, 0 if none.
  static int signal_number() noexcept;

  /// True if the signal is taken and its handler is not ours any more.
  static bool stolen() noexcept;

  /// To be called where the kernel refuses the signal (qemu-user has no use for the uppermost ones): takes a
  /// lower one. False if there is none, or timers on this one exist.
  static bool go_lower() noexcept REQUIRES(g_threads);

  /// A timer on the signal exists: go_lower() is past.
  static void prove_signal() noexcept REQUIRES(g_threads);

 private:
  unsigned index_ = kMostClocks;
};

/// A thread ends, having used `cpu_ns`: what its timer on `clock` has not booked goes into its pot.
void book_rest(const ThreadRecord& record, unsigned clock, uint64_t cpu_ns) noexcept;

/// The clock's period; 0 if none runs there.
uint64_t period_of(unsigned clock) noexcept;

/// What the program does with signals of this number that are not ticks: it believes it has the signal to
/// itself. `action` and `before` may be null. False if `signal` is not in use for ticks.
bool exchange_program_action(int signal, const struct sigaction* action, struct sigaction* before) noexcept;

/// Signals of this number that carry `value` call `work` in the handler.
void on_signal_with(void* value, void (*work)() noexcept) noexcept;

}  // namespace pctally
