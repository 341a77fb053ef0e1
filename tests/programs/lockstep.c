/* lockstep CYCLE_US SECONDS: always busy, in step with the clock: the first 30 % of every cycle in phase_a,
 * the rest in phase_b. A sampler in step with it sees one of them only. */
#include "spin.h"

#include <stdio.h>

#if defined(__x86_64__)
#include <x86intrin.h>
static inline uint64_t counter(void) { return __rdtsc(); }
#else
static inline uint64_t counter(void) { return now_ns(CLOCK_MONOTONIC); }
#endif

static double counts_per_ns(void) {
  uint64_t ns = now_ns(CLOCK_MONOTONIC), count = counter();
  while (now_ns(CLOCK_MONOTONIC) < ns + 20000000) {
  }
  return (double)(counter() - count) / (double)(now_ns(CLOCK_MONOTONIC) - ns);
}

__attribute__((noinline)) void phase_a(uint64_t until) {
  while (counter() < until) turn(20, 0);
}

__attribute__((noinline)) void phase_b(uint64_t until) {
  while (counter() < until) turn(20, 1);
}

int main(int argc, char** argv) {
  double cycle_us = argc > 1 ? atof(argv[1]) : 1000, seconds = argc > 2 ? atof(argv[2]) : 1;
  double rate = counts_per_ns();
  double cycle = cycle_us * 1e3 * rate;
  uint64_t start = counter();
  uint64_t cycles = (uint64_t)(seconds * 1e6 / cycle_us);
  uint64_t in_a = 0, before = now_ns(CLOCK_THREAD_CPUTIME_ID);
  for (uint64_t i = 0; i < cycles; ++i) {
    phase_a(start + (uint64_t)(((double)i + 0.3) * cycle));
    uint64_t between = now_ns(CLOCK_THREAD_CPUTIME_ID);
    phase_b(start + (uint64_t)((double)(i + 1) * cycle));
    in_a += between - before;
    before = now_ns(CLOCK_THREAD_CPUTIME_ID);
  }
  printf("%.4f\n", (double)in_a / (double)before);
  return 0;
}
