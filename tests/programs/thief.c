/* thief SECONDS [ignore|one]: after a tenth of its CPU time takes every real-time signal with a handler of
 * its own or ("ignore") by ignoring it, as programs do that start from a clean slate, or ("one") only the
 * highest but one; then uses the rest. */
#include "spin.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

__attribute__((noinline)) uint64_t before_theft(uint64_t value) { return turn(20000, value); }
__attribute__((noinline)) uint64_t after_theft(uint64_t value) { return turn(20000, value); }

static volatile sig_atomic_t g_seen;
static void mine(int signal) {
  (void)signal;
  g_seen = 1;
}

int main(int argc, char** argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 1;
  int ignore = argc > 2 && strcmp(argv[2], "ignore") == 0, one = argc > 2 && strcmp(argv[2], "one") == 0;
  uint64_t value = 0, start = now_ns(CLOCK_PROCESS_CPUTIME_ID);
  while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < start + (uint64_t)(seconds * 1e8)) value = before_theft(value);
  for (int number = one ? SIGRTMAX - 1 : SIGRTMIN; number < SIGRTMAX; ++number)
    signal(number, ignore ? SIG_IGN : mine);
  while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < start + (uint64_t)(seconds * 1e9)) value = after_theft(value);
  return (int)(value & 0);
}
