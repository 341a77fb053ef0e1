#include "tests/manual/hot.h"

#include "tests/manual/turns.h"

// Made by the linker around a section with a C name.
extern "C" const char __start_hot_text_a[], __stop_hot_text_a[], __start_hot_text_b[], __stop_hot_text_b[];

namespace pctally::manual {

[[gnu::noinline, gnu::section("hot_text_a"), gnu::aligned(64)]] void hot_a(uint64_t turns) {
  for (; turns > 0; --turns) asm volatile("" : "+r"(turns));
}

[[gnu::noinline, gnu::section("hot_text_b"), gnu::aligned(64)]] void hot_b(uint64_t turns) {
  for (; turns > 0; --turns) asm volatile("" : "+r"(turns));
}

Text text_of_hot_a() {
  return {reinterpret_cast<uintptr_t>(__start_hot_text_a), reinterpret_cast<uintptr_t>(__stop_hot_text_a)};
}
Text text_of_hot_b() {
  return {reinterpret_cast<uintptr_t>(__start_hot_text_b), reinterpret_cast<uintptr_t>(__stop_hot_text_b)};
}

void run_hot(void (*hot)(uint64_t), uint64_t ns) {
  for (Turns turns(ns); turns.next();) hot(1'000'000);
}

}  // namespace pctally::manual
