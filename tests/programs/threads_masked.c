/* threads_masked SECONDS: half of the CPU time in a thread that blocks every signal, half in one that blocks
 * none. */
#include "spin.h"

#include <pthread.h>
#include <signal.h>

static double g_seconds;

__attribute__((noinline)) uint64_t spin_masked(uint64_t value) { return turn(20000, value); }
__attribute__((noinline)) uint64_t spin_open(uint64_t value) { return turn(20000, value); }

static void* masked(void* unused) {
  (void)unused;
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(g_seconds * 5e8), value = 0;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) value = spin_masked(value);
  return NULL;
}

int main(int argc, char** argv) {
  g_seconds = argc > 1 ? atof(argv[1]) : 1;
  pthread_t thread;
  if (pthread_create(&thread, NULL, masked, NULL) != 0) return 1;
  uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(g_seconds * 5e8), value = 0;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) value = spin_open(value);
  pthread_join(thread, NULL);
  return value == 42;
}
