/* parts ROUNDS DOUBLED: four functions of like work, the second one DOUBLED times; then one that -O1 makes
 * slower than -O2. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define PART(name, shift)                                                                      \
  __attribute__((noinline)) static uint64_t name(uint64_t value) {                             \
    for (int i = 0; i < 100000; i++) value = (value ^ (value >> shift)) * 0x9E3779B97F4A7C15u; \
    return value;                                                                              \
  }
PART(first, 29)
PART(second, 31)
PART(third, 33)
PART(fourth, 30)

/* A loop with -O2, calls with -O1. */
__attribute__((noinline)) static uint64_t reduced(uint32_t left, uint64_t sum) {
  return left == 0 ? sum : reduced(left - 1, (sum ^ left) + left);
}

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? atol(argv[1]) : 1, doubled = argc > 2 ? atol(argv[2]) : 1;
  uint64_t value = 1;
  for (long i = 0; i < rounds; i++) {
    value = first(value);
    for (long j = 0; j < doubled; j++) value = second(value);
    value = fourth(third(value));
    if (argc > 3)
      for (int j = 0; j < 80; j++) value = reduced(10000, value);
  }
  printf("%llu\n", (unsigned long long)value);
  return 0;
}
