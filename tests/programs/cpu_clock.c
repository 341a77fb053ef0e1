/* cpu_clock SECONDS: uses so much CPU time and prints the largest step, in microseconds, that nine of ten
 * changes of the process's own CPU clock stay below. */
#include "spin.h"

#include <stdio.h>

static int compare(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  static uint64_t steps[1 << 20];
  double seconds = argc > 1 ? atof(argv[1]) : 0.5;
  uint64_t last = now_ns(CLOCK_PROCESS_CPUTIME_ID), value = 0;
  size_t count = 0;
  for (uint64_t end = last + (uint64_t)(seconds * 1e9); last < end && count < sizeof steps / sizeof *steps;) {
    value = turn(20, value);
    uint64_t now = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (now != last) steps[count++] = now - last;
    last = now;
  }
  if (count == 0) return 1;
  qsort(steps, count, sizeof *steps, compare);
  printf("%.1f\n", (double)steps[count * 9 / 10] / 1e3);
  return (int)(value & 0);
}
