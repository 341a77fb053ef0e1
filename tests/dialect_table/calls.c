// What the calls say to arguments, and whether they can be used again.
#include <errno.h>

#include "probe.h"

static unsigned short g_cells[kRegionBytes / 2], g_others[kRegionBytes / 2];

static void second_use(void) {
  struct prof region = region_over(low_loop, g_cells, sizeof g_cells);
  unsigned uses = 0;
  for (int i = 0; i < 3; ++i) {
    unsigned long before = sum16(g_cells, kRegionBytes / 2);
    sprofil(&region, 1, NULL, PROF_USHORT);
    burn(low_loop, 0.1);
    sprofil(NULL, 0, NULL, PROF_USHORT);
    uses += sum16(g_cells, kRegionBytes / 2) > before;
  }
  printf("uses=%u", uses);
}

static void replacement(void) {
  struct prof first = region_over(low_loop, g_cells, sizeof g_cells);
  struct prof second = region_over(low_loop, g_others, sizeof g_others);
  sprofil(&first, 1, NULL, PROF_USHORT);
  burn(low_loop, 0.2);
  unsigned long before = sum16(g_cells, kRegionBytes / 2);
  sprofil(&second, 1, NULL, PROF_USHORT);
  burn(low_loop, 0.2);
  printf("new=%lu old=%lu", sum16(g_others, kRegionBytes / 2), sum16(g_cells, kRegionBytes / 2) - before);
}

static void profil_replacement(void) {
  profil(g_cells, sizeof g_cells, (size_t)low_loop, 0x10000);
  burn(low_loop, 0.2);
  unsigned long before = sum16(g_cells, kRegionBytes / 2);
  profil(g_others, sizeof g_others, (size_t)low_loop, 0x10000);
  burn(low_loop, 0.2);
  printf("new=%lu old=%lu", sum16(g_others, kRegionBytes / 2), sum16(g_cells, kRegionBytes / 2) - before);
}

static void print_result(int result) { printf("result=%d errno=%d", result, result == 0 ? 0 : errno); }

static void unknown_flag(void) {
  struct prof region = region_over(low_loop, g_cells, sizeof g_cells);
  print_result(sprofil(&region, 1, NULL, 4));
}

static void negative_count(void) {
  struct prof region = region_over(low_loop, g_cells, sizeof g_cells);
  print_result(sprofil(&region, -1, NULL, PROF_USHORT));
}

static void unreadable_list(void) { print_result(sprofil((struct prof*)16, 1, NULL, PROF_USHORT)); }

static void tiny_region(void) {
  struct prof regions[] = {region_over(low_loop, g_cells, 1),
                           region_over(high_loop, g_others, sizeof g_others)};
  int result = sprofil(regions, 2, NULL, PROF_USHORT);
  burn(high_loop, 0.2);
  printf("result=%d neighbour=%lu", result, sum16(g_others, kRegionBytes / 2));
}

static void size_zero(void) {
  int result = profil(g_cells, 0, (size_t)low_loop, 0x10000);
  burn(low_loop, 0.2);
  printf("result=%d ticks=%lu", result, sum16(g_cells, kRegionBytes / 2));
}

static void scale_zero(void) {
  int result = profil(g_cells, sizeof g_cells, (size_t)high_loop, 0);
  burn(low_loop, 0.3);  // below the offset
  printf("result=%d first=%u all=%lu", result, g_cells[0], sum16(g_cells, kRegionBytes / 2));
}

static void null_buffer(void) {
  unsigned short* volatile none = NULL;
  profil(g_cells, sizeof g_cells, (size_t)low_loop, 0x10000);
  burn(low_loop, 0.2);
  int result = profil(none, 0, 0, 0);
  unsigned long before = sum16(g_cells, kRegionBytes / 2);
  burn(low_loop, 0.2);
  printf("result=%d on=%lu off=%lu", result, before, sum16(g_cells, kRegionBytes / 2) - before);
}

const struct behaviour call_behaviours[] = {
    {"second_use", second_use},
    {"replacement", replacement},
    {"unknown_flag", unknown_flag},
    {"negative_count", negative_count},
    {"unreadable_list", unreadable_list},
    {"tiny_region", tiny_region},
    {"size_zero", size_zero},
    {"scale_zero", scale_zero},
    {"null_buffer", null_buffer},
    {"profil_replacement", profil_replacement},
    {NULL, NULL},
};
