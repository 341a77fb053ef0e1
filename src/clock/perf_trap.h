// Engine "trap", the part inside the program: a perf task-clock event per thread whose overflow is a SIGTRAP
// of that thread.
//
// It needs perf_event_open(2) for its own user mode, and Linux 6.1: before, a thread that blocks SIGTRAP
// was killed by it. One event and descriptor per thread that exists at the start; threads made later, by
// whatever means, inherit. Kernel mode is not seen: an event that ticks there could reach the next
// program across exec(2).
#pragma once
#include "base/file/mapped_array.h"
#include "base/immortal.h"
#include "base/status.h"
#include "tick/publication.h"

namespace pctally {

/// How the distance of two ticks relates to the period asked for.
enum class Pace : unsigned char {
  kAsGiven,    ///< every tick after exactly the period, which the caller has drawn
  kRandomised  ///< the mean is the period; no program is in step with it
};

/// What a child has of its parent's descriptors.
enum class Descriptors { kCopied, kPerhapsShared };

/// Ticks for one set of tables from all threads. Several may run in a process at once. Calls on one trap
/// under the caller's lock; none from a signal handler.
///
/// Pace::kRandomised: the events run at a period of their own, drawn uniformly from 85 % to 99 % of the one
/// asked for (among those that walk over the usual cycles, base/kernel/period.h), and each tick is kept by an
/// independent draw with the probability drawn / asked. So the mean is exact, every thread's events are
/// alike, inherited ones too, and nothing but the tick itself happens in the handler.
class PerfTrap {
 public:
  /// How many may run at once.
  static constexpr unsigned kMost = 16;

  constexpr PerfTrap() noexcept = default;
  PerfTrap(const PerfTrap&) = delete;
  PerfTrap& operator=(const PerfTrap&) = delete;

  /// Ticks go to `tables`, which must outlive the process. Errors, with nothing left armed: EBUSY (running
  /// already, or a debugger is attached, which would stop at every tick), EACCES, EPERM, ENOSYS (perf is
  /// refused), EAGAIN (SIGTRAP is blocked in this thread or out of handlers), EMFILE.
  Status start(PublishedTables* tables, uint64_t period_ns, Pace pace) noexcept;

  /// On return no event runs. The handler stays, for a signal still on its way.
  void stop() noexcept;

  /// In the child of a fork, which has no event, and copies of the descriptors: closes them. A child of the
  /// bare clone(2) may share them with its parent: they stay.
  void forget(Descriptors descriptors) noexcept;

  [[nodiscard]] bool running() const noexcept { return slot_ != kMost; }

  /// False if the program has taken SIGTRAP or closed the first event's descriptor.
  /// Async-signal-safe. REQUIRES: running().
  [[nodiscard]] bool intact() const noexcept;

  /// Why start() would be refused here, found without leaving anything behind.
  static Status probe() noexcept;

 private:
  /// An event we hold the descriptor of.
  struct Root {
    int fd;
    uint64_t id;  ///< tells whether the descriptor is still ours: programs close what they do not know
  };

  Status open_roots(uint64_t period_ns) noexcept;
  Status open_round(uint64_t period_ns, MappedArray<int>* threads, bool* complete) noexcept;
  void close_roots() noexcept;

  Immortal<MappedArray<Root>> roots_;  ///< freed by stop()
  unsigned slot_ = kMost;
};

}  // namespace pctally
