/* c11_threads SECONDS: threads of C11's thrd_create that each use the CPU for so long. Prints what thrd_join
 * gives of one that returns and of one that ends by thrd_exit, and what thrd_create gives where there is no
 * room for a stack. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <threads.h>
#include <time.h>

static double g_seconds;

__attribute__((noinline)) static void spin_c11(void) {
  struct timespec used = {0, 0};
  while ((double)used.tv_sec + (double)used.tv_nsec / 1e9 < g_seconds) {
    for (volatile int i = 0; i < 100000; i++) continue; /* a system call may cost microseconds */
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  }
}

static int returns(void* result) {
  spin_c11();
  return *(int*)result;
}

static int leaves(void* result) {
  spin_c11();
  thrd_exit(*(int*)result);
}

static int ended(int (*routine)(void*), int result) {
  thrd_t thread;
  if (thrd_create(&thread, routine, &result) != thrd_success) return 0;
  int got = 0;
  return thrd_join(thread, &got) == thrd_success ? got : 0;
}

/* Before any thread has left a stack to use again. */
static int without_room(void) {
  struct rlimit before, none = {1, 0};
  thrd_t thread;
  int result = 0;
  getrlimit(RLIMIT_AS, &before);
  none.rlim_max = before.rlim_max;
  setrlimit(RLIMIT_AS, &none);
  const int error = thrd_create(&thread, returns, &result);
  setrlimit(RLIMIT_AS, &before);
  return error;
}

int main(int argc, char** argv) {
  g_seconds = argc > 1 ? atof(argv[1]) : 0.3;
  const int error = without_room();
  const int returned = ended(returns, -7);
  const int left = ended(leaves, 1 << 30);
  printf("%d %d %s\n", returned, left,
         error == thrd_success ? "made"
         : error == thrd_nomem ? "nomem"
                               : "error");
  return 0;
}
