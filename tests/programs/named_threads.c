/* named_threads MS: threads alpha, beta and gamma that use 60, 30 and 10 % of MS milliseconds of CPU time.
 * named_threads rename MS: one thread, called first for half of the time and second for the other half.
 * named_threads many N: N threads called t0, t1, ..., a millisecond each, one after another. */
#include "spin.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct work {
  char name[16], next[16];
  uint64_t ns;
};

__attribute__((noinline)) static void spin_for(uint64_t ns) {
  const uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) (void)turn(20000, 1);
}

static void* run(void* argument) {
  const struct work* work = argument;
  pthread_setname_np(pthread_self(), work->name);
  spin_for(work->ns);
  if (work->next[0] == '\0') return NULL;
  pthread_setname_np(pthread_self(), work->next);
  spin_for(work->ns);
  return NULL;
}

static void start(pthread_t* thread, struct work* work) {
  if (pthread_create(thread, NULL, run, work) != 0) exit(1);
}

static void run_many(unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    struct work work = {.ns = 1000000};
    pthread_t thread;
    snprintf(work.name, sizeof work.name, "t%u", i);
    start(&thread, &work);
    pthread_join(thread, NULL);
  }
}

int main(int argc, char** argv) {
  const char* mode = argc > 2 ? argv[1] : "";
  const uint64_t number = (uint64_t)strtoul(argc > 2 ? argv[2] : argc > 1 ? argv[1] : "300", NULL, 10);
  pthread_t threads[3];
  if (strcmp(mode, "many") == 0) {
    run_many((unsigned)number);
  } else if (strcmp(mode, "rename") == 0) {
    struct work work = {"first", "second", number * 500000};
    start(&threads[0], &work);
    pthread_join(threads[0], NULL);
  } else {
    struct work work[3] = {
        {"alpha", "", number * 600000}, {"beta", "", number * 300000}, {"gamma", "", number * 100000}};
    for (int i = 0; i < 3; ++i) start(&threads[i], &work[i]);
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  }
  return 0;
}
