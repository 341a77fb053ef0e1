/* Spinning for a known amount of CPU time, in code of one's own (no library call inside the loop's hot part).
 */
#ifndef SPIN_H
#define SPIN_H
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t now_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* A loop of dependent additions: the same machine code wherever it is inlined, about a nanosecond a turn. */
static inline uint64_t turn(uint64_t turns, uint64_t value) {
  for (uint64_t i = 0; i < turns; ++i) __asm__ volatile("" : "+r"(value) : "r"(i));
  return value;
}
#endif
