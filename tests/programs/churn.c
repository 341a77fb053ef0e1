/* churn MILLISECONDS SECONDS: one thread after another, each using so much CPU time, for so much CPU time in
 * all; the main thread then ends by pthread_exit(3) while a last thread works. */
#include "spin.h"

#include <pthread.h>

static uint64_t g_each_ns;

__attribute__((noinline)) uint64_t churned(uint64_t value) { return turn(50000, value); }

static void* work(void* unused) {
  (void)unused;
  uint64_t value = 0;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < g_each_ns) value = churned(value);
  return NULL;
}

int main(int argc, char** argv) {
  double each_ms = argc > 1 ? atof(argv[1]) : 10, seconds = argc > 2 ? atof(argv[2]) : 1;
  g_each_ns = (uint64_t)(each_ms * 1e6);
  pthread_t thread;
  for (double done = 0; done < seconds; done += each_ms / 1e3) {
    if (pthread_create(&thread, NULL, work, NULL) != 0) return 1;
    pthread_join(thread, NULL);
  }
  if (pthread_create(&thread, NULL, work, NULL) != 0) return 1;
  pthread_detach(thread);
  pthread_exit(NULL);
}
