// Which counter a tick is put into, and what a full one does.
#include "probe.h"

enum { kCells = kRegionBytes / 4 };
static unsigned int g_low[kCells], g_high[kCells], g_overflow;
static unsigned short g_short[kRegionBytes / 2], g_short_overflow;

static struct prof overflow_entry(void* cell, size_t bytes) {
  struct prof entry = {cell, bytes, 0, 2};
  return entry;
}

// Counters of bytes behind the function's end: no pc was ever there.
static unsigned long beyond(const unsigned int* cells) {
  return sum32(cells + kFunctionBytes / 4, kCells - kFunctionBytes / 4);
}

static void alternating_regions(void) {
  struct prof regions[] = {region_over(low_loop, g_low, sizeof g_low),
                           region_over(high_loop, g_high, sizeof g_high),
                           overflow_entry(&g_overflow, sizeof g_overflow)};
  long rounds = rounds_of(0.003);
  sprofil(regions, 3, NULL, PROF_UINT);
  for (double until = cpu_seconds() + 1; cpu_seconds() < until;) low_loop(rounds), high_loop(rounds);
  unsigned long wrong = beyond(g_low) + beyond(g_high) + g_overflow;
  printf("ticks=%lu wrong=%lu", sum32(g_low, kCells) + sum32(g_high, kCells) + g_overflow, wrong);
}

static void below_lowest(void) {
  struct prof region = region_over(high_loop, g_high, sizeof g_high);
  sprofil(&region, 1, NULL, PROF_UINT);
  burn(low_loop, 0.2);
  printf("ticks=%lu", sum32(g_high, kCells));
}

static void no_region(void) {
  struct prof regions[] = {region_over(high_loop, g_high, sizeof g_high),
                           overflow_entry(&g_overflow, sizeof g_overflow)};
  sprofil(regions, 2, NULL, PROF_UINT);
  burn(low_loop, 0.3);
  printf("ticks=%lu overflow=%u", sum32(g_high, kCells) + g_overflow, g_overflow);
}

static void any_order(void) {
  struct prof regions[] = {overflow_entry(&g_overflow, sizeof g_overflow),
                           region_over(high_loop, g_high, sizeof g_high),
                           region_over(low_loop, g_low, sizeof g_low)};
  int result = sprofil(regions, 3, NULL, PROF_UINT);
  burn(low_loop, 0.3);
  printf("result=%d ticks=%lu low=%lu", result, sum32(g_high, kCells) + g_overflow + sum32(g_low, kCells),
         sum32(g_low, kCells));
}

static void preset(unsigned short value) {
  for (size_t i = 0; i < kRegionBytes / 2; ++i) g_short[i] = value;
}

static unsigned smallest(void) {
  unsigned least = 65535;
  for (size_t i = 0; i < kRegionBytes / 2; ++i) least = g_short[i] < least ? g_short[i] : least;
  return least;
}

static void profil_full(void) {
  preset(65535);
  profil(g_short, sizeof g_short, (size_t)low_loop, 0x10000);
  burn(low_loop, 0.3);
  printf("least=%u", smallest());
}

static void sprofil_full(void) {
  struct prof regions[] = {region_over(high_loop, g_short, sizeof g_short),
                           overflow_entry(&g_short_overflow, sizeof g_short_overflow)};
  preset(65535);
  g_short_overflow = 65535;
  sprofil(regions, 2, NULL, PROF_USHORT);
  burn(high_loop, 0.2);
  unsigned region = smallest();
  burn(low_loop, 0.2);
  printf("region=%u overflow=%u", region, g_short_overflow);
}

static void wide_counters(void) {
  struct prof region = region_over(low_loop, g_low, sizeof g_low);
  for (size_t i = 0; i < kCells; ++i) g_low[i] = 65535;
  sprofil(&region, 1, NULL, PROF_UINT);
  burn(low_loop, 0.3);
  printf("above=%lu", sum32(g_low, kCells) - 65535ul * kCells);
}

static void far_away(void) {
  size_t offset = (size_t)low_loop - ((size_t)1 << 32);
  profil(g_short, sizeof g_short, offset, 0x10000);
  burn(low_loop, 0.3);
  printf("ticks=%lu", sum16(g_short, kRegionBytes / 2));
}

const struct behaviour bin_behaviours[] = {
    {"alternating_regions", alternating_regions},
    {"below_lowest", below_lowest},
    {"no_region", no_region},
    {"any_order", any_order},
    {"profil_full", profil_full},
    {"sprofil_full", sprofil_full},
    {"wide_counters", wide_counters},
    {"far_away", far_away},
    {NULL, NULL},
};
