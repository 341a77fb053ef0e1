// A dialect's profile of this process: the published regions and the clock that brings ticks.
//
// Does not know what a call's arguments mean (one file per manual page does) nor where a pc is
// counted (tick/ does).
#pragma once
#include <span>

#include "base/call_lock.h"
#include "base/file/mapped_array.h"
#include "base/immortal.h"
#include "base/status.h"
#include "clock/tick_clock.h"
#include "tick/publication.h"

namespace pctally {

/// The lock of all dialects. Hold it, as a SessionsLock, from the first read of a session's state to the last
/// change of it: the pages' calls are system calls, so a handler that interrupts one may make another.
extern Mutex g_sessions_mutex;

/// Holds it from here to the end of the block. A child that no handler of fork(2) has seen, for it came by
/// _Fork(3) or the bare clone(2), goes on from here as after fork(2).
class SCOPED_CAPABILITY SessionsLock {
 public:
  SessionsLock() noexcept ACQUIRE(g_sessions_mutex);
  ~SessionsLock() RELEASE();
  SessionsLock(const SessionsLock&) = delete;
  SessionsLock& operator=(const SessionsLock&) = delete;

 private:
  CallLock lock_;
};

/// True in the child of a vfork(2), which runs in its parent's memory: each call answers there as it would,
/// and changes nothing.
[[nodiscard]] bool answers_only() noexcept;

/// What a session counts. The regions are copied by start(). Their cells are the caller's; ticks raise them
/// until the session is stopped or replaced.
struct SessionPlan {
  std::span<const Region> regions;  ///< ascending by low; `reach` need not be set
  const Region* overflow = nullptr;
  /// CPU time of the process per tick; 0: no clock, only tick_sessions() brings ticks. Below the kernel's own
  /// tick the clock is the trap, where that works (clock/tick_clock.h).
  uint64_t period_ns = 0;
};

/// One per dialect, in static storage (`constinit Session g_session("svr4");`): a signal handler may
/// read it at any time until the process ends. Allocates by mmap only.
///
/// After fork(2) it is on in both processes, each with its own clock. Buffers in private memory have counts
/// of their own; exec(2) ends the session.
class Session {
 public:
  constexpr explicit Session(const char* system) noexcept : system_(system) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Turns the profile on, or replaces the plan: no tick falls between the two plans, and on return no
  /// tick uses the old buffers. On an error nothing has changed, except that EAGAIN for a new period
  /// leaves the profile off; and in lent memory (answers_only()). Errors: EINVAL (regions out of order),
  /// ENOMEM, EAGAIN (no timer, session or free signal left).
  Status start(const SessionPlan& plan) noexcept REQUIRES(g_sessions_mutex);

  /// Turns the profile off. On return no tick is in flight: the buffers are the caller's again. Does nothing
  /// in lent memory.
  void stop() noexcept REQUIRES(g_sessions_mutex);

  /// Started, not stopped, and not ended by a tick (a counter at SVR4's limit; a fault in the last buffer).
  [[nodiscard]] bool on() const noexcept;

  /// The account of this session's ticks since it was last turned on.
  [[nodiscard]] const Ledger& ledger() const noexcept { return ledger_; }

  /// The name of its folder in pctally/compat/.
  [[nodiscard]] const char* system() const noexcept { return system_; }

  /// The kind of its clock; kNone if it has none.
  [[nodiscard]] ClockKind clock() const noexcept REQUIRES(g_sessions_mutex) { return clock_.kind(); }

  [[nodiscard]] uint64_t period_ns() const noexcept REQUIRES(g_sessions_mutex) { return period_ns_; }

 private:
  friend bool tick_sessions(uint64_t pc, uint64_t weight) noexcept;
  friend void rearm_sessions(Descriptors descriptors) noexcept REQUIRES(g_sessions_mutex);
  friend void watch_clocks() noexcept REQUIRES(g_sessions_mutex);
  friend void mend_clocks() noexcept;

  /// What a published table points to. There are two: the one that is published never changes.
  struct Side {
    Immortal<MappedArray<Region>> regions;
    Immortal<MappedArray<uint32_t>> faulted;  ///< one per region and one for the overflow cell
    Region overflow{};
    uint32_t stopped = 0;
  };

  static bool fill(Side& side, const SessionPlan& plan) noexcept;
  RegionTable table_of(Side& side, bool has_overflow) noexcept;
  Status keep_time(uint64_t period_ns) noexcept REQUIRES(g_sessions_mutex);
  void mend_clock() noexcept REQUIRES(g_sessions_mutex);

  const char* system_;
  PublishedTables tables_{};
  Side sides_[2];
  unsigned side_in_use_ = 0;
  uint64_t period_ns_ GUARDED_BY(g_sessions_mutex) = 0;
  TickClock clock_ GUARDED_BY(g_sessions_mutex){};
  uint64_t ticks_at_last_check_ GUARDED_BY(g_sessions_mutex) = 0;
  Ledger ledger_{};
};

/// The session of a system; null if it was never on.
const Session* session_of(const char* system) noexcept;

/// Delivers a tick to every session that is on, by the path of a clock tick. Returns false if none is on, be
/// it that a tick has turned it off. Any thread, any signal handler.
bool tick_sessions(uint64_t pc, uint64_t weight) noexcept;

/// True behind a seccomp filter of the program's, which may kill for what we do at the end of the process.
[[nodiscard]] bool ends_behind_filter() noexcept;

/// The clock of the session that was turned on last; false if none ever was. Any thread.
bool last_session_clock(ClockKind* kind) noexcept;

}  // namespace pctally
