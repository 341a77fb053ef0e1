/* evader SECONDS: runs 3.55 of every 4 ms and is asleep when the kernel's tick comes (every 4 ms with
 * HZ=250). A sampler that lives on that tick sees nothing of it. Prints the CPU seconds used in evade(). */
#include "spin.h"

#include <stdio.h>

static const uint64_t kTickNs = 4000000;

__attribute__((noinline)) void evade(uint64_t until) {
  uint64_t value = 0;
  while (now_ns(CLOCK_MONOTONIC) < until) value = turn(2000, value);
}

static void sleep_until(uint64_t ns) {
  struct timespec until = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {
  }
}

/* The coarse clock moves at the tick. */
static uint64_t next_tick(void) {
  uint64_t before = now_ns(CLOCK_MONOTONIC_COARSE);
  while (now_ns(CLOCK_MONOTONIC_COARSE) == before) {
  }
  return now_ns(CLOCK_MONOTONIC);
}

int main(int argc, char** argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 1;
  uint64_t tick = next_tick(), end = tick + (uint64_t)(seconds * 1e9);
  uint64_t used = now_ns(CLOCK_THREAD_CPUTIME_ID);
  while (tick < end) {
    uint64_t following = tick + kTickNs;
    sleep_until(tick + 200000);
    evade(following - 250000);
    while (following < now_ns(CLOCK_MONOTONIC)) following += kTickNs;
    tick = following;
  }
  printf("%.4f\n", (double)(now_ns(CLOCK_THREAD_CPUTIME_ID) - used) * 1e-9);
  return 0;
}
