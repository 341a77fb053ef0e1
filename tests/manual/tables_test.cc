// Tables T1 to T7 through the public calls of every dialect, by forged pcs. (T8 is the Nintendo 64's.)
#include <errno.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "pctally/aix.h"
#include "pctally/bsd.h"
#include "pctally/glibc.h"
#include "pctally/hpux.h"
#include "pctally/irix.h"
#include "pctally/svr4.h"
#include "pctally/tru64.h"
#include "tests/manual/page_test.h"
#include "tests/manual/reference_tables.h"

namespace pctally::manual {
namespace {

/// Which counter one tick at `distance` raised, or what the call did instead.
template <class Cell>
int counter_of(const std::function<int(void* cells, unsigned bytes)>& start,
               const std::function<void()>& stop, uint64_t distance, unsigned bytes = 64) {
  Fenced fence(bytes / 8 * 8 + 8);  // aligned
  errno = 0;
  int result = start(fence.as<void>(), bytes);
  if (result != 0) return errno == EINVAL ? kEinval : -100;
  bool on = pctally_count(text(distance), 1) == 0;
  stop();
  if (!on) return kOff;
  int found = kMiss;
  for (unsigned i = 0; i < bytes / sizeof(Cell); ++i)
    if (fence.as<Cell>()[i] != 0) found = static_cast<int>(i);
  for (unsigned i = bytes / sizeof(Cell) * sizeof(Cell); i < bytes / 8 * 8 + 8; ++i)
    EXPECT_EQ(fence.as<char>()[i], 0) << "behind the last whole counter";
  return found;
}

using dialect_tables = Page;

void stop_svr4() { pctally_svr4_profil(nullptr, 0, 0, 0); }
void stop_bsd() { pctally_bsd_profil(nullptr, 0, 0, 0); }
void stop_glibc() { pctally_glibc_profil(nullptr, 0, 0, 0); }
void stop_aix() { pctally_aix_profil(nullptr, 2, 0, 0); }
void stop_hpux() { pctally_hpux_sprofil(nullptr, 0, nullptr, 0); }
void stop_tru64() { pctally_tru64_profil(nullptr, 0, 0, 0); }

int svr4(uint32_t scale, uint64_t distance, unsigned bytes = 64) {
  auto start = [=](void* cells, unsigned size) {
    return pctally_svr4_profil(static_cast<uint16_t*>(cells), size, kText, scale);
  };
  return counter_of<uint16_t>(start, stop_svr4, distance, bytes);
}

int bsd(uint32_t scale, uint64_t distance, unsigned bytes = 64) {
  auto start = [=](void* cells, unsigned size) {
    return pctally_bsd_profil(static_cast<char*>(cells), size, kText, scale);
  };
  return counter_of<uint16_t>(start, stop_bsd, distance, bytes);
}

int glibc(uint32_t scale, uint64_t distance, unsigned bytes = 64) {
  auto start = [=](void* cells, unsigned size) {
    return pctally_glibc_profil(static_cast<uint16_t*>(cells), size, kText, scale);
  };
  return counter_of<uint16_t>(start, stop_glibc, distance, bytes);
}

int aix(uint32_t scale, uint64_t distance, unsigned bytes = 64) {
  auto start = [=](void* cells, unsigned size) { return pctally_aix_profil(cells, size, kText, scale); };
  return counter_of<uint16_t>(start, stop_aix, distance, bytes);
}

int tru64(uint32_t scale, uint64_t distance) {
  auto start = [=](void* cells, unsigned size) {
    return pctally_tru64_profil(cells, size, static_cast<long>(kText), scale), 0;
  };
  return counter_of<uint16_t>(start, stop_tru64, distance);
}

template <class Cell>
int hpux(uint32_t scale, uint64_t distance) {
  auto start = [=](void* cells, unsigned size) {
    pctally_hpux_prof entry{cells, size, text(), scale};
    return pctally_hpux_sprofil(&entry, 1, nullptr, sizeof(Cell) / 2);
  };
  return counter_of<Cell>(start, stop_hpux, distance);
}

template <class Cell>
int glibc_sprofil(uint32_t scale, uint64_t distance) {
  auto start = [=](void* cells, unsigned size) {
    pctally_glibc_prof entry{cells, size, kText, scale};
    return pctally_glibc_sprofil(&entry, 1, nullptr,
                                 sizeof(Cell) == 4 ? PCTALLY_GLIBC_UINT : PCTALLY_GLIBC_USHORT);
  };
  return counter_of<Cell>(
      start, [] { pctally_glibc_sprofil(nullptr, 0, nullptr, 0); }, distance);
}

int tru64_extended(uint32_t scale, uint64_t distance) {
  auto start = [=](void* cells, unsigned size) {
    // highpc is where the buffer ends: the first byte not covered.
    uint64_t end = (uint64_t{size} * 65536 + scale - 1) / scale;
    pctally_tru64_profil_args entry{static_cast<unsigned*>(cells), text(end), text(), text(), scale};
    return pctally_tru64_profil(&entry, 1, -1, 0), 0;
  };
  return counter_of<uint32_t>(start, stop_tru64, distance);
}

TEST_F(dialect_tables, t1_16_bit_counters) {
  for (const ScaleRow& row : kScaleRows) {
    SCOPED_TRACE(testing::Message() << "D " << row.distance << " scale " << row.scale);
    EXPECT_EQ(svr4(row.scale, row.distance), row.svr4);
    EXPECT_EQ(bsd(row.scale, row.distance), row.bsd);
    EXPECT_EQ(glibc(row.scale, row.distance), row.glibc);
    // One location for scale 2, as the page's own table says; the formula would move on at 32768.
    EXPECT_EQ(aix(row.scale, row.distance), row.scale == 2 ? 0 : row.aix);
    EXPECT_EQ(tru64(row.scale, row.distance), row.tru64);
    EXPECT_EQ(hpux<uint16_t>(row.scale, row.distance), row.hpux == kIgnored ? kMiss : row.hpux);
  }
}

TEST_F(dialect_tables, t2_wider_counters) {
  for (const WidthRow& row : kWidthRows) {
    SCOPED_TRACE(testing::Message() << "D " << row.distance << " scale " << row.scale);
    EXPECT_EQ(hpux<uint16_t>(row.scale, row.distance), row.hpux2);
    EXPECT_EQ(hpux<uint32_t>(row.scale, row.distance), row.hpux4);
    EXPECT_EQ(hpux<uint64_t>(row.scale, row.distance), row.hpux8);
    EXPECT_EQ(glibc_sprofil<uint16_t>(row.scale, row.distance), row.glibc2);
    EXPECT_EQ(glibc_sprofil<uint32_t>(row.scale, row.distance), row.glibc4);
    EXPECT_EQ(tru64_extended(row.scale, row.distance), row.tru64_extended);
  }
}

TEST_F(dialect_tables, t3_odd_and_tiny_buffers) {
  for (const SizeRow& row : kSizeRows) {
    SCOPED_TRACE(testing::Message() << "size " << row.bytes << " D " << row.distance);
    EXPECT_EQ(svr4(0x10000, row.distance, row.bytes), row.svr4);
    EXPECT_EQ(bsd(0x10000, row.distance, row.bytes), row.bsd);
    EXPECT_EQ(glibc(0x10000, row.distance, row.bytes), row.glibc);
    int expected = row.bytes == 0 ? kOff : row.aix;  // an ineffective call turns nothing on
    EXPECT_EQ(aix(0xffff, row.distance, row.bytes), expected);
  }
}

TEST_F(dialect_tables, t4_wide_differences) {
  if (sizeof(void*) == 4) GTEST_SKIP() << "no two addresses are that far apart on this machine";
  for (uint64_t distance : {0xffffffffull, 0x100000000ull, 0x100000010ull, 0x7fffffffffffull,
                            0x1000000000000ull, 0x1000000000010ull}) {
    EXPECT_EQ(svr4(0x10000, distance), kMiss);
    EXPECT_EQ(bsd(0x10000, distance), kMiss) << "exact, without the cast to int";
    EXPECT_EQ(glibc(0x10000, distance), kMiss);
    EXPECT_EQ(aix(0xffff, distance), kMiss);
    EXPECT_EQ(hpux<uint16_t>(0x10000, distance), kMiss);
  }
}

// HP-UX, AIX, SVR4 and BSD limits are sentences of their pages; these have none.
TEST_F(dialect_tables, t5_limits_of_glibc) {
  uint16_t cells[2] = {65535, 65535}, rest = 65535;
  ASSERT_EQ(pctally_glibc_profil(cells, 4, kText, 0x10000), 0);
  tick_at(kText);
  EXPECT_EQ(cells[0], 0) << "profil wraps";
  pctally_glibc_prof entries[] = {{cells, 4, kText, 0x10000}, {&rest, 2, 0, 2}};
  ASSERT_EQ(pctally_glibc_sprofil(entries, 2, nullptr, 0), 0);
  tick_at(kText + 2), tick_at(1);
  EXPECT_EQ(cells[1], 65535) << "a region stays";
  EXPECT_EQ(rest, 0) << "the overflow entry wraps";
  pctally_glibc_sprofil(nullptr, 0, nullptr, 0);
}

// T6 is hpux_sprofil_errors and hpux_sprofil_description.

/// T7: A at 0x400000, B at 0x500000, an overflow entry, 4-byte counters 1:1.
template <class Prof, class Call>
void search(Call call, unsigned flags) {
  uint32_t a[64] = {}, b[64] = {}, rest = 0;
  Prof entries[] = {{a, 64, {}, 0x10000}, {b, 64, {}, 0x10000}, {&rest, 4, {}, 2}};
  if constexpr (requires { entries[0].pr_offset; }) {
    entries[0].pr_offset = text(), entries[1].pr_offset = text(0x100000);
  } else {
    entries[0].pr_off = kText, entries[1].pr_off = kText + 0x100000;
  }
  ASSERT_EQ(call(entries, 3, nullptr, flags), 0);
  tick_at(0x400000);
  EXPECT_EQ(a[0], 1u) << "first hit";
  tick_at(0x400000);
  EXPECT_EQ(a[0], 2u);
  tick_at(0x500008);
  EXPECT_EQ(b[2], 1u) << "after a change of region";
  tick_at(0x600000);
  EXPECT_EQ(rest, 1u);
  entries[0].pr_size = entries[1].pr_size = 256;
  ASSERT_EQ(call(entries, 3, nullptr, flags), 0);
  tick_at(0x500000), tick_at(0x400010);
  EXPECT_EQ(a[4], 1u);
  EXPECT_EQ(a[32], 0u);
  ASSERT_EQ(call(entries, 1, nullptr, flags), 0);
  tick_at(1);
  EXPECT_EQ(rest, 1u);
  EXPECT_EQ(call(nullptr, 0, nullptr, flags), 0);
}

TEST_F(dialect_tables, t7_region_search) {
  search<pctally_hpux_prof>(pctally_hpux_sprofil, PCTALLY_HPUX_UINT);
  search<pctally_irix_prof>(pctally_irix_sprofil, PCTALLY_IRIX_UINT);
  search<pctally_glibc_prof>(pctally_glibc_sprofil, PCTALLY_GLIBC_UINT);
}

// IRIX: "the pr_base associated with the largest offset less than the value of the program counter gets
// incremented. If more than one text region has the same offset, the first one is chosen."
TEST_F(dialect_tables, t7_irix_overlaps) {
  uint16_t low[64] = {}, high[64] = {}, same[64] = {}, rest = 0;
  pctally_irix_prof entries[] = {{high, 32, kText + 0x20, 0x10000},
                                 {low, 128, kText, 0x10000},
                                 {same, 128, kText + 0x20, 0x10000},
                                 {&rest, 2, 0, 2}};
  ASSERT_EQ(pctally_irix_sprofil(entries, 4, nullptr, PCTALLY_IRIX_USHORT), 0);
  tick_at(kText + 0x20), tick_at(kText + 0x1f), tick_at(kText + 0x40), tick_at(kText + 0x200);
  EXPECT_EQ(high[0], 1) << "the largest offset, and of two the first";
  EXPECT_EQ(low[15], 1);
  EXPECT_EQ(same[16], 1) << "behind the end of the first";
  EXPECT_EQ(rest, 1);
  pctally_irix_sprofil(nullptr, 0, nullptr, 0);
}

/// The counter that IRIX's rule picks for a pc, found by looking at all of them; -1: none.
long largest_offset(const std::vector<pctally_irix_prof>& entries, uintptr_t pc) {
  long best = -1;
  for (size_t i = 0; i < entries.size(); ++i) {
    bool holds = entries[i].pr_off <= pc && pc - entries[i].pr_off < entries[i].pr_size;
    if (holds && (best < 0 || entries[i].pr_off > entries[static_cast<size_t>(best)].pr_off))
      best = static_cast<long>(i);
  }
  return best;
}

TEST_F(dialect_tables, irix_overlaps_in_any_order) {
  std::mt19937 random(42);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::vector<uint16_t>> cells;
    std::vector<pctally_irix_prof> entries;
    for (int i = 0; i < 60; ++i) {
      cells.emplace_back(2 + random() % 30);
      entries.push_back({cells.back().data(), static_cast<unsigned>(2 * cells.back().size()),
                         kText + random() % 40 * 2, 0x10000});
    }
    ASSERT_EQ(pctally_irix_sprofil(entries.data(), 60, nullptr, PCTALLY_IRIX_USHORT), 0);
    for (uintptr_t pc = kText; pc < kText + 160; ++pc) {
      long wanted = largest_offset(entries, pc);
      if (wanted < 0) continue;
      auto& cell = cells[static_cast<size_t>(wanted)][(pc - entries[static_cast<size_t>(wanted)].pr_off) / 2];
      uint16_t before = cell;
      tick_at(pc);
      EXPECT_EQ(cell, before + 1) << "round " << round << " pc " << pc - kText;
    }
  }
  pctally_irix_sprofil(nullptr, 0, nullptr, 0);
}

// The system's code looks at PROF_UINT alone to know the width.
TEST_F(dialect_tables, irix_counters_have_16_bits_but_with_prof_uint) {
  for (unsigned flags = 0; flags < 8; ++flags) {
    uint16_t cells[32] = {};
    timeval tick{};
    pctally_irix_prof entry{cells, 64, kText, 0x10000};
    ASSERT_EQ(pctally_irix_sprofil(&entry, 1, &tick, flags), 0) << flags;
    tick_at(kText + 2);
    const bool wide = (flags & PCTALLY_IRIX_UINT) != 0, fast = (flags & PCTALLY_IRIX_FAST) != 0;
    unsigned first = 0;  // of the wide ones
    memcpy(&first, cells, sizeof first);
    EXPECT_EQ(wide ? first : cells[1], 1u) << flags;
    EXPECT_EQ(tick.tv_usec, fast ? 1000 : 10000) << flags;
  }
  pctally_irix_sprofil(nullptr, 0, nullptr, 0);
}

// The GNU C library's header names as a difference from IRIX that "the overflow bin [...] can appear
// anywhere".
TEST_F(dialect_tables, irix_overflow_entry_is_the_last) {
  uint16_t cells[32] = {}, rest = 0;
  pctally_irix_prof irix[] = {{cells, 64, kText, 0x10000}, {&rest, 2, 0, 2}, {cells, 64, kText, 0}};
  EXPECT_EQ(pctally_irix_sprofil(irix, 3, nullptr, PCTALLY_IRIX_USHORT), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(pctally_irix_sprofil(irix, 2, nullptr, PCTALLY_IRIX_USHORT), 0);
  tick_at(1);
  EXPECT_EQ(pctally_irix_sprofil(irix + 1, 2, nullptr, PCTALLY_IRIX_USHORT), -1);
  tick_at(1);
  EXPECT_EQ(rest, 2) << "what was on stays on";
  pctally_irix_sprofil(nullptr, 0, nullptr, 0);
  pctally_glibc_prof glibc[] = {{&rest, 2, 0, 2}, {cells, 64, kText, 0x10000}};
  EXPECT_EQ(pctally_glibc_sprofil(glibc, 2, nullptr, PCTALLY_GLIBC_USHORT), 0);
  tick_at(1);
  EXPECT_EQ(rest, 3);
  pctally_glibc_sprofil(nullptr, 0, nullptr, 0);
}

// profil(2) of IRIX is its sprofil(2) of one entry with 16-bit counters: the last call of either is on.
TEST_F(dialect_tables, irix_profil_is_sprofil_of_one_entry) {
  uint16_t cells[32] = {};
  uint32_t before = 0;
  pctally_irix_prof everything{&before, 4, 0, 2};
  ASSERT_EQ(pctally_irix_sprofil(&everything, 1, nullptr, PCTALLY_IRIX_UINT), 0);
  tick_at(kText);
  ASSERT_EQ(pctally_irix_profil(cells, sizeof cells, kText, 0x8000), 0);
  tick_at(kText + 4, 65535), tick_at(kText + 4), tick_at(kText + 128), tick_at(kText - 1);
  EXPECT_EQ(before, 1u) << "replaced";
  EXPECT_EQ(cells[1], 65535) << "stays";
  ASSERT_EQ(pctally_irix_profil(cells, sizeof cells, kText, 2), 0);
  tick_at(kText + 65535), tick_at(kText + 65536);
  EXPECT_EQ(cells[0], 1) << "scale 2 is ordinary";
  EXPECT_EQ(cells[1], 65535);
  ASSERT_EQ(pctally_irix_profil(cells, 2, 0, 2), 0);
  tick_at(kText), tick_at(1);
  EXPECT_EQ(cells[0], 3) << "the counter for every pc";
  for (unsigned off : {0u, 1u}) {
    ASSERT_EQ(pctally_irix_sprofil(&everything, 1, nullptr, PCTALLY_IRIX_UINT), 0);
    EXPECT_EQ(pctally_irix_profil(cells, sizeof cells, kText, off), 0);
    EXPECT_EQ(pctally_count(text(), 1), -1) << "it ends sprofil's, too";
  }
  EXPECT_EQ(before, 1u);
}

// An insertion sort took 150 times as long for descending entries as for ascending ones; sorting takes about
// twice as long.
TEST_F(dialect_tables, descending_entries_cost_about_what_ascending_ones_do) {
  constexpr int kEntries = 65536;
  static uint16_t cells[4];
  std::vector<pctally_glibc_prof> up, down;
  for (size_t i = 0; i < kEntries; ++i) up.push_back({cells, sizeof cells, kText + 64 * i, 0x10000});
  down.assign(up.rbegin(), up.rend());
  auto least_cpu_ns = [](std::vector<pctally_glibc_prof>& entries) {
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 3; ++i) {
      uint64_t begun = thread_cpu_ns();
      EXPECT_EQ(pctally_glibc_sprofil(entries.data(), kEntries, nullptr, 0), 0);
      least = std::min(least, thread_cpu_ns() - begun);
    }
    return least;
  };
  EXPECT_LT(least_cpu_ns(down), 20 * least_cpu_ns(up));
  tick_at(kText + 64 * (kEntries - 1));
  EXPECT_EQ(cells[0], 1);
  pctally_glibc_sprofil(nullptr, 0, nullptr, 0);
}

TEST_F(dialect_tables, irix_and_glibc_fast_ticks) {
  uint16_t cells[32] = {};
  timeval slow{}, fast{};
  pctally_irix_prof irix{cells, 64, kText, 0x10000};
  ASSERT_EQ(pctally_irix_sprofil(&irix, 1, &slow, PCTALLY_IRIX_USHORT), 0);
  ASSERT_EQ(pctally_irix_sprofil(&irix, 1, &fast, PCTALLY_IRIX_USHORT | PCTALLY_IRIX_FAST), 0);
  EXPECT_EQ(slow.tv_usec, 10 * fast.tv_usec);
  EXPECT_EQ(pctally_irix_sprofil(&irix, 1, nullptr, 8), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(pctally_irix_sprofil(&irix, 101, nullptr, PCTALLY_IRIX_USHORT), -1);
  EXPECT_EQ(errno, E2BIG);
  pctally_glibc_prof entry{cells, 64, kText, 0x10000};
  for (int i = 0; i < 3; ++i) {  // the C library's own ends in a double free here
    ASSERT_EQ(pctally_glibc_sprofil(&entry, 1, &fast, PCTALLY_GLIBC_FAST), 0);
    ASSERT_EQ(pctally_glibc_sprofil(nullptr, 0, nullptr, 0), 0);
  }
  EXPECT_EQ(fast.tv_usec, 1000);
  EXPECT_EQ(pctally_glibc_sprofil(&entry, 1, nullptr, 4), -1);
  EXPECT_EQ(errno, EINVAL);
  pctally_irix_sprofil(nullptr, 0, nullptr, 0);
}

// Scale 0 with a buffer: every pc at all, as that library does and its header does not say.
TEST_F(dialect_tables, glibc_scale_0) {
  uint16_t cells[32] = {};
  ASSERT_EQ(pctally_glibc_profil(cells, 64, kText, 0), 0);
  tick_at(kText - 1), tick_at(1), tick_at(kText + 100000);
  EXPECT_EQ(cells[0], 3);
  stop_glibc();
}

}  // namespace
}  // namespace pctally::manual
