/* least_stack SECONDS [-|BYTES]: works with an alternate stack of the least size there is, or of so many
 * bytes, and says how many bytes of the memory below it were overwritten; with -, how many are left, too. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BELOW 32768

static volatile unsigned long sink;

__attribute__((noinline)) void work(double seconds) {
  struct timespec now;
  do {
    for (int i = 0; i < 100000; i++) sink += (unsigned long)i;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((double)now.tv_sec + (double)now.tv_nsec * 1e-9 < seconds);
}

int main(int count, char** words) {
  long least = sysconf(_SC_MINSIGSTKSZ);
  const size_t asked = count > 2 ? strtoul(words[2], NULL, 10) : 0;
  const size_t bytes = asked != 0 ? asked : least < 2048 ? 2048 : (size_t)least;
  unsigned char* memory =
      mmap(NULL, BELOW + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  memset(memory, 0x5a, BELOW + bytes);
  stack_t stack = {.ss_sp = memory + BELOW, .ss_size = bytes};
  if (sigaltstack(&stack, NULL) != 0) return 1;
  work(count > 1 ? atof(words[1]) : 0.5);
  size_t untouched = 0;
  while (untouched < BELOW + bytes && memory[untouched] == 0x5a) ++untouched;
  printf("%zu\n", untouched < BELOW ? BELOW - untouched : 0);
  if (count > 2 && asked == 0) printf("%zu left\n", untouched - BELOW);
  return 0;
}
