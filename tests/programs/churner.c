/* churner MS SECONDS: threads that burn MS of CPU time each and end, one after another, two at a time, until
 * the process has used SECONDS. Prints how many there were. */
#include "spin.h"

#include <pthread.h>
#include <stdio.h>

static double g_ms;

__attribute__((noinline)) uint64_t burn_here(uint64_t value) { return turn(2000, value); }

static void* burn(void* unused) {
  (void)unused;
  uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(g_ms * 1e6), value = 0;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) value = burn_here(value);
  return NULL;
}

int main(int argc, char** argv) {
  g_ms = argc > 1 ? atof(argv[1]) : 2;
  double seconds = argc > 2 ? atof(argv[2]) : 1;
  long pairs = 0, wanted = (long)(seconds * 1e3 / g_ms / 2);
  for (; pairs < wanted; ++pairs) {
    pthread_t one, two;
    if (pthread_create(&one, NULL, burn, NULL) != 0 || pthread_create(&two, NULL, burn, NULL) != 0) return 1;
    pthread_join(one, NULL);
    pthread_join(two, NULL);
  }
  printf("%ld\n", 2 * pairs);
  return 0;
}
