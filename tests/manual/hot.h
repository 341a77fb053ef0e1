// Two functions of which every byte is known: each has a section of its own, and calls nothing.
#pragma once
#include <stdint.h>

#include <atomic>
#include <thread>

namespace pctally::manual {

void hot_a(uint64_t turns);
void hot_b(uint64_t turns);

/// Where a function lies.
struct Text {
  uintptr_t start, end;
  [[nodiscard]] uint64_t bytes() const { return end - start; }
};
Text text_of_hot_a();
Text text_of_hot_b();

/// Runs a function for so much CPU time of the calling thread; the clock is read about once a millisecond.
void run_hot(void (*hot)(uint64_t), uint64_t ns);

/// Two threads at once, one in hot_a and one in hot_b: the first exists before `turn_on` is called, the
/// second is created after it. Each uses 0.3 s of CPU time.
template <class Call>
void run_two_threads(Call turn_on) {
  std::atomic<bool> on = false;
  std::thread older([&] {
    on.wait(false);
    run_hot(hot_a, 300'000'000);
  });
  turn_on();
  on = true;
  on.notify_one();
  std::thread newer([] { run_hot(hot_b, 300'000'000); });
  older.join(), newer.join();
}

}  // namespace pctally::manual
