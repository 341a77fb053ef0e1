/* record_flood threads SECONDS | record_flood exec PROGRAM ARGS: waits for a line, then makes more records of
 * what a process does than a ring of perf holds. `threads`: starts and joins threads that run for 0.2 ms, for
 * so much CPU time. `exec`: maps text and unmaps it 40,000 times, then executes the program. */
#define _GNU_SOURCE
#include "spin.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((noinline)) uint64_t spin_in_a_thread(uint64_t value) { return turn(100000, value); }

static void* run(void* unused) {
  const uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + 200000;
  for (uint64_t value = 0; now_ns(CLOCK_THREAD_CPUTIME_ID) < end;) value = spin_in_a_thread(value);
  return unused;
}

int main(int argc, char** argv) {
  if (argc < 3 || getchar() == EOF) return 2;
  if (strcmp(argv[1], "exec") == 0) {
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    for (int i = 0; i < 40000; ++i) {
      void* text = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
      if (text != MAP_FAILED) munmap(text, 4096);
    }
    execv(argv[2], argv + 2);
    return 127;
  }
  const uint64_t end = now_ns(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)(atof(argv[2]) * 1e9);
  while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < end) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL) != 0) return 1;
    pthread_join(thread, NULL);
  }
  return 0;
}
