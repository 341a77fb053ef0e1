/* stack_end main|thread|default|limit BYTES: computes for 0.3 s where so many bytes of its stack are left.
 * The thread's is the default, with `default` one of 32 KiB; with `limit` the program has raised
 * RLIMIT_STACK, which that does not follow. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static long left;
static char* lowest;

static void compute(void) {
  struct timespec now;
  do {
    for (volatile int i = 0; i < 100000; ++i) continue;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while (now.tv_sec == 0 && now.tv_nsec < 300000000);
}

static void __attribute__((noinline)) go_down(void) {
  volatile char frame[64];
  frame[0] = 1;
  if ((char*)frame - lowest > left + 200)
    go_down();
  else
    compute();
  frame[1] = 1; /* not the last call of this function */
}

static void* run(void* unused) {
  pthread_attr_t attributes;
  void* address;
  size_t bytes;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &address, &bytes);
  lowest = address;
  go_down();
  return unused;
}

static void set_small_default(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 32768);
  pthread_setattr_default_np(&attributes);
}

static void raise_limit(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_STACK, &limit);
  const rlim_t wanted = (rlim_t)64 << 20;
  limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
  setrlimit(RLIMIT_STACK, &limit);
}

int main(int argc, char** argv) {
  struct timespec now;
  if (argc != 3) return 2;
  left = atol(argv[2]);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); /* bound here: down there ld.so has no room beside a tick */
  if (strcmp(argv[1], "main") == 0) {
    run(NULL);
  } else {
    pthread_t thread;
    if (strcmp(argv[1], "default") == 0) set_small_default();
    if (strcmp(argv[1], "limit") == 0) raise_limit();
    if (pthread_create(&thread, NULL, run, NULL) != 0) return 2;
    pthread_join(thread, NULL);
  }
  puts("whole");
  return 0;
}
