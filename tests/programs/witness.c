/* witness FILE: how long the CPUs have stood still, in nanoseconds, as a uint64_t at the start of FILE; until
 * its input ends. A host that holds a virtual CPU back need not say so (no steal time): the CPU time of
 * whoever runs goes on, the ticks do not. A thread of each CPU, scheduled before all others, sleeps for 5 ms
 * and sees how late it wakes up. Where the system does not allow such threads, nothing is seen. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { kPeriod = 5000000, kLate = 10000000 }; /* ns */

static _Atomic uint64_t* g_held;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void* watch(void* argument) {
  const int cpu = (int)(intptr_t)argument;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  const struct sched_param first = {.sched_priority = 1};
  if (pthread_setaffinity_np(pthread_self(), sizeof one, &one) != 0) return NULL;
  if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &first) != 0) return NULL;
  for (int64_t next = now();;) {
    next += kPeriod;
    const struct timespec time = {next / 1000000000, next % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
    const int64_t awake = now();
    if (awake - next < kLate) continue;
    atomic_fetch_add(g_held, (uint64_t)(awake - next));
    next = awake;
  }
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const int file = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, sizeof *g_held) != 0) return 1;
  void* page = mmap(NULL, sizeof *g_held, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page == MAP_FAILED) return 1;
  g_held = page;
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) return 1;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    pthread_t thread;
    if (CPU_ISSET(cpu, &cpus) && pthread_create(&thread, NULL, watch, (void*)(intptr_t)cpu) != 0) return 1;
  }
  char input;
  while (read(STDIN_FILENO, &input, 1) > 0) {
  }
  return 0;
}
