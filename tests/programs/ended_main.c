/* ended_main SECONDS: its main thread ends, and another one spins for so much CPU time. */
#include "spin.h"

#include <pthread.h>
#include <stdlib.h>

static double seconds;

__attribute__((noinline)) uint64_t spin_on(uint64_t value) { return turn(200000, value); }

static void* run(void* unused) {
  const uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(seconds * 1e9);
  for (uint64_t value = 0; now_ns(CLOCK_THREAD_CPUTIME_ID) < end;) value = spin_on(value);
  exit(0);
  return unused;
}

int main(int argc, char** argv) {
  pthread_t thread;
  seconds = argc > 1 ? atof(argv[1]) : 1;
  if (pthread_create(&thread, NULL, run, NULL) != 0) return 1;
  pthread_exit(NULL);
}
