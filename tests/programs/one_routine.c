/* one_routine SECONDS: one long thread, and beside it one thread after another of 0.8 ms, all by one start
 * routine, as threads of C++ and Rust are. Prints the part of the CPU time that the short ones used. */
#include "spin.h"

#include <pthread.h>
#include <stdio.h>

static volatile int g_stop;
static double g_short_s, g_long_s;

static double used_s(void) { return (double)now_ns(CLOCK_THREAD_CPUTIME_ID) / 1e9; }

__attribute__((noinline)) uint64_t turn_shortly(uint64_t value) { return turn(20000, value); }
__attribute__((noinline)) uint64_t turn_long(uint64_t value) { return turn(20000, value + 1); }

static void short_work(void) {
  for (uint64_t value = 0; used_s() < 0.0008;) value = turn_shortly(value);
  g_short_s += used_s();
}

static void long_work(void) {
  for (uint64_t value = 0; !g_stop;) value = turn_long(value);
  g_long_s = used_s();
}

static void* start(void* work) {
  void (*function)(void) = *(void (**)(void))work;
  function();
  return NULL;
}

int main(int argc, char** argv) {
  void (*works[])(void) = {long_work, short_work};
  pthread_t lasting, passing;
  const uint64_t end = now_ns(CLOCK_MONOTONIC) + (uint64_t)((argc > 1 ? atof(argv[1]) : 1) * 1e9);
  if (pthread_create(&lasting, NULL, start, &works[0]) != 0) return 1;
  while (now_ns(CLOCK_MONOTONIC) < end) {
    if (pthread_create(&passing, NULL, start, &works[1]) != 0) return 1;
    pthread_join(passing, NULL);
  }
  g_stop = 1;
  pthread_join(lasting, NULL);
  printf("%f\n", g_short_s / (g_short_s + g_long_s));
  return 0;
}
