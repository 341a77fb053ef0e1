/* daemon SECONDS [READY]: leaves a process behind that spins for that much CPU time, and ends once it runs.
   The name of a FIFO to write a line to when it has begun. */
#include "spin.h"

#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) uint64_t spin_in_daemon(uint64_t value) { return turn(20000, value); }

int main(int argc, char** argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 1;
  if (daemon(1, 0) != 0) return 1;
  uint64_t end = now_ns(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)(seconds * 1e9), value = 0;
  for (int wrote_ready = 0; now_ns(CLOCK_PROCESS_CPUTIME_ID) < end; value = spin_in_daemon(value)) {
    FILE* ready = wrote_ready == 0 && argc > 2 ? fopen(argv[2], "w") : NULL;
    wrote_ready = 1;
    if (ready == NULL) continue;
    fprintf(ready, "%d\n", (int)getpid());
    fclose(ready);
  }
  return 0;
}
