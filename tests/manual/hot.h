// Two functions of which every byte is known: each has a section of its own, and calls nothing.
#pragma once
#include <stdint.h>

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

/// Runs a function for so much CPU time of the calling thread; the clock is looked at once a millisecond.
void run_hot(void (*hot)(uint64_t), uint64_t ns);

}  // namespace pctally::manual
