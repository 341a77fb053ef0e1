/* For programs of known call paths, which are busy for a while. */
#ifndef BUSY_H
#define BUSY_H
#include <time.h>

#define KEPT __attribute__((noinline, noclone))

volatile double sink;

/* Of the calling thread, in seconds. */
static double cpu_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
#endif
