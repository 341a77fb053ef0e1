// What the C library's interface has no name for: 64-bit counters, through
// HP-UX's. Prints "above=N": ticks above 2^32.
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "pctally/hpux.h"

enum { kCells = 32 };
static uint64_t g_cells[kCells];

__attribute__((noinline, aligned(4096))) static void loop(long rounds) {
  for (volatile long i = 0; i < rounds; ++i) {
  }
}

int main(void) {
  struct pctally_hpux_prof region = {g_cells, sizeof g_cells, (void*)loop, 0x10000};
  for (int i = 0; i < kCells; ++i) g_cells[i] = UINT32_MAX;
  if (pctally_hpux_sprofil(&region, 1, NULL, PCTALLY_HPUX_UINT64) != 0) return 1;
  for (clock_t end = clock() + CLOCKS_PER_SEC / 3; clock() < end;) loop(1000000);
  uint64_t above = 0;
  for (int i = 0; i < kCells; ++i) above += g_cells[i] - UINT32_MAX;
  printf("above=%lu\n", (unsigned long)above);
  return 0;
}
