/* switcher threads|processes COUNT: that many round trips between two threads or two processes on one CPU.
 * Prints the CPU nanoseconds of both per switch. */
#include "spin.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int g_there[2], g_back[2];
static long g_count;

static void* answer(void* unused) {
  char byte;
  for (long i = 0; i < g_count; ++i)
    if (read(g_there[0], &byte, 1) != 1 || write(g_back[1], &byte, 1) != 1) break;
  return unused;
}

static int ask(void) {
  char byte = 0;
  for (long i = 0; i < g_count; ++i)
    if (write(g_there[1], &byte, 1) != 1 || read(g_back[0], &byte, 1) != 1) return 1;
  return 0;
}

static double cpu_ns(int who) {
  struct rusage usage;
  getrusage(who, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
}

int main(int argc, char** argv) {
  int processes = argc > 1 && strcmp(argv[1], "processes") == 0;
  g_count = argc > 2 ? atol(argv[2]) : 100000;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  if (pipe(g_there) != 0 || pipe(g_back) != 0) return 1;
  double before = cpu_ns(RUSAGE_SELF);
  pthread_t thread;
  pid_t child = 0;
  if (processes) {
    child = fork();
    if (child == 0) return answer(NULL), 0;
  } else if (pthread_create(&thread, NULL, answer, NULL) != 0) {
    return 1;
  }
  if (ask() != 0) return 1;
  processes ? (void)waitpid(child, NULL, 0) : (void)pthread_join(thread, NULL);
  printf("%.1f\n", (cpu_ns(RUSAGE_SELF) + cpu_ns(RUSAGE_CHILDREN) - before) / (2.0 * (double)g_count));
  return 0;
}
