// Times in whole nanoseconds, and what the kernel's structures make of them.
#pragma once
#include <stdint.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

namespace pctally {

inline constexpr uint64_t kNsPerSecond = 1000000000;

/// 73 years: what a file tells, and a sum, is cut to it, so that sums and differences of three fit 64 bits
/// with a sign.
inline constexpr uint64_t kLongestTimeNs = uint64_t{1} << 61;

inline uint64_t to_ns(const timespec& time) noexcept {
  return static_cast<uint64_t>(time.tv_sec) * kNsPerSecond + static_cast<uint64_t>(time.tv_nsec);
}
inline uint64_t to_ns(const timeval& time) noexcept {
  return static_cast<uint64_t>(time.tv_sec) * kNsPerSecond + static_cast<uint64_t>(time.tv_usec) * 1000u;
}
inline timespec to_timespec(uint64_t ns) noexcept {
  return {static_cast<time_t>(ns / kNsPerSecond), static_cast<long>(ns % kNsPerSecond)};
}
inline timeval to_timeval(uint64_t ns) noexcept {
  return {static_cast<time_t>(ns / kNsPerSecond), static_cast<suseconds_t>(ns % kNsPerSecond / 1000u)};
}

/// What poll(2) waits for: whole milliseconds, none left out; 12 days at most.
inline int to_poll_ms(uint64_t ns) noexcept {
  constexpr uint64_t kLongestMs = uint64_t{1} << 30;
  const uint64_t ms = ns / 1000000u + (ns % 1000000u != 0 ? 1 : 0);
  return static_cast<int>(ms < kLongestMs ? ms : kLongestMs);
}

/// Times of /proc/PID/stat and /proc/stat. Async-signal-safe.
inline uint64_t clock_ticks_to_ns(uint64_t ticks) noexcept {
  const long hertz = sysconf(_SC_CLK_TCK);
  return ticks * (kNsPerSecond / static_cast<uint64_t>(hertz > 0 ? hertz : 100));
}

/// CLOCK_MONOTONIC. Async-signal-safe.
inline uint64_t monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return to_ns(now);
}

/// CLOCK_REALTIME: since 1970. Async-signal-safe.
inline uint64_t realtime_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return to_ns(now);
}

/// Between two of the kernel's own ticks: its coarse clocks move once in each. 0 where it does not say.
/// Async-signal-safe.
inline uint64_t kernel_tick_ns() noexcept {
  timespec tick{};
  return clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0 ? to_ns(tick) : 0;
}

/// CPU time of the calling thread. Async-signal-safe.
inline uint64_t thread_cpu_ns() noexcept {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return to_ns(used);
}

/// Sleeps at most that long: a signal ends it early.
inline void sleep_ns(uint64_t ns) noexcept {
  timespec time = to_timespec(ns);
  nanosleep(&time, nullptr);
}

}  // namespace pctally
