/* emulated SECONDS: works, and has a library answer (emulator.c). */
#include "spin.h"

#include <stdio.h>

long emulate(long number);

int main(int argc, char** argv) {
  const uint64_t end = now_ns(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)((argc > 1 ? atof(argv[1]) : 1) * 1e9);
  for (uint64_t value = 0; now_ns(CLOCK_PROCESS_CPUTIME_ID) < end;) value = turn(20000, value);
  printf("%ld\n", emulate(5));
  return 0;
}
