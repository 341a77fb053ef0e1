/* twin SECONDS: spends that much CPU time in one function, whose name the build gives. */
#include "spin.h"

__attribute__((noinline)) uint64_t WORK(uint64_t turns) { return turn(turns, 1); }

int main(int argc, char** argv) {
  uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)((argc > 1 ? atof(argv[1]) : 0) * 1e9),
           value = 0;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) value += WORK(200000);
  return value == 42;
}
