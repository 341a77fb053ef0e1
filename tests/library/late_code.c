/* Code that a program loads after its start. */
#include <time.h>

static double cpu_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void late(void (*call)(void), double seconds) {
  for (double end = cpu_time() + seconds; cpu_time() < end;) call();
}
