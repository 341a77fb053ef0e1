/* gaps SECONDS [FRAMES [SHORTEST]]: looks at the clock without a pause, on one CPU, and so notices whenever
 * something else ran there. Prints the quartiles, in nanoseconds, of the interruptions from 1 to 100 us, how
 * many there were, and the CPU nanoseconds it used. What an interruption does to the program's caches is not
 * in it. FRAMES: it does so beneath so many calls more, of 16 functions in turn, with 96 bytes of stack each.
 * SHORTEST: of an interruption, in microseconds, where those of a virtual machine's host are to be left out.
 */
#include "spin.h"

#include <sched.h>
#include <stdio.h>

enum { kLongestNs = 100000, kMost = 1 << 20 };

static uint32_t g_gaps[kMost];
static uint64_t g_shortest_ns = 1000;

static int by_length(const void* a, const void* b) {
  uint32_t left = *(const uint32_t*)a, right = *(const uint32_t*)b;
  return (left > right) - (left < right);
}

static size_t look(double seconds) {
  size_t count = 0;
  uint64_t last = now_ns(CLOCK_MONOTONIC), end = last + (uint64_t)(seconds * 1e9);
  while (last < end && count < kMost) {
    uint64_t now = now_ns(CLOCK_MONOTONIC), gap = now - last;
    if (gap >= g_shortest_ns && gap <= kLongestNs) g_gaps[count++] = (uint32_t)gap;
    last = now;
  }
  return count;
}

typedef size_t level(double seconds, long frames);

#define LEVEL(name, next)                                                  \
  static level next;                                                       \
  static __attribute__((noipa)) size_t name(double seconds, long frames) { \
    char room[72];                                                         \
    __asm__ volatile("" : : "r"(room) : "memory");                         \
    size_t count = frames > 0 ? next(seconds, frames - 1) : look(seconds); \
    __asm__ volatile("" : "+r"(count)); /* not a tail call */              \
    return count;                                                          \
  }

LEVEL(level_0, level_1)
LEVEL(level_1, level_2)
LEVEL(level_2, level_3)
LEVEL(level_3, level_4)
LEVEL(level_4, level_5)
LEVEL(level_5, level_6)
LEVEL(level_6, level_7)
LEVEL(level_7, level_8)
LEVEL(level_8, level_9)
LEVEL(level_9, level_10)
LEVEL(level_10, level_11)
LEVEL(level_11, level_12)
LEVEL(level_12, level_13)
LEVEL(level_13, level_14)
LEVEL(level_14, level_15)
LEVEL(level_15, level_0)

int main(int argc, char** argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 1;
  long frames = argc > 2 ? atol(argv[2]) : 0;
  if (argc > 3) g_shortest_ns = (uint64_t)(atof(argv[3]) * 1000);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  uint64_t cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
  size_t count = level_0(seconds, frames);
  cpu = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
  if (count == 0) return 1;
  qsort(g_gaps, count, sizeof *g_gaps, by_length);
  printf("%u %u %u %zu %llu\n", g_gaps[count / 4], g_gaps[count / 2], g_gaps[count * 3 / 4], count,
         (unsigned long long)cpu);
  return 0;
}
