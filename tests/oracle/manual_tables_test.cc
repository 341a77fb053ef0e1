// The test vectors of the reference tables that concern the index rule alone, typed in as data; both the
// engine and the naive oracle have to give them. Columns whose dialect turns a scale away, or reads it in
// another way, are the dialects' own tests.
#include <gtest/gtest.h>

#include "tests/oracle/naive_index.h"
#include "tick/tick.h"

namespace pctally {
namespace {

constexpr int kMiss = -1;  ///< not counted; also where the historical code would write behind the buffer
constexpr int kNone = -2;  ///< the dialect does not get as far as the index rule

BinRule rule(int family, uint32_t scale, uint64_t cells, int width = 2, int flags = 0) {
  BinRule made{};
  made.origin = 0x400000;
  made.cells = cells;
  made.scale = scale;
  made.family = static_cast<uint8_t>(family);
  made.cell_shift = width == 8 ? 3 : width == 4 ? 2 : 1;
  made.flags = static_cast<uint8_t>(flags);
  return made;
}

BinRule floor_rule(uint32_t scale, uint64_t cells, int width = 2) {
  return rule(PCTALLY_BIN_FLOOR, scale, cells, width);
}

/// Dialects that put every pc into counter 0 at scale 2.
BinRule floor_or_single(uint32_t scale, uint64_t cells) {
  return rule(PCTALLY_BIN_FLOOR, scale, cells, 2, scale == 2 ? PCTALLY_BIN_SINGLE_CELL : 0);
}

BinRule man_rule(uint32_t scale, uint64_t cells, int width = 2) {
  return rule(PCTALLY_BIN_MAN, scale, cells, width, scale == 0 ? PCTALLY_BIN_ANY_PC : 0);
}

/// AIX looks at the low 16 bits of the scale.
BinRule aix_rule(uint32_t scale, uint64_t cells) { return rule(PCTALLY_BIN_ROUNDUP, scale & 0xffff, cells); }

int engine_counter(const BinRule& made, uint64_t distance) {
  uint64_t index = 0;
  return pctally_bin_index(&made, made.origin + distance, &index) ? static_cast<int>(index) : kMiss;
}

int oracle_counter(const BinRule& made, uint64_t distance) {
  uint64_t index = 0;
  return naive::counts(made, made.origin + distance, &index) ? static_cast<int>(index) : kMiss;
}

void expect_counter(const BinRule& made, uint64_t distance, int expected, const char* column) {
  if (expected == kNone) return;
  EXPECT_EQ(engine_counter(made, distance), expected) << column << " D=" << distance << " s=" << made.scale;
  EXPECT_EQ(oracle_counter(made, distance), expected) << column << " D=" << distance << " s=" << made.scale;
}

struct ScaleRow {
  uint64_t distance;
  uint32_t scale;
  int counter[8];  ///< SVR4, BSD44, MAN, AIX, AIX-lit, HP2, TRU, PAPI16
};

// clang-format off
constexpr ScaleRow kScaleRows[] = {
    {0, 0x10000, {0, 0, 0, kNone, kNone, 0, 0, 0}},
    {1, 0x10000, {0, 0, 0, kNone, kNone, 0, 0, 0}},
    {2, 0x10000, {1, 1, 1, kNone, kNone, 1, 1, 1}},
    {3, 0x10000, {1, 1, 1, kNone, kNone, 1, 1, 1}},
    {4, 0x10000, {2, 2, 2, kNone, kNone, 2, 2, 2}},
    {62, 0x10000, {31, 31, 31, kNone, kNone, 31, 31, 31}},
    {63, 0x10000, {31, 31, 31, kNone, kNone, 31, 31, 31}},
    {64, 0x10000, {kMiss, kMiss, kMiss, kNone, kNone, kMiss, kMiss, kMiss}},
    {0, 0xffff, {0, 0, 0, 0, 0, 0, 0, 0}},
    {1, 0xffff, {0, 0, 0, 0, 0, 0, 0, 0}},
    {2, 0xffff, {0, 0, 0, 1, 1, 0, 0, 0}},
    {3, 0xffff, {1, 1, 0, 1, 1, 1, 1, 1}},
    {4, 0xffff, {1, 1, 1, 2, 2, 1, 1, 1}},
    {5, 0xffff, {2, 2, 1, 2, 2, 2, 2, 2}},
    {6, 0xffff, {2, 2, 2, 3, 3, 2, 2, 2}},
    {7, 0xffff, {3, 3, 2, 3, 3, 3, 3, 3}},
    {62, 0xffff, {30, 30, 30, 31, kMiss, 30, 30, 30}},
    {63, 0xffff, {31, 31, 30, 31, kMiss, 31, 31, 31}},
    {64, 0xffff, {31, 31, 31, kMiss, kMiss, 31, 31, 31}},
    {65, 0xffff, {kMiss, kMiss, 31, kMiss, kMiss, kMiss, kMiss, kMiss}},
    {66, 0xffff, {kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss}},
    {0, 0xc000, {0, 0, 0, 0, 0, 0, 0, 0}},
    {1, 0xc000, {0, 0, 0, 0, 0, 0, 0, 0}},
    {2, 0xc000, {0, 0, 0, 1, 1, 0, 0, 0}},
    {3, 0xc000, {1, 1, 0, 1, 1, 1, 1, 1}},
    {4, 0xc000, {1, 1, 1, 2, 2, 1, 1, 1}},
    {5, 0xc000, {1, 1, 1, 2, 2, 1, 1, 1}},
    {6, 0xc000, {2, 2, 2, 2, 2, 2, 2, 2}},
    {7, 0xc000, {2, 2, 2, 3, 3, 2, 2, 2}},
    {84, 0xc000, {31, 31, 31, kMiss, kMiss, 31, 31, 31}},
    {85, 0xc000, {31, 31, 31, kMiss, kMiss, 31, 31, 31}},
    {86, 0xc000, {kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss}},
    {0, 0x8000, {0, 0, 0, 0, 0, 0, 0, 0}},
    {2, 0x8000, {0, 0, 0, 1, 1, 0, 0, 0}},
    {3, 0x8000, {0, 0, 0, 1, 1, 0, 0, 0}},
    {4, 0x8000, {1, 1, 1, 1, 1, 1, 1, 1}},
    {5, 0x8000, {1, 1, 1, 1, 1, 1, 1, 1}},
    {7, 0x8000, {1, 1, 1, 2, 2, 1, 1, 1}},
    {8, 0x8000, {2, 2, 2, 2, 2, 2, 2, 2}},
    {126, 0x8000, {31, 31, 31, kMiss, kMiss, 31, 31, 31}},
    {127, 0x8000, {31, 31, 31, kMiss, kMiss, 31, 31, 31}},
    {128, 0x8000, {kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss}},
    {0, 0x7fff, {0, 0, 0, 0, 0, 0, 0, 0}},
    {2, 0x7fff, {0, 0, 0, 0, 0, 0, 0, 0}},
    {3, 0x7fff, {0, 0, 0, 1, 1, 0, 0, 0}},
    {4, 0x7fff, {0, 0, 0, 1, 1, 0, 0, 0}},
    {5, 0x7fff, {1, 1, 0, 1, 1, 1, 1, 1}},
    {6, 0x7fff, {1, 1, 1, 1, 1, 1, 1, 1}},
    {7, 0x7fff, {1, 1, 1, 2, 2, 1, 1, 1}},
    {8, 0x7fff, {1, 1, 1, 2, 2, 1, 1, 1}},
    {126, 0x7fff, {31, 31, 31, 31, kMiss, 31, 31, 31}},
    {127, 0x7fff, {31, 31, 31, kMiss, kMiss, 31, 31, 31}},
    {128, 0x7fff, {31, 31, 31, kMiss, kMiss, 31, 31, 31}},
    {129, 0x7fff, {kMiss, kMiss, 31, kMiss, kMiss, kMiss, kMiss, kMiss}},
    {130, 0x7fff, {kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss}},
    {0, 0x4000, {0, 0, 0, 0, 0, 0, 0, 0}},
    {7, 0x4000, {0, 0, 0, 1, 1, 0, 0, 0}},
    {8, 0x4000, {1, 1, 1, 1, 1, 1, 1, 1}},
    {15, 0x4000, {1, 1, 1, 2, 2, 1, 1, 1}},
    {16, 0x4000, {2, 2, 2, 2, 2, 2, 2, 2}},
    {255, 0x4000, {31, 31, 31, kMiss, kMiss, 31, 31, 31}},
    {256, 0x4000, {kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss}},
    {0, 0x3, {0, 0, 0, 0, 0, 0, 0, 0}},
    {43689, 0x3, {0, 0, 0, 1, 1, 0, 0, 0}},
    {43690, 0x3, {0, 0, 0, 1, 1, 0, 0, 0}},
    {43691, 0x3, {1, 1, 0, 1, 1, 1, 1, 1}},
    {65535, 0x3, {1, 1, 1, 1, 1, 1, 1, 1}},
    {65536, 0x3, {1, 1, 1, 2, 2, 1, 1, 1}},
    {1398100, 0x3, {31, 31, 31, kMiss, kMiss, 31, 31, 31}},
    {1398101, 0x3, {31, 31, 31, kMiss, kMiss, 31, 31, 31}},
    {0, 0x2, {0, 0, 0, 0, 0, 0, 0, 0}},
    {32767, 0x2, {0, 0, 0, 0, 0, 0, 0, 0}},
    {32768, 0x2, {0, 0, 0, 1, 1, 0, 0, 0}},
    {65535, 0x2, {0, 0, 0, 1, 1, 0, 0, 0}},
    {65536, 0x2, {0, 1, 1, 1, 1, 1, 0, 1}},
    {131072, 0x2, {0, 2, 2, 2, 2, 2, 0, 2}},
    {2097151, 0x2, {0, 31, 31, kMiss, kMiss, 31, 0, 31}},
    {2097152, 0x2, {0, kMiss, kMiss, kMiss, kMiss, kMiss, 0, kMiss}},
    {0, 0x1, {kNone, 0, 0, kNone, kNone, kNone, kNone, kNone}},
    {131071, 0x1, {kNone, 0, 0, kNone, kNone, kNone, kNone, kNone}},
    {131072, 0x1, {kNone, 1, 1, kNone, kNone, kNone, kNone, kNone}},
    {0, 0x0, {kNone, kNone, 0, kNone, kNone, kNone, kNone, kNone}},
    {0, 0x18000, {0, kNone, 0, 0, 0, 0, 0, kNone}},
    {1, 0x18000, {0, kNone, 0, 0, 0, 0, 0, kNone}},
    {2, 0x18000, {1, kNone, 1, 1, 1, 1, 1, kNone}},
    {3, 0x18000, {2, kNone, 1, 1, 1, 2, 2, kNone}},
    {4, 0x18000, {3, kNone, 3, 1, 1, 3, 3, kNone}},
    {5, 0x18000, {3, kNone, 3, 1, 1, 3, 3, kNone}},
    {42, 0x18000, {31, kNone, 31, 11, 11, 31, 31, kNone}},
    {43, 0x18000, {kMiss, kNone, 31, 11, 11, kMiss, kMiss, kNone}},
    {0, 0x20000, {0, kNone, 0, kNone, kNone, 0, 0, 0}},
    {1, 0x20000, {1, kNone, 0, kNone, kNone, 1, 1, 1}},
    {2, 0x20000, {2, kNone, 2, kNone, kNone, 2, 2, 2}},
    {3, 0x20000, {3, kNone, 2, kNone, kNone, 3, 3, 3}},
    {31, 0x20000, {31, kNone, 30, kNone, kNone, 31, 31, 31}},
    {32, 0x20000, {kMiss, kNone, kMiss, kNone, kNone, kMiss, kMiss, kMiss}},
    {2, 0x12345, {1, kNone, 1, 0, 0, 1, 1, kNone}},
    {10, 0x12345, {5, kNone, 5, 1, 1, 5, 5, kNone}},
    {56, 0x12345, {31, kNone, 31, 4, 4, 31, 31, kNone}},
    {57, 0x12345, {kMiss, kNone, 31, 4, 4, kMiss, kMiss, kNone}},};
// clang-format on

// 64 bytes of 16-bit counters. AIX-lit compares the byte position with the number of shorts.
TEST(ManualTables, SixteenBitCountersAtEveryScale) {
  for (const ScaleRow& row : kScaleRows) {
    auto expect = [&](const BinRule& made, int column, const char* name) {
      expect_counter(made, row.distance, row.counter[column], name);
    };
    expect(floor_or_single(row.scale, 32), 0, "SVR4");
    expect(floor_rule(row.scale, 32), 1, "BSD44");
    expect(man_rule(row.scale, 32), 2, "MAN");
    expect(aix_rule(row.scale, 32), 3, "AIX");
    expect(aix_rule(row.scale, 16), 4, "AIX-lit");
    expect(floor_rule(row.scale, 32), 5, "HP2");
    expect(floor_or_single(row.scale, 32), 6, "TRU");
    expect(floor_rule(row.scale, 32), 7, "PAPI16");
  }
}

struct WidthRow {
  uint64_t distance;
  uint32_t scale;
  int counter[9];  ///< HP2, HP4, HP8, glibc-s2, glibc-s4, TRU-ext4, PAPI16, PAPI32, PAPI64
};

// clang-format off
constexpr WidthRow kWidthRows[] = {
    {0, 0x10000, {0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {1, 0x10000, {0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {2, 0x10000, {1, 0, 0, 1, 0, 0, 1, 1, 1}},
    {3, 0x10000, {1, 0, 0, 1, 0, 0, 1, 1, 1}},
    {4, 0x10000, {2, 1, 0, 2, 1, 1, 2, 2, 2}},
    {7, 0x10000, {3, 1, 0, 3, 1, 1, 3, 3, 3}},
    {8, 0x10000, {4, 2, 1, 4, 2, 2, 4, 4, 4}},
    {15, 0x10000, {7, 3, 1, 7, 3, 3, 7, 7, 7}},
    {16, 0x10000, {8, 4, 2, 8, 4, 4, 8, 8, kMiss}},
    {31, 0x10000, {15, 7, 3, 15, 7, 7, 15, 15, kMiss}},
    {32, 0x10000, {16, 8, 4, 16, 8, 8, 16, kMiss, kMiss}},
    {63, 0x10000, {31, 15, 7, 31, 15, 15, 31, kMiss, kMiss}},
    {64, 0x10000, {kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss}},
    {0, 0x8000, {0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {3, 0x8000, {0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {4, 0x8000, {1, 0, 0, 1, 0, 0, 1, 1, 1}},
    {7, 0x8000, {1, 0, 0, 1, 0, 0, 1, 1, 1}},
    {8, 0x8000, {2, 1, 0, 2, 1, 1, 2, 2, 2}},
    {15, 0x8000, {3, 1, 0, 3, 1, 1, 3, 3, 3}},
    {16, 0x8000, {4, 2, 1, 4, 2, 2, 4, 4, 4}},
    {127, 0x8000, {31, 15, 7, 31, 15, 15, 31, kMiss, kMiss}},
    {128, 0x8000, {kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss}},
    {0, 0x20000, {0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {1, 0x20000, {1, 0, 0, 0, 0, 0, 1, 1, 1}},
    {2, 0x20000, {2, 1, 0, 2, 0, 1, 2, 2, 2}},
    {3, 0x20000, {3, 1, 0, 2, 0, 1, 3, 3, 3}},
    {4, 0x20000, {4, 2, 1, 4, 2, 2, 4, 4, 4}},
    {31, 0x20000, {31, 15, 7, 30, 14, 15, 31, kMiss, kMiss}},
    {32, 0x20000, {kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss}},
    {0, 0xffff, {0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {3, 0xffff, {1, 0, 0, 0, 0, 0, 1, 1, 1}},
    {4, 0xffff, {1, 0, 0, 1, 0, 0, 1, 1, 1}},
    {5, 0xffff, {2, 1, 0, 1, 0, 1, 2, 2, 2}},
    {7, 0xffff, {3, 1, 0, 2, 0, 1, 3, 3, 3}},
    {8, 0xffff, {3, 1, 0, 3, 1, 1, 3, 3, 3}},
    {9, 0xffff, {4, 2, 1, 3, 1, 2, 4, 4, 4}},
    {63, 0xffff, {31, 15, 7, 30, 14, 15, 31, kMiss, kMiss}},
    {64, 0xffff, {31, 15, 7, 31, 15, 15, 31, kMiss, kMiss}},
    {65, 0xffff, {kMiss, kMiss, kMiss, 31, 15, kMiss, kMiss, kMiss, kMiss}},
    {0, 0x4000, {0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {15, 0x4000, {1, 0, 0, 1, 0, 0, 1, 1, 1}},
    {16, 0x4000, {2, 1, 0, 2, 1, 1, 2, 2, 2}},
    {31, 0x4000, {3, 1, 0, 3, 1, 1, 3, 3, 3}},
    {32, 0x4000, {4, 2, 1, 4, 2, 2, 4, 4, 4}},
    {255, 0x4000, {31, 15, 7, 31, 15, 15, 31, kMiss, kMiss}},
    {256, 0x4000, {kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss, kMiss}},};
// clang-format on

// 64 bytes: 32 counters of 2 bytes, 16 of 4 or 8 of 8. PAPI's buckets are 2 addresses wide whatever
// their own width.
TEST(ManualTables, WiderCounters) {
  for (const WidthRow& row : kWidthRows) {
    auto expect = [&](const BinRule& made, int column, const char* name) {
      expect_counter(made, row.distance, row.counter[column], name);
    };
    expect(floor_rule(row.scale, 32, 2), 0, "HP2");
    expect(floor_rule(row.scale, 16, 4), 1, "HP4");
    expect(floor_rule(row.scale, 8, 8), 2, "HP8");
    expect(man_rule(row.scale, 32, 2), 3, "glibc-s2");
    expect(man_rule(row.scale, 16, 4), 4, "glibc-s4");
    expect(floor_rule(row.scale, 16, 4), 5, "TRU-ext4");
    expect(floor_rule(row.scale, 32, 2), 6, "PAPI16");
    expect(floor_rule(row.scale, 16, 2), 7, "PAPI32");
    expect(floor_rule(row.scale, 8, 2), 8, "PAPI64");
  }
}

struct SizeRow {
  uint64_t bytes;
  uint64_t distance;
  int counter[4];  ///< SVR4, BSD44, MAN, AIX; kMiss where the dialect's own code wrote past the caller's size
};

// clang-format off
constexpr SizeRow kSizeRows[] = {
    {0, 0, {kMiss, kMiss, kMiss, kMiss}},
    {0, 1, {kMiss, kMiss, kMiss, kMiss}},
    {0, 2, {kMiss, kMiss, kMiss, kMiss}},
    {0, 3, {kMiss, kMiss, kMiss, kMiss}},
    {0, 4, {kMiss, kMiss, kMiss, kMiss}},
    {0, 5, {kMiss, kMiss, kMiss, kMiss}},
    {0, 6, {kMiss, kMiss, kMiss, kMiss}},
    {1, 0, {kMiss, kMiss, kMiss, kMiss}},
    {1, 1, {kMiss, kMiss, kMiss, kMiss}},
    {1, 2, {kMiss, kMiss, kMiss, kMiss}},
    {1, 3, {kMiss, kMiss, kMiss, kMiss}},
    {1, 4, {kMiss, kMiss, kMiss, kMiss}},
    {1, 5, {kMiss, kMiss, kMiss, kMiss}},
    {1, 6, {kMiss, kMiss, kMiss, kMiss}},
    {2, 0, {0, 0, 0, 0}},
    {2, 1, {0, 0, 0, 0}},
    {2, 2, {kMiss, kMiss, kMiss, kMiss}},
    {2, 3, {kMiss, kMiss, kMiss, kMiss}},
    {2, 4, {kMiss, kMiss, kMiss, kMiss}},
    {2, 5, {kMiss, kMiss, kMiss, kMiss}},
    {2, 6, {kMiss, kMiss, kMiss, kMiss}},
    {3, 0, {0, 0, 0, 0}},
    {3, 1, {0, 0, 0, 0}},
    {3, 2, {kMiss, kMiss, kMiss, kMiss}},
    {3, 3, {kMiss, kMiss, kMiss, kMiss}},
    {3, 4, {kMiss, kMiss, kMiss, kMiss}},
    {3, 5, {kMiss, kMiss, kMiss, kMiss}},
    {3, 6, {kMiss, kMiss, kMiss, kMiss}},
    {5, 0, {0, 0, 0, 0}},
    {5, 1, {0, 0, 0, 0}},
    {5, 2, {1, 1, 1, 1}},
    {5, 3, {1, 1, 1, 1}},
    {5, 4, {kMiss, kMiss, kMiss, kMiss}},
    {5, 5, {kMiss, kMiss, kMiss, kMiss}},
    {5, 6, {kMiss, kMiss, kMiss, kMiss}},};
// clang-format on

// A buffer holds the whole counters that fit: an odd byte at its end is never written.
TEST(ManualTables, OddAndTinyBuffers) {
  for (const SizeRow& row : kSizeRows) {
    uint64_t cells = row.bytes / 2;
    expect_counter(floor_rule(0x10000, cells), row.distance, row.counter[0], "SVR4");
    expect_counter(floor_rule(0x10000, cells), row.distance, row.counter[1], "BSD44");
    expect_counter(man_rule(0x10000, cells), row.distance, row.counter[2], "MAN");
    expect_counter(aix_rule(0xffff, cells), row.distance, row.counter[3], "AIX");
  }
}

// The column "exact": products that a narrower multiplication or a cast would bring back into the buffer.
TEST(ManualTables, WideDistancesAreNotCounted) {
  for (uint64_t distance : {0xffffffffu + uint64_t{0}, uint64_t{0x100000000}, uint64_t{0x100000010},
                            uint64_t{0x7fffffffffff}, uint64_t{0x1000000000000}, uint64_t{0x1000000000010}}) {
    expect_counter(floor_rule(0x10000, 32), distance, kMiss, "FLOOR");
    expect_counter(man_rule(0x10000, 32), distance, kMiss, "MAN");
    expect_counter(aix_rule(0xffff, 32), distance, kMiss, "AIX");
  }
}

// The first byte not covered decides what overlaps: 64 bytes of counters at scale 0xffff reach
// one byte further.
TEST(ManualTables, FirstByteNotCovered) {
  BinRule whole = floor_rule(0x10000, 32), nearly = floor_rule(0xffff, 32);
  EXPECT_EQ(pctally_bin_last(&whole), whole.origin + 63);
  EXPECT_EQ(pctally_bin_last(&nearly), nearly.origin + 64);
}

/// Two regions at 0x400000 and 0x500000 with 4-byte counters, 1:1, and an overflow cell.
struct TwoRegions {
  uint32_t a[64] = {}, b[64] = {}, rest = 0;
  Region regions[2] = {}, overflow = {};
  Ledger ledger{};
  RegionTable table{};

  explicit TwoRegions(uint64_t cells) {
    regions[0] = region(0x400000, cells, a);
    regions[1] = region(0x500000, cells, b);
    seal_regions(regions, 2);
    overflow = region(0, 1, &rest);
    table.regions = regions;
    table.count = 2;
    table.overflow = &overflow;
    table.ledger = &ledger;
  }
  static Region region(uint64_t low, uint64_t cells, uint32_t* counters) {
    Region made{};
    made.rule = floor_rule(0x10000, cells, 4);
    made.rule.origin = made.low = low;
    made.last = pctally_bin_last(&made.rule);
    made.cells = counters;
    made.kind = CellKind::kU32;
    return made;
  }
};

TEST(ManualTables, RegionSearchInTheOrderThatBreaksOtherImplementations) {
  TwoRegions two(16);
  tick(two.table, 0x400000, 1);
  EXPECT_EQ(two.a[0], 1u) << "the first tick of a region";
  tick(two.table, 0x400000, 1);
  EXPECT_EQ(two.a[0], 2u);
  tick(two.table, 0x500008, 1);
  EXPECT_EQ(two.b[2], 1u) << "the first tick after a change of region";
  EXPECT_EQ(two.rest, 0u);
  tick(two.table, 0x600000, 1);
  tick(two.table, 0x400040, 1);
  tick(two.table, 0x3fffff, 1);
  EXPECT_EQ(two.rest, 3u);
  EXPECT_EQ(two.ledger.counted, 6u);

  TwoRegions larger(64);
  tick(larger.table, 0x500000, 1);
  tick(larger.table, 0x400010, 1);
  EXPECT_EQ(larger.a[4], 1u);
  EXPECT_EQ(larger.a[32], 0u);
}

TEST(ManualTables, LowPcWithOneRegionAtTheTopOfMemory) {
  TwoRegions two(64);
  two.regions[0] = TwoRegions::region(~uint64_t{0} - 63, 64, two.a);
  seal_regions(two.regions, 1);
  two.table.count = 1;
  two.table.overflow = nullptr;
  EXPECT_EQ(tick(two.table, 0x1000, 1), TickOutcome::kOutside);
  EXPECT_EQ(tick(two.table, ~uint64_t{0}, 1), TickOutcome::kCounted);
  EXPECT_EQ(two.a[15], 1u);
  EXPECT_EQ(two.ledger.outside, 1u);
}

// text_start 0x80200050, text_end 0x80200124, 53 counters: the documented last instruction is one too far.
TEST(ManualTables, Nintendo64) {
  uint16_t counters[53] = {};
  uint32_t rest = 0;
  Ledger ledger{};
  Region overflow = TwoRegions::region(0, 1, &rest);
  Region text{};
  text.low = text.rule.origin = 0x80200050;
  text.last = 0x80200124 - 1;
  text.rule.family = PCTALLY_BIN_SHIFT;
  text.rule.shift = 2;
  text.rule.cells = 53;
  text.cells = counters;
  text.kind = CellKind::kU16;
  text.when_full = WhenFull::kWrap;
  seal_regions(&text, 1);
  RegionTable table{};
  table.regions = &text;
  table.count = 1;
  table.overflow = &overflow;
  table.ledger = &ledger;

  for (uint64_t pc : {0x80200050, 0x80200053, 0x80200054, 0x80200120, 0x80200124, 0x8020004c})
    tick(table, pc, 1);
  EXPECT_EQ(counters[0], 2);
  EXPECT_EQ(counters[1], 1);
  EXPECT_EQ(counters[52], 1);
  EXPECT_EQ(rest, 2u);
  counters[7] = 65535;
  EXPECT_EQ(tick(table, 0x80200050 + 7 * 4, 1), TickOutcome::kCounted);
  EXPECT_EQ(counters[7], 0);
  EXPECT_EQ(ledger.counted, 7u);
}

}  // namespace
}  // namespace pctally
