// The threads of this process that CPU timers observe, and what each of their timers has booked.
//
//   1. Records lie in one mapping, made at the first use and never given back: a signal on its way may carry
//      the address of a timer in it. Nothing else in the process has such an address.
//   2. A record is taken and given back under g_threads, and its timers are created,
//      deleted and listed under that lock.
//   3. What a timer has booked is changed by its own thread alone: in the handler, and at the thread's end.
//   4. In the child of a fork the records are those of no thread: forget_threads() clears them.
#pragma once
#include <stdint.h>
#include <sys/types.h>

#include "base/mutex.h"

namespace pctally {

inline constexpr unsigned kMostClocks = 16;      ///< clocks (profiles) that can run at once in a process
inline constexpr unsigned kMostThreads = 16384;  ///< threads with a timer at once
inline constexpr int kNoTimer = -1;

/// How a timer's deliveries become ticks.
enum class Booking : uint8_t {
  kAsDelivered,  ///< one tick per expiry
  kFirstWeighs,  ///< the first delivery counts at least one kernel tick
  kByPot,        ///< exact from the thread's first to its last moment (thread_pots.h)
};

struct ThreadTimer {
  int32_t id;
  Booking booking;
  bool ticked;         ///< after the first delivery
  bool observed;       ///< it has, or had, a timer
  uint64_t booked_ns;  ///< CPU time of the thread that its deliveries stand for
  uint64_t left_ns;    ///< that the first tick left to the next (thread_pots.h)
};

/// Why a thread has no timer, or no ticks.
enum class Untimed : uint8_t { kNo, kSmallStack, kSeccomp, kLimit, kBlocked };
inline constexpr unsigned kUntimedReasons = 5;

struct ThreadRecord {
  pid_t thread;   ///< 0 until it runs
  uint32_t pot;   ///< of its start routine
  uint32_t next;  ///< in the list of free or adopted records, by index + 1
  Untimed untimed;
  uint64_t began_cpu_ns;  ///< CPU time it had used when it was first observed
  bool hooked;            ///< takes itself out at its end; the others are only known from /proc
  bool used;
  uint64_t stack_bytes;  ///< that the thread was given; 0: not known
  void* (*routine)(void*);
  void* argument;
  ThreadTimer timers[kMostClocks];
};

/// A signal handler takes it only if held_by_this_thread() says no: it may have interrupted the holder.
extern Mutex g_threads;

/// In the child of a fork, before anything else of this header. False if it has been called there before, or
/// records have been taken since.
bool forget_threads() noexcept;

/// A record without timers; null if all are in use or there is no memory.
ThreadRecord* take_thread_record() noexcept REQUIRES(g_threads);
void give_back(ThreadRecord* record) noexcept REQUIRES(g_threads);

/// All records ever taken, in use or not.
ThreadRecord* thread_records() noexcept REQUIRES(g_threads);
unsigned thread_record_count() noexcept REQUIRES(g_threads);

/// The timer whose address a signal carries, its number among the record's in *clock; null if it is none
/// of ours. Async-signal-safe.
ThreadTimer* thread_timer_at(void* address, unsigned* clock, ThreadRecord** record) noexcept;

}  // namespace pctally
