/* gaps SECONDS: looks at the clock without a pause, on one CPU, and so notices whenever something else ran
 * there. Prints the quartiles, in nanoseconds, of the interruptions from 1 to 100 us, how many there were,
 * and the CPU nanoseconds it used. What an interruption does to the program's caches is not in it. */
#include "spin.h"

#include <sched.h>
#include <stdio.h>

enum { kShortestNs = 1000, kLongestNs = 100000, kMost = 1 << 20 };

static uint32_t g_gaps[kMost];

static int by_length(const void* a, const void* b) {
  uint32_t left = *(const uint32_t*)a, right = *(const uint32_t*)b;
  return (left > right) - (left < right);
}

int main(int argc, char** argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 1;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  size_t count = 0;
  uint64_t cpu = now_ns(CLOCK_THREAD_CPUTIME_ID), last = now_ns(CLOCK_MONOTONIC);
  uint64_t end = last + (uint64_t)(seconds * 1e9);
  while (last < end && count < kMost) {
    uint64_t now = now_ns(CLOCK_MONOTONIC), gap = now - last;
    if (gap >= kShortestNs && gap <= kLongestNs) g_gaps[count++] = (uint32_t)gap;
    last = now;
  }
  cpu = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
  if (count == 0) return 1;
  qsort(g_gaps, count, sizeof *g_gaps, by_length);
  printf("%u %u %u %zu %llu\n", g_gaps[count / 4], g_gaps[count / 2], g_gaps[count * 3 / 4], count,
         (unsigned long long)cpu);
  return 0;
}
