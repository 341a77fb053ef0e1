/* profil_threads SECONDS: four threads use the CPU under profil(3), the C library's or one that stands in
 * front of it, while the main thread waits. Prints the ticks counted in their function and those elsewhere.
 */
#include "spin.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static double g_seconds;
static unsigned short g_counts[1 << 16];

__attribute__((noinline)) uint64_t profiled(uint64_t value) { return turn(20000, value); }

static void* worker(void* unused) {
  (void)unused;
  uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(g_seconds * 1e9), value = 0;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) value = profiled(value);
  return NULL;
}

int main(int argc, char** argv) {
  g_seconds = argc > 1 ? atof(argv[1]) : 0.5;
  const size_t low = (size_t)profiled & ~(size_t)0xfff;
  pthread_t threads[4];
  if (profil(g_counts, sizeof g_counts, low, 65536) != 0) return 1;
  for (int i = 0; i < 4; ++i)
    if (pthread_create(&threads[i], NULL, worker, NULL) != 0) return 1;
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  profil(NULL, 0, 0, 0);
  const size_t first = ((size_t)profiled - low) / 2;
  unsigned long inside = 0, elsewhere = 0;
  for (size_t i = 0; i < sizeof g_counts / sizeof g_counts[0]; ++i)
    *(i >= first && i < first + 32 ? &inside : &elsewhere) += g_counts[i];
  printf("%lu %lu\n", inside, elsewhere);
  return 0;
}
