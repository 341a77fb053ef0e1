/* fixed_work MILLIONS: that many million turns of a loop, always the same. Prints the CPU nanoseconds they
 * took. */
#include "spin.h"

#include <stdio.h>

__attribute__((noinline)) uint64_t work(uint64_t value) { return turn(1000000, value); }

int main(int argc, char** argv) {
  long millions = argc > 1 ? atol(argv[1]) : 500;
  uint64_t before = now_ns(CLOCK_THREAD_CPUTIME_ID), value = 0;
  while (millions-- > 0) value = work(value);
  printf("%llu\n", (unsigned long long)(now_ns(CLOCK_THREAD_CPUTIME_ID) - before));
  return 0;
}
