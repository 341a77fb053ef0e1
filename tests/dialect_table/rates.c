// How many ticks there are in a second of CPU time, and whose.
#include <pthread.h>

#include "probe.h"

enum { kThreads = 4 };
static unsigned int g_cells[kRegionBytes / 4];
static unsigned short g_short[kRegionBytes / 2];
static volatile int g_go = 0;

// Ticks x the tick length that the call returns, divided by the CPU time used: 1 if the call is right.
static void truth(unsigned flags) {
  struct prof region = region_over(low_loop, g_cells, sizeof g_cells);
  struct timeval tick = {0, 0};
  sprofil(&region, 1, &tick, flags);
  double before = cpu_seconds();
  burn(low_loop, 1);
  double counted =
      (double)sum32(g_cells, kRegionBytes / 4) * ((double)tick.tv_sec + (double)tick.tv_usec * 1e-6);
  printf("tick_us=%ld ratio=%.2f", (long)tick.tv_usec, counted / (cpu_seconds() - before));
}

static void tick_length(void) { truth(PROF_UINT); }
static void fast_ticks(void) { truth(PROF_UINT | PROF_FAST); }

static void* spin(void* rounds) {
  while (!g_go) usleep(1000);
  low_loop((long)(intptr_t)rounds);
  return NULL;
}

static void threads(int call_first) {
  pthread_t all[kThreads];
  if (call_first) profil(g_short, sizeof g_short, (size_t)low_loop, 0x10000);
  for (int i = 0; i < kThreads; ++i) pthread_create(&all[i], NULL, spin, (void*)(intptr_t)rounds_of(0.4));
  if (!call_first) profil(g_short, sizeof g_short, (size_t)low_loop, 0x10000);
  double before = cpu_seconds();
  g_go = 1;
  for (int i = 0; i < kThreads; ++i) pthread_join(all[i], NULL);
  double seconds = cpu_seconds() - before;
  printf("per_second=%.0f", (double)sum16(g_short, kRegionBytes / 2) / seconds);
}

static void four_threads(void) { threads(1); }
static void older_threads(void) { threads(0); }

const struct behaviour rate_behaviours[] = {
    {"tick_length", tick_length},
    {"fast_ticks", fast_ticks},
    {"four_threads", four_threads},
    {"older_threads", older_threads},
    {NULL, NULL},
};
