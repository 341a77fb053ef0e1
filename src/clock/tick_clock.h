// The clock behind a profile of this process: one of the engines that run in the program, chosen by what is
// asked for and what works here.
#pragma once
#include "clock/perf_trap.h"
#include "clock/thread_timers.h"

namespace pctally {

enum class ClockKind : unsigned char { kNone, kTimer, kTrap };

/// "timer", "trap"; "manual" for kNone: ticks then come from pctally_count() alone.
const char* clock_name(ClockKind kind) noexcept;

/// The kind of that name into *kind; false if there is none. "thread-timer" is an older name of "timer".
bool clock_of(const char* name, ClockKind* kind) noexcept;

/// The granularity that the ticks of a kind fall on: the kernel's tick, or 0 if there is none.
uint64_t tick_grid_ns(ClockKind kind) noexcept;

/// The signal that brings the ticks of a kind that runs; 0 for kNone.
int clock_signal(ClockKind kind) noexcept;

/// PCTALLY_ENGINE if it names a kind; else `usual`.
ClockKind chosen_clock(ClockKind usual) noexcept;

struct ClockPlan {
  ClockKind kind;
  uint64_t period_ns;  ///< CPU time per tick; REQUIRES: > 0
  Pace pace = Pace::kRandomised;
  bool insist = false;  ///< fail if `kind` does not work here, instead of taking the timer
  /// The process is observed from its beginning to its end. Its main thread's timer cannot see the time after
  /// the last kernel tick, so the first tick counts as at least one full kernel tick: the sum is right on the
  /// average. (Other threads are exact: clock/thread_pots.h.)
  bool whole_life = false;
};

/// A value without allocation, usable in static storage. Calls on one clock under the caller's lock; none
/// from a signal handler.
class TickClock {
 public:
  /// Ticks go to `tables`, which must outlive the process; those of the timer at a random phase. Where the
  /// plan's kind does not work the timer runs instead, unless the plan insists. Errors: those of the kinds.
  Status start(PublishedTables* tables, const ClockPlan& plan) noexcept;

  /// On return nothing ticks; a tick that is in its handler already may still count until the
  /// tables are withdrawn.
  void stop() noexcept;

  /// In the child of a fork: nothing ticks there yet. Starts again as planned, where that works; a child that
  /// blocks SIGTRAP gets the timer.
  Status restart(Descriptors descriptors = Descriptors::kCopied) noexcept;

  /// Threads that the clock does not know yet tick from now on.
  void adopt_threads() noexcept { timer_.adopt_threads(); }

  /// False if the program has taken away what brings the ticks. Async-signal-safe.
  [[nodiscard]] bool intact() const noexcept;

  /// Goes on with what the program has not taken: the timer in place of a trap, another signal in place of
  /// the timer's. Async-signal-safe, if no other call on this clock is under way. Errors: EBUSY (not at this
  /// moment; nothing has changed), those of the timer; nothing runs then.
  Status replace() noexcept;

  /// In the child of a fork that does not go on: lets go of what it has copies of.
  void forget(Descriptors descriptors = Descriptors::kCopied) noexcept;

  [[nodiscard]] bool running() const noexcept { return kind_ != ClockKind::kNone; }

  /// What really runs: kNone if nothing does.
  [[nodiscard]] ClockKind kind() const noexcept { return kind_; }

  /// True if something else ran before replace().
  [[nodiscard]] bool replaced() const noexcept { return replaced_; }

 private:
  Status begin(ClockKind kind) noexcept;
  Status start_kind(ClockKind kind) noexcept;

  PublishedTables* tables_ = nullptr;
  ClockPlan plan_{};
  ClockKind kind_ = ClockKind::kNone;
  bool replaced_ = false;
  ThreadTimers timer_;
  PerfTrap trap_;
};

}  // namespace pctally
