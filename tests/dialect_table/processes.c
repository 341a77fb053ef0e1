// fork, exec, threads that race with the call, and memory that goes away.
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "probe.h"

static unsigned short g_cells[kRegionBytes / 2];

static void turn_on(void) { profil(g_cells, sizeof g_cells, (size_t)low_loop, 0x10000); }

static void turn_off(void) {
  unsigned short* volatile none = NULL;
  profil(none, 0, 0, 0);
}

static void fork_child(void) {
  turn_on();
  pid_t child = fork();
  unsigned long before = sum16(g_cells, kRegionBytes / 2);
  burn(low_loop, 0.5);
  unsigned long ticks = sum16(g_cells, kRegionBytes / 2) - before;
  if (child == 0) _exit(ticks > 255 ? 255 : (int)ticks);
  int status = 0;
  waitpid(child, &status, 0);
  printf("parent=%lu child=%d", ticks, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void exec_next(void) {
  turn_on();
  execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; printf lived=1",
        (char*)NULL);
}

static volatile int g_over = 0;

static void* spin(void* unused) {
  while (!g_over) low_loop(100000);
  return unused;
}

// PROBE_SECONDS of on and off (1 if it is not set), while four threads work.
static void on_off_race(void) {
  enum { kThreads = 4 };
  const char* seconds = getenv("PROBE_SECONDS");
  pthread_t all[kThreads];
  struct timespec now, until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += seconds == NULL ? 1 : atoi(seconds);
  for (int i = 0; i < kThreads; ++i) pthread_create(&all[i], NULL, spin, NULL);
  long pairs = 0;
  do {
    turn_on();
    if (pairs % 4 == 0) low_loop(20000);
    turn_off();
    ++pairs;
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec < until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec < until.tv_nsec));
  g_over = 1;
  for (int i = 0; i < kThreads; ++i) pthread_join(all[i], NULL);
  printf("pairs=%ld", pairs);
}

static void unmapped_buffer(void) {
  unsigned short* cells = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct prof regions[] = {region_over(low_loop, cells, kRegionBytes),
                           region_over(high_loop, g_cells, sizeof g_cells)};
  sprofil(regions, 2, NULL, PROF_USHORT);
  munmap(cells, 4096);
  burn(low_loop, 0.2);
  burn(high_loop, 0.2);
  printf("neighbour=%lu", sum16(g_cells, kRegionBytes / 2));
}

const struct behaviour process_behaviours[] = {
    {"fork_child", fork_child},
    {"exec_next", exec_next},
    {"on_off_race", on_off_race},
    {"unmapped_buffer", unmapped_buffer},
    {NULL, NULL},
};
