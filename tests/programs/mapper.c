/* mapper FILE COUNT SECONDS: maps COUNT pages of FILE, executable, each on its own, then spins for SECONDS of
 * CPU time. Prints how many it could map. */
#include "spin.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((noinline)) uint64_t spin_here(uint64_t value) { return turn(200000, value); }

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  long count = atol(argv[2]), page = sysconf(_SC_PAGESIZE), mapped = 0;
  int fd = open(argv[1], O_RDWR | O_CREAT, 0700);
  if (fd < 0 || ftruncate(fd, 2 * count * page) != 0) return 1;
  for (long i = 0; i < count; ++i)  // every second page, so that neighbours stay two mappings
    mapped += mmap(NULL, (size_t)page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 2 * i * page) != MAP_FAILED;
  printf("%ld\n", mapped);
  fflush(stdout);
  uint64_t end = now_ns(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)(atof(argv[3]) * 1e9), value = 0;
  while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < end) value = spin_here(value);
  return 0;
}
