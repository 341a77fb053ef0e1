// Engine "thread-timer", the part inside the program: a CPU-time POSIX timer for each thread.
//
// It leaves the process's own CPU clock alone, which a process timer makes coarse: for programs that time
// themselves by clock(3). Threads that come and go between two looks at the list of threads are not sampled.
#pragma once
#include "base/mapped_array.h"
#include "clock/side_thread.h"
#include "clock/tick_signal.h"

namespace pctally {

/// Calls on one object under the caller's lock; none from a signal handler. Never destroyed while it runs.
class ThreadTimers {
 public:
  constexpr ThreadTimers() noexcept : timers_() {}
  ~ThreadTimers() {}
  ThreadTimers(const ThreadTimers&) = delete;
  ThreadTimers& operator=(const ThreadTimers&) = delete;

  /// Ticks go to `tables`, which must outlive the process, from threads that run and from those to come. A
  /// thread met for the first time gets the ticks of its time so far in its first one. Errors: EBUSY (running
  /// already), EAGAIN (no timer, slot, thread or free signal left), ENOSYS, ENOENT (no /proc).
  Result<void> start(PublishedTables* tables, uint64_t period_ns) noexcept;

  void stop() noexcept;

  /// In the child of a fork, which has neither the timers nor the helper.
  void forget() noexcept;

  [[nodiscard]] bool running() const noexcept { return slot_.claimed(); }

 private:
  struct ThreadTimer {
    pid_t thread;
    int timer;  ///< -1: no timer was to be had
    bool seen;
  };

  static uint64_t look(void* self) noexcept;
  Result<void> adopt(bool newborn) noexcept;
  int arm(pid_t thread, bool newborn) noexcept;
  void drop_unseen() noexcept;
  void change_signal() noexcept;

  union {
    MappedArray<ThreadTimer> timers_;
  };
  SideThread helper_;
  TickSlot slot_;
  uint64_t period_ns_ = 0;
  pid_t own_thread_ = 0;  ///< the helper: not sampled
  unsigned armed_ = 0;
  unsigned most_ = 0;  ///< a quarter of RLIMIT_SIGPENDING: the rest is the program's
  uint64_t looked_ns_ = 0;
  uint64_t interval_ns_ = 0;
};

}  // namespace pctally
