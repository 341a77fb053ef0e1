// CPU time of threads that no tick of their own has stood for: before a thread's first tick, after its last,
// or all of it where the kernel's tick never fell into it.
//
// Each start routine has a pot. What a thread leaves over goes into it, and the next tick of a thread with
// that routine counts as much more. So threads of any length add up exactly, and no tick weighs more for
// coming late in its own thread.
//
// Threads that do different things share a pot, because they have one start routine (that of std::thread).
// For each first tick among them, short and long threads leave over one kernel tick on average. So a first
// tick takes all that the pot has. A long thread has many later ticks, which would take what belongs to short
// threads. So a later tick takes only what its own thread's first tick left, or what the pot has above a few
// kernel ticks, for which no first tick comes.
#pragma once
#include <stdint.h>

namespace pctally {

class ThreadPots {
 public:
  static constexpr uint32_t kPots = 64;

  static uint32_t pot_of(const void* routine) noexcept {
    return static_cast<uint32_t>((reinterpret_cast<uintptr_t>(routine) * uint64_t{0x9e3779b97f4a7c15u}) >>
                                 58);
  }

  void clear() noexcept {
    for (long& owed_us : owed_us_) __atomic_store_n(&owed_us, 0, __ATOMIC_RELAXED);
  }

  /// `ns`: what a thread leaves over; negative: what its last tick claimed too much. Async-signal-safe.
  void add(uint32_t pot, int64_t ns) noexcept {
    __atomic_fetch_add(&owed_us_[pot], static_cast<long>((ns + (ns < 0 ? -500 : 500)) / 1000),
                       __ATOMIC_RELAXED);
  }

  /// Takes whole ticks: of what the pot has above `kept_ns`, or of `own_ns`, which the thread itself put in,
  /// if that is more. Returns how many: negative if the pot has less than nothing, but at least -`delivered`.
  /// Async-signal-safe.
  int64_t take(uint32_t pot, uint64_t period_ns, int64_t delivered, int64_t own_ns,
               int64_t kept_ns) noexcept {
    const int64_t owed_ns = int64_t{__atomic_exchange_n(&owed_us_[pot], 0, __ATOMIC_RELAXED)} * 1000;
    const int64_t most_ns = owed_ns - kept_ns > own_ns ? owed_ns - kept_ns : own_ns;
    int64_t ticks = (owed_ns < most_ns ? owed_ns : most_ns) / static_cast<int64_t>(period_ns);
    if (ticks < -delivered) ticks = -delivered;
    add(pot, owed_ns - ticks * static_cast<int64_t>(period_ns));
    return ticks;
  }

 private:
  long owed_us_[kPots];  // of a width every machine changes atomically
};

}  // namespace pctally
