/* slow_start MS: before any constructor runs, injected libraries' too, it burns so much CPU time, as programs with
 * AddressSanitizer do on a busy machine; then as much again in main. */
#include "spin.h"

static void burn(double ms) {
  const uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(ms * 1e6);
  uint64_t value = 0;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) value = turn(100000, value);
}

static void start(int argc, char** argv, char** environment) {
  (void)environment;
  burn(argc > 1 ? atof(argv[1]) : 0);
}

__attribute__((section(".preinit_array"), used)) static void (*g_start)(int, char**, char**) = start;

int main(int argc, char** argv) {
  burn(argc > 1 ? atof(argv[1]) : 0);
  return 0;
}
