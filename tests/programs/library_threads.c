/* library_threads timer SECONDS [OWN_SECONDS]: the C library makes a thread for a timer's notification
 * (SIGEV_THREAD), with all signals blocked, which spins for so long; then the main thread does.
 * library_threads deepbind SECONDS LIBRARY: a thread is made by a library (this file, too) that dlopen(3)
 * brings with RTLD_DEEPBIND. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static sem_t g_done;

__attribute__((always_inline)) static inline void spin(double seconds) {
  struct timespec start, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
  do {
    for (volatile int i = 0; i < 10000; i++) continue;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9 < seconds);
}

__attribute__((noinline)) static void spin_own(double seconds) { spin(seconds); }

static void notified(union sigval seconds) {
  spin(*(double*)seconds.sival_ptr);
  sem_post(&g_done);
}

static void* run_thread(void* seconds) {
  spin(*(double*)seconds);
  return NULL;
}

int spin_in_thread(double seconds) {
  pthread_t thread;
  return pthread_create(&thread, NULL, run_thread, &seconds) != 0 || pthread_join(thread, NULL) != 0;
}

static int by_timer(double seconds, double own_seconds) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notified};
  const struct itimerspec soon = {{0, 0}, {0, 1}};
  timer_t timer;
  event.sigev_value.sival_ptr = &seconds;
  sem_init(&g_done, 0, 0);
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &soon, NULL) != 0)
    return 1;
  while (sem_wait(&g_done) != 0) continue;
  if (own_seconds > 0) spin_own(own_seconds);
  return 0;
}

static int by_library(double seconds, const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_DEEPBIND);
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
  int (*run)(double) = (int (*)(double))dlsym(library, "spin_in_thread");
  return run == NULL || run(seconds);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const double seconds = atof(argv[2]);
  if (strcmp(argv[1], "timer") == 0) return by_timer(seconds, argc > 3 ? atof(argv[3]) : 0);
  return argc > 3 ? by_library(seconds, argv[3]) : 2;
}
