/* Maps a program counter to a counter: the index rule of every profil(2) dialect, once.
 *
 * Plain C, no includes but <stdint.h>'s types, no calls, no 128-bit arithmetic: the same text compiles as C,
 * as C++ and for the BPF target. It refuses to know what a counter is or where it lies; it only numbers them.
 *
 *   D = pc - origin, s = scale (16.16 fixed point), E = bytes per counter = 1 << cell_shift
 *
 *   FLOOR    floor(floor(D*s / 65536) / E)           HP-UX, SVR4, BSD kernels, Tru64
 *   MAN      floor(floor(D/E)*s / 65536)             the relation printed in the BSD manuals; glibc
 *   ROUNDUP  ((floor(D*s / 65536) + 1) & ~1) / 2     AIX ("rounded up to the next half-word aligned value")
 *   SHIFT    D >> shift                              Nintendo 64 (shift 2); recorder's own cells (shift 0)
 */
#ifndef PCTALLY_TICK_BIN_INDEX_H
#define PCTALLY_TICK_BIN_INDEX_H

#ifdef __BPF__
typedef unsigned long long pctally_u64;
typedef unsigned int pctally_u32;
typedef unsigned char pctally_u8;
#else
#include <stdint.h>
typedef uint64_t pctally_u64;
typedef uint32_t pctally_u32;
typedef uint8_t pctally_u8;
#endif

enum pctally_bin_family {
  PCTALLY_BIN_FLOOR = 0,
  PCTALLY_BIN_MAN = 1,
  PCTALLY_BIN_ROUNDUP = 2,
  PCTALLY_BIN_SHIFT = 3,
};

enum pctally_bin_flag {
  /* Every pc at or above origin belongs to counter 0 (SVR4, Tru64, AIX: scale 2). */
  PCTALLY_BIN_SINGLE_CELL = 1,
  /* Every pc at all belongs to counter 0 (an overflow descriptor; glibc profil with scale 0). */
  PCTALLY_BIN_ANY_PC = 2,
};

/* One region's rule. A value: copy it freely. cells is the number of whole counters in the buffer; a pc whose
 * index is not below it is not in the region, so memory behind the buffer is never touched.
 * REQUIRES: the buffer is smaller than the address space, cells << cell_shift < 2^64. */
struct pctally_bin_rule {
  pctally_u64 origin;
  pctally_u64 cells;
  pctally_u32 scale;
  pctally_u8 family;     /* enum pctally_bin_family */
  pctally_u8 cell_shift; /* 1, 2 or 3: 16-, 32- or 64-bit counters */
  pctally_u8 shift;      /* SHIFT family only, 0..63 */
  pctally_u8 flags;      /* enum pctally_bin_flag, or-ed */
};

/* floor(value * scale / 65536), exact; all ones where the true result needs more than 64 bits.
 * Both halves are exact because value's upper half times scale is a whole multiple of 2^16 after the shift.
 */
static inline pctally_u64 pctally_scaled(pctally_u64 value, pctally_u32 scale) {
  pctally_u64 high = (value >> 32) * scale;
  pctally_u64 low = ((value & 0xffffffffu) * scale) >> 16;
  if (high >> 48) return ~(pctally_u64)0;
  high <<= 16;
  return high + low < high ? ~(pctally_u64)0 : high + low;
}

/* The counter number for distance D = pc - origin, before any bound is applied. */
static inline pctally_u64 pctally_bin_position(const struct pctally_bin_rule* rule, pctally_u64 distance) {
  pctally_u64 position;
  switch (rule->family) {
    case PCTALLY_BIN_FLOOR:
      return pctally_scaled(distance, rule->scale) >> rule->cell_shift;
    case PCTALLY_BIN_MAN:
      return pctally_scaled(distance >> rule->cell_shift, rule->scale);
    case PCTALLY_BIN_ROUNDUP:
      position = pctally_scaled(distance, rule->scale);
      return (position >> 1) + (position & 1);
    default:
      return distance >> (rule->shift & 63);
  }
}

/* Look-up and indexing in one function: 1 and *index set when pc belongs to the region, 0 otherwise.
 * Any thread, any signal handler, any kernel context. */
static inline int pctally_bin_index(const struct pctally_bin_rule* rule, pctally_u64 pc, pctally_u64* index) {
  pctally_u64 position = 0;
  if (rule->cells == 0) return 0;
  if (rule->flags & PCTALLY_BIN_ANY_PC) {
    *index = 0;
    return 1;
  }
  if (pc < rule->origin) return 0;
  if (!(rule->flags & PCTALLY_BIN_SINGLE_CELL)) position = pctally_bin_position(rule, pc - rule->origin);
  if (position >= rule->cells) return 0;
  *index = position;
  return 1;
}

/* The largest pc that pctally_bin_index accepts. REQUIRES: cells > 0. The index never falls as pc rises, so
 * 64 halvings find the edge with the very function that will be used at the tick: range and index cannot
 * disagree. */
static inline pctally_u64 pctally_bin_last(const struct pctally_bin_rule* rule) {
  pctally_u64 low = rule->origin, high = ~(pctally_u64)0, index;
  if (rule->flags & PCTALLY_BIN_ANY_PC) return high;
  while (low < high) {
    pctally_u64 middle = low + (high - low) / 2 + 1;
    if (pctally_bin_index(rule, middle, &index))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

#endif
