/* least_stack SECONDS [-|BYTES|unmapped]: works with an alternate stack of the least size there is, or of so
 * many bytes, and says how many bytes of the memory below it were overwritten; with -, how many are left,
 * too. unmapped: the stack's memory is gone; works as long again with a new one, and says how many signals
 * were pending before that. */
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

static int pending_signals(void) {
  sigset_t set;
  int count = 0;
  sigemptyset(&set);
  sigpending(&set);
  for (int signal = 1; signal <= SIGRTMAX; signal++) count += sigismember(&set, signal) == 1;
  return count;
}

/* Programs leave a stack to the kernel that they have unmapped, at their end, say. */
int work_without(double seconds) {
  const size_t bytes = 65536;
  stack_t stack = {.ss_size = bytes};
  int pending = 0;
  for (int round = 0; round < 2; round++) {
    stack.ss_sp = mmap(NULL, 3 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack.ss_sp == MAP_FAILED) return 1;
    stack.ss_sp = (char*)stack.ss_sp + bytes;
    if (sigaltstack(&stack, NULL) != 0) return 1;
    if (munmap((char*)stack.ss_sp - bytes, bytes) != 0 || munmap((char*)stack.ss_sp + bytes, bytes) != 0)
      return 1;
    if (round == 0 && munmap(stack.ss_sp, bytes) != 0) return 1;
    work((round + 1) * seconds);
    if (round == 0) pending = pending_signals();
  }
  printf("%d\n", pending);
  return 0;
}

int main(int count, char** words) {
  if (count > 2 && strcmp(words[2], "unmapped") == 0) return work_without(atof(words[1]));
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
