// HP-UX 11i sprofil(2), sentence by sentence: notes, return value and errors.
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "tests/manual/hot.h"
#include "tests/manual/hpux_page.h"

namespace pctally::manual {
namespace {

using hpux_sprofil_notes = HpuxPage;
using hpux_sprofil_return_value = HpuxPage;
using hpux_sprofil_errors = HpuxPage;

TEST_F(hpux_sprofil_notes, exec_turns_it_off) {
  use_clock();
  EXPECT_EQ(in_child([&] {
              if (sprofil({region(a, 64, 0, 0x10000)}) != 0) return 1;
              execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done", nullptr);
              return 2;
            }),
            0);
}

TEST_F(hpux_sprofil_notes, fork_leaves_it_on_in_both) {
  use_clock();
  std::vector<uint32_t> cells(kBurnBytes / 4);
  ASSERT_EQ(sprofil({{cells.data(), kBurnBytes, text_of<void*>(burn), 0x10000}}, kInt), 0);
  EXPECT_EQ(in_child([&] { return burn_for_ticks(cells, 12) >= 12 ? 0 : 1; }), 0);
  EXPECT_GE(burn_for_ticks(cells, 12), 12u);
}

TEST_F(hpux_sprofil_notes, profil_is_sprofil_with_one_member) {
  for (unsigned scale : {3u, 0x100u, 0x4000u, 0x7fffu, 0xc000u, 0xffffu, 0x10000u, 0x12345u, 0x20000u, ~0u}) {
    uint16_t by_profil[32] = {65534}, by_sprofil[32] = {65534};
    auto count = [&] {
      for (uintptr_t distance = 0; distance < 300; ++distance) tick_at(kText + distance);
      for (uintptr_t distance = 65535; distance < 2'000'000; distance += 65535) tick_at(kText + distance);
      tick_at(kText - 1), tick_at(0);
    };
    pctally_hpux_profil(by_profil, 64, kText, scale), count();
    ASSERT_EQ(sprofil({region(by_sprofil, 64, 0, scale)}), 0);
    count();
    EXPECT_EQ(memcmp(by_profil, by_sprofil, 64), 0) << scale;
    EXPECT_EQ(by_profil[0], 65535) << scale << " stays when full";
  }
}

TEST_F(hpux_sprofil_notes, profil_and_sprofil_replace_each_other) {
  pctally_hpux_profil(a, 64, kText, 0x10000);
  tick_at(kText + 3), tick_at(kText + 64);
  EXPECT_EQ(a[1], 1);
  EXPECT_EQ(sum(a), 1u);
  ASSERT_EQ(sprofil({region(b, 64, 0, 0x10000)}), 0);
  tick_at(kText);
  EXPECT_EQ(sum(a), 1u) << "replaced";
  pctally_hpux_profil(a, 64, kText, 0x10000);
  tick_at(kText);
  EXPECT_EQ(sum(b), 1u) << "replaced";
  EXPECT_EQ(sum(a), 2u);
}

// sprofil ignores such an entry, and then counts nothing.
TEST_F(hpux_sprofil_notes, profil_with_scale_0_or_1_counts_nothing) {
  for (unsigned scale : {0u, 1u}) {
    pctally_hpux_profil(a, 64, kText, 0x10000);
    EXPECT_EQ(pctally_count(text(), 1), 0);
    pctally_hpux_profil(b, 64, kText, scale);
    EXPECT_EQ(pctally_count(text(), 1), -1) << scale;
    EXPECT_EQ(sum(b), 0u);
  }
}

// Where profil(2) has a page of its own, it is by that.
TEST_F(hpux_sprofil_notes, profil_with_scale_2_has_one_counter) {
  pctally_hpux_profil(a, 64, kText, 2);
  tick_at(kText), tick_at(kText + 65535), tick_at(kText + 65536), tick_at(kText + 0x10000000),
      tick_at(kText - 1);
  EXPECT_EQ(a[0], 4);
  EXPECT_EQ(sum(a), 4u);
}

TEST_F(hpux_sprofil_notes, profil_takes_an_odd_bufsiz) {
#if defined(__x86_64__)
  const size_t bytes = 5;  // at an odd address, and nothing behind it
#else
  const size_t bytes = 6;  // no counter is taken at an odd address (tick/guarded_cell.h)
#endif
  Fenced fence(bytes);
  memset(fence.as<char>(), 0, bytes);
  pctally_hpux_profil(fence.as<uint16_t>(), 5, kText, 0x10000);
  for (uintptr_t distance = 0; distance < 16; ++distance) tick_at(kText + distance);
  uint16_t counted[2];
  memcpy(counted, fence.as<char>(), sizeof counted);
  EXPECT_EQ(counted[0], 2);
  EXPECT_EQ(counted[1], 2);
  EXPECT_EQ(fence.as<char>()[4], 0) << "two whole counters, and one byte more";
}

TEST_F(hpux_sprofil_return_value, zero_on_success) { EXPECT_EQ(sprofil({region(a, 64, 0, 0x10000)}), 0); }

TEST_F(hpux_sprofil_return_value, minus_one_and_errno) {
  errno = 0;
  EXPECT_EQ(sprofil({region(a, 1, 0, 0x10000)}), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(hpux_sprofil_errors, e2big) {
  std::vector<pctally_hpux_prof> entries(PCTALLY_HPUX_PROFIL_MAX + 1, region(a, 64, 0, 0));
  EXPECT_EQ(error_of(entries), E2BIG);
  entries.pop_back();
  EXPECT_EQ(error_of(entries), 0);
  for (int profcnt : {-1, INT_MIN}) {
    EXPECT_EQ(pctally_hpux_sprofil(entries.data(), profcnt, nullptr, kShort), -1);
    EXPECT_EQ(errno, E2BIG);
  }
}

TEST_F(hpux_sprofil_errors, efault) {
  timeval* nowhere = reinterpret_cast<timeval*>(8);
  Fenced fence(sizeof(pctally_hpux_prof));
  auto* entry = fence.as<pctally_hpux_prof>();
  *entry = region(a, 64, 0, 0x10000);
  EXPECT_EQ(pctally_hpux_sprofil(entry, 1, nullptr, kShort), 0);
  for (auto* bad : {static_cast<pctally_hpux_prof*>(nullptr), reinterpret_cast<pctally_hpux_prof*>(16),
                    reinterpret_cast<pctally_hpux_prof*>(UINTPTR_MAX - 7), entry + 1}) {
    EXPECT_EQ(pctally_hpux_sprofil(bad, 1, nullptr, kShort), -1);
    EXPECT_EQ(errno, EFAULT);
  }
  EXPECT_EQ(pctally_hpux_sprofil(entry, 2, nullptr, kShort), -1);
  EXPECT_EQ(errno, EFAULT);
  EXPECT_EQ(pctally_hpux_sprofil(entry, 1, nowhere, kShort), -1);
  EXPECT_EQ(errno, EFAULT);
  static const timeval constant{};
  EXPECT_EQ(pctally_hpux_sprofil(entry, 1, const_cast<timeval*>(&constant), kShort), -1);
}

TEST_F(hpux_sprofil_errors, einval_size_too_large_for_the_scale) {
  EXPECT_EQ(error_of({region(a, 0x80000002, 0, 2)}), EINVAL);
  EXPECT_EQ(error_of({region(a, 0x80000000, 0, 2)}), 0);
  EXPECT_EQ(error_of({region(a, 0xc0000002, 0, 3)}), EINVAL);
  EXPECT_EQ(error_of({region(a, 0xc0000000, 0, 3)}), 0);
}

TEST_F(hpux_sprofil_errors, einval_overflow_descriptor) {
  EXPECT_EQ(error_of({overflow(), region(a, 64, 0, 0x10000)}), EINVAL);
  EXPECT_EQ(error_of({region(a, 64, 0, 0x10000), overflow()}), 0);
  EXPECT_EQ(error_of({region(a, 64, 0, 0x10000), {rest, 4, nullptr, 2}}), EINVAL);
}

}  // namespace
}  // namespace pctally::manual
