// CPU time of a thread, spent so that the kernel's ticks meet it whatever runs beside it.
#pragma once
#include <stdint.h>
#include <time.h>

#include <random>

namespace pctally::manual {

inline uint64_t cpu_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}
inline uint64_t thread_cpu_ns() { return cpu_ns(CLOCK_THREAD_CPUTIME_ID); }
inline uint64_t process_cpu_ns() { return cpu_ns(CLOCK_PROCESS_CPUTIME_ID); }

/// What a host held the CPU for in turns of the calling thread without saying so: it is charged to the
/// thread, and brings trap no ticks.
inline thread_local uint64_t t_held_ns = 0;

/// Turns of work until the calling thread has used `ns` of CPU time. Two busy threads on one CPU take turns
/// of 2 ms each; with a kernel tick every 4 ms one of them has every tick and the other none, for seconds. So
/// the thread sleeps now and then, for a random time.
class Turns {
 public:
  explicit Turns(uint64_t ns) : until_(thread_cpu_ns() + ns), sleep_(thread_cpu_ns() + kBetweenSleeps) {}

  /// Whether there is CPU time left.
  [[gnu::noinline]] bool next() {
    const uint64_t now = thread_cpu_ns();
    if (now - last_ > kHeldNs) t_held_ns += now - last_;
    last_ = now;
    if (now >= until_) return false;
    if (now >= sleep_) {
      const timespec time{0, std::uniform_int_distribution<long>(0, 4'000'000)(random_)};
      nanosleep(&time, nullptr);
      sleep_ = now + kBetweenSleeps;
    }
    return true;
  }

 private:
  static constexpr uint64_t kBetweenSleeps = 10'000'000;
  static constexpr uint64_t kHeldNs = 20'000'000;  // a turn takes less than a tenth of it

  uint64_t until_, sleep_, last_ = thread_cpu_ns();
  std::minstd_rand random_{static_cast<uint32_t>(cpu_ns(CLOCK_MONOTONIC))};
};

}  // namespace pctally::manual
