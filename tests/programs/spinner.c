/* spinner THREADS SECONDS: each thread spins for that much CPU time of its own. */
#include "spin.h"

#include <pthread.h>
#include <stdio.h>

static double g_seconds;

__attribute__((noinline)) uint64_t spin_here(uint64_t value) { return turn(200000, value); }

static void* spin(void* unused) {
  (void)unused;
  uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(g_seconds * 1e9), value = 0;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) value = spin_here(value);
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 1;
#ifdef SAYS_READY
  puts("ready");
  fflush(stdout);
#endif
  g_seconds = argc > 2 ? atof(argv[2]) : 1;
  pthread_t* ids = calloc((size_t)threads, sizeof *ids);
  for (int i = 0; i < threads; ++i)
    if (pthread_create(&ids[i], NULL, spin, NULL) != 0) return 1;
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  return 0;
}
