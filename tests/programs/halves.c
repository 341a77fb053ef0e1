/* halves TIMES: calls two functions, sleeps for 0.2 ms, and does so again. Prints the first one's share of
 * the time of both. */
#include "spin.h"

#include <stdio.h>

__attribute__((noinline)) uint64_t first_half(uint64_t value) { return turn(200000, value); }
__attribute__((noinline)) uint64_t second_half(uint64_t value) { return turn(200000, value) + 1; }

int main(int argc, char** argv) {
  long times = argc > 1 ? atol(argv[1]) : 1000;
  struct timespec pause = {0, 200000};
  uint64_t value = 0, first = 0, second = 0;
  for (long i = 0; i < times; i++) {
    uint64_t start = now_ns(CLOCK_MONOTONIC);
    value = first_half(value);
    uint64_t middle = now_ns(CLOCK_MONOTONIC);
    value = second_half(value);
    first += middle - start;
    second += now_ns(CLOCK_MONOTONIC) - middle;
    nanosleep(&pause, NULL);
  }
  printf("%.3f\n", (double)first / (double)(first + second));
  return value == 1;
}
