// HP-UX 11i sprofil(2), sentence by sentence.
#include "pctally/hpux.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "pctally/compat/hpux_clock.h"
#include "tests/manual/hot.h"
#include "tests/manual/hpux_page.h"

namespace pctally::manual {
namespace {

using hpux_sprofil_name = HpuxPage;
using hpux_sprofil_synopsis = HpuxPage;
using hpux_sprofil_description = HpuxPage;

TEST_F(hpux_sprofil_name, disjointed_text_spaces) {
  ASSERT_EQ(sprofil({region(a, 64, 0, 0x10000), region(b, 64, 0x100000, 0x10000)}), 0);
  tick_at(kText + 2), tick_at(kText + 0x100004), tick_at(kText + 0x50000);
  EXPECT_EQ(a[1], 1);
  EXPECT_EQ(b[2], 1);
  EXPECT_EQ(sum(a) + sum(b), 2u);
}

TEST_F(hpux_sprofil_synopsis, types_of_the_call) {
  int (*call)(pctally_hpux_prof*, int, timeval*, unsigned int) = pctally_hpux_sprofil;
  EXPECT_NE(call, nullptr);
}

TEST_F(hpux_sprofil_description, estimates_time_at_various_places) {
  use_clock();
  std::vector<uint32_t> cells(kBurnBytes / 4);
  pctally_hpux_prof entry{cells.data(), kBurnBytes, text_of<void*>(burn), 0x10000};
  ASSERT_EQ(sprofil({entry}, kInt), 0);
  burn(600'000'000);
  pctally_hpux_sprofil(nullptr, 0, nullptr, 0);
  EXPECT_GE(sum(cells), 30u);
  EXPECT_LE(sum(cells), 90u);
}

TEST_F(hpux_sprofil_description, many_regions_at_once) {
  std::vector<std::vector<uint16_t>> cells(200, std::vector<uint16_t>(4));
  std::vector<pctally_hpux_prof> entries;
  for (size_t i = 0; i < cells.size(); ++i) entries.push_back(region(cells[i].data(), 8, i * 64, 0x10000));
  ASSERT_EQ(sprofil(entries), 0);
  for (size_t i = 0; i < cells.size(); ++i) tick_at(kText + i * 64 + 6), tick_at(kText + i * 64 + 8);
  for (const auto& region_cells : cells) EXPECT_EQ(region_cells, (std::vector<uint16_t>{0, 0, 0, 1}));
}

TEST_F(hpux_sprofil_description, profp_points_to_an_ordered_array) {
  EXPECT_EQ(error_of({region(a, 64, 0x1000, 0x10000), region(b, 64, 0, 0x10000)}), EINVAL);
}

TEST_F(hpux_sprofil_description, struct_prof) {
  EXPECT_EQ(offsetof(pctally_hpux_prof, pr_base), 0u);
  EXPECT_EQ(offsetof(pctally_hpux_prof, pr_size), sizeof(void*));
  EXPECT_EQ(offsetof(pctally_hpux_prof, pr_offset), 2 * sizeof(void*));
  EXPECT_EQ(offsetof(pctally_hpux_prof, pr_scale), 3 * sizeof(void*));
  EXPECT_EQ(sizeof(pctally_hpux_prof), 4 * sizeof(void*));
}

TEST_F(hpux_sprofil_description, profcnt_is_the_number_of_structures) {
  pctally_hpux_prof entries[] = {region(a, 64, 0, 0x10000), region(b, 64, 0x1000, 0x10000)};
  ASSERT_EQ(pctally_hpux_sprofil(entries, 1, nullptr, kShort), 0);
  tick_at(kText), tick_at(kText + 0x1000);
  EXPECT_EQ(a[0], 1);
  EXPECT_EQ(b[0], 0);
}

TEST_F(hpux_sprofil_description, profcnt_0_disables) {
  ASSERT_EQ(sprofil({region(a, 64, 0, 0x10000)}), 0);
  tick_at(kText);
  EXPECT_EQ(pctally_hpux_sprofil(nullptr, 0, nullptr, 99), 0) << "whatever the flags";
  EXPECT_EQ(pctally_count(text(), 1), -1);
  EXPECT_EQ(errno, ESRCH);
  EXPECT_EQ(a[0], 1);
}

TEST_F(hpux_sprofil_description, tvp_is_one_clock_tick) {
  timeval tick{-1, -1};
  ASSERT_EQ(sprofil({region(a, 64, 0, 0x10000)}, kShort, &tick), 0);
  EXPECT_EQ(tick.tv_sec, 0);
  EXPECT_EQ(tick.tv_usec, 10000);
  tick = {-1, -1};
  ASSERT_EQ(pctally_hpux_sprofil(nullptr, 0, &tick, kShort), 0);
  EXPECT_EQ(tick.tv_sec, 0) << "by a call that disables, too";
  EXPECT_EQ(tick.tv_usec, 10000);
}

TEST_F(hpux_sprofil_description, tvp_at_any_address) {
  alignas(timeval) char room[sizeof(timeval) + 1] = {};
  timeval tick{-1, -1};
  ASSERT_EQ(sprofil({region(a, 64, 0, 0x10000)}, kShort, reinterpret_cast<timeval*>(room + 1)), 0);
  memcpy(&tick, room + 1, sizeof tick);
  EXPECT_EQ(tick.tv_usec, 10000);
}

TEST_F(hpux_sprofil_description, valid_flags) {
  for (unsigned flags : {kShort, kInt, kLong}) EXPECT_EQ(error_of({region(a, 64, 0, 0x10000)}, flags), 0);
}

TEST_F(hpux_sprofil_description, flags_must_be_one_of_these) {
  for (unsigned flags : {0u, kShort | kInt, kInt | kLong, kShort | kInt | kLong, 8u, 0x10000u, ~0u})
    EXPECT_EQ(error_of({region(a, 64, 0, 0x10000)}, flags), EINVAL) << flags;
}

TEST_F(hpux_sprofil_description, clk_tick_times_per_second) {
  timeval tick{};
  ASSERT_EQ(sprofil({region(a, 64, 0, 0x10000)}, kShort, &tick), 0);
  EXPECT_EQ(tick.tv_usec * CLK_TICK, 1'000'000);
  EXPECT_EQ(CLK_TCK, CLK_TICK) << "the name on profil(2)'s page";
}

TEST_F(hpux_sprofil_description, each_thread_is_examined) {
  use_clock();
  std::vector<uint32_t> of_a(text_of_hot_a().bytes() / 4 + 1), of_b(text_of_hot_b().bytes() / 4 + 1);
  std::vector<pctally_hpux_prof> entries = {{of_a.data(), static_cast<unsigned>(of_a.size() * 4),
                                             reinterpret_cast<void*>(text_of_hot_a().start), 0x10000},
                                            {of_b.data(), static_cast<unsigned>(of_b.size() * 4),
                                             reinterpret_cast<void*>(text_of_hot_b().start), 0x10000}};
  if (entries[1].pr_offset < entries[0].pr_offset) std::swap(entries[0], entries[1]);
  run_two_threads([&] { ASSERT_EQ(sprofil(entries, kInt), 0); });
  pctally_hpux_sprofil(nullptr, 0, nullptr, 0);
  // 30 ticks are expected of each; 60 ticks by the throw of a coin leave less than 10 once in 10^8 runs.
  EXPECT_GE(sum(of_a), 10u) << "a thread older than the call";
  EXPECT_GE(sum(of_b), 10u) << "a thread younger than the call";
}

TEST_F(hpux_sprofil_description, base_is_an_array_of_pr_size_bytes) {
  Fenced fence(64);
  ASSERT_EQ(sprofil({region(fence.as<uint16_t>(), 64, 0, 0x10000)}), 0);
  for (uintptr_t pc = kText - 64; pc < kText + 256; ++pc) tick_at(pc);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(fence.as<uint16_t>()[i], 2) << i;
}

TEST_F(hpux_sprofil_description, memory_freed_while_enabled_does_no_harm) {
  Fenced fence(64);
  ASSERT_EQ(sprofil({region(fence.as<uint16_t>(), 64, 0, 0x10000), region(a, 64, 0x100000, 0x10000)}), 0);
  fence.unmap();
  tick_at(kText), tick_at(kText + 0x100002);
  EXPECT_EQ(a[1], 1) << "the program lives, and the other region counts";
}

TEST_F(hpux_sprofil_description, elements_of_2_4_or_8_bytes) {
  alignas(8) unsigned char cells[16];
  for (unsigned flags : {kShort, kInt, kLong}) {
    std::fill(std::begin(cells), std::end(cells), 0);
    ASSERT_EQ(sprofil({region(cells, 16, 0, 0x10000)}, flags), 0);
    tick_at(kText + 8, 300);
    uint64_t found = flags == kShort ? *reinterpret_cast<uint16_t*>(cells + 8)
                     : flags == kInt ? *reinterpret_cast<uint32_t*>(cells + 8)
                                     : *reinterpret_cast<uint64_t*>(cells + 8);
    EXPECT_EQ(found, 300u);
  }
}

TEST_F(hpux_sprofil_description, size_is_a_non_zero_multiple_of_the_element) {
  EXPECT_EQ(error_of({region(a, 0, 0, 0x10000)}), EINVAL);
  EXPECT_EQ(error_of({region(a, 3, 0, 0x10000)}), EINVAL);
  EXPECT_EQ(error_of({region(a, 2, 0, 0x10000)}, kInt), EINVAL);
  EXPECT_EQ(error_of({region(a, 4, 0, 0x10000)}, kLong), EINVAL);
  EXPECT_EQ(error_of({region(a, 8, 0, 0x10000)}, kLong), 0);
}

TEST_F(hpux_sprofil_description, offset_is_where_the_region_starts) {
  ASSERT_EQ(sprofil({region(a, 64, 0x40, 0x10000)}), 0);
  tick_at(kText + 0x3f), tick_at(kText + 0x40);
  EXPECT_EQ(a[0], 1);
  EXPECT_EQ(sum(a), 1u);
}

TEST_F(hpux_sprofil_description, offset_is_a_text_address) {
  // A descriptor would be read; kText is no memory at all.
  EXPECT_EQ(error_of({region(a, 64, 0, 0x10000)}), 0);
}

TEST_F(hpux_sprofil_description, scale_has_sixteen_bits_behind_the_point) {
  for (unsigned scale : {0x2u, 0x3u, 0x4000u, 0x7fffu, 0x8000u, 0xffffu, 0x10000u, 0x12345u, 0x20000u}) {
    uint16_t cells[32] = {};
    ASSERT_EQ(sprofil({region(cells, 64, 0, scale)}), 0);
    for (uint64_t distance :
         {0ull, 1ull, 5ull, 31ull, 42ull, 64ull, 129ull, 65536ull, 1398100ull, 2097151ull}) {
      uint64_t index = distance * scale / 65536 / 2;
      uint64_t before = sum(cells);
      tick_at(kText + distance);
      EXPECT_EQ(sum(cells) - before, index < 32 ? 1u : 0u) << scale << " " << distance;
      EXPECT_TRUE(index >= 32 || cells[index] >= 1) << scale << " " << distance;
    }
  }
}

TEST_F(hpux_sprofil_description, pc_falls_within_below_pr_size) {
  ASSERT_EQ(sprofil({region(a, 64, 0, 0xffff)}), 0);
  tick_at(kText + 64), tick_at(kText + 65);
  EXPECT_EQ(a[31], 1);
  EXPECT_EQ(sum(a), 1u);
}

TEST_F(hpux_sprofil_description, offset_is_rounded_down_to_an_element) {
  uint32_t cells[16] = {};
  ASSERT_EQ(sprofil({region(cells, 64, 0, 0x10000)}, kInt), 0);
  tick_at(kText + 7), tick_at(kText + 4);
  EXPECT_EQ(cells[1], 2u);
}

TEST_F(hpux_sprofil_description, incremented_unless_that_would_overflow) {
  a[0] = 65534;
  uint32_t wide = UINT32_MAX - 1;
  uint64_t widest = UINT64_MAX - 1;
  ASSERT_EQ(sprofil({region(a, 2, 0, 0x10000)}), 0);
  for (int i = 0; i < 3; ++i) tick_at(kText);
  EXPECT_EQ(a[0], 65535);
  ASSERT_EQ(sprofil({region(&wide, 4, 0, 0x10000)}, kInt), 0);
  for (int i = 0; i < 3; ++i) tick_at(kText);
  EXPECT_EQ(wide, UINT32_MAX);
  ASSERT_EQ(sprofil({region(&widest, 8, 0, 0x10000)}, kLong), 0);
  for (int i = 0; i < 3; ++i) tick_at(kText);
  EXPECT_EQ(widest, UINT64_MAX);
  EXPECT_EQ(pctally_count(text(), 1), 0) << "still on";
}

TEST_F(hpux_sprofil_description, invalid_address_silently_disables) {
  Fenced gone(64), frozen(64);
  ASSERT_EQ(sprofil({region(gone.as<char>(), 64, 0, 0x10000), region(frozen.as<char>(), 64, 0x1000, 0x10000),
                     region(a, 64, 0x2000, 0x10000)}),
            0);
  tick_at(kText), tick_at(kText + 0x1000), tick_at(kText + 0x2000);
  gone.unmap(), frozen.protect(PROT_READ);
  for (int i = 0; i < 3; ++i) tick_at(kText), tick_at(kText + 0x1000), tick_at(kText + 0x2000);
  EXPECT_EQ(a[0], 4) << "the neighbour counts on";
  frozen.protect(PROT_READ | PROT_WRITE);
  tick_at(kText + 0x1000);
  EXPECT_EQ(frozen.as<uint16_t>()[0], 1) << "disabled for good";
}

TEST_F(hpux_sprofil_description, invalid_overflow_address_silently_disables) {
  Fenced gone(2);
  ASSERT_EQ(sprofil({region(a, 64, 0, 0x10000), {gone.as<char>(), 2, nullptr, 2}}), 0);
  gone.unmap();
  tick_at(kText + 0x9999), tick_at(kText);
  EXPECT_EQ(a[0], 1);
}

TEST_F(hpux_sprofil_description, invalid_address_in_a_thread_that_blocks_the_signals) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  Fenced gone(64);
  ASSERT_EQ(sprofil({region(gone.as<char>(), 64, 0, 0x10000)}), 0);
  gone.unmap();
  tick_at(kText);
  sigset_t now;
  pthread_sigmask(SIG_UNBLOCK, &all, &now);
}

TEST_F(hpux_sprofil_description, ascending_by_pr_offset) {
  EXPECT_EQ(error_of({region(a, 64, 0, 0x10000), region(b, 64, 0x1000, 0x10000)}), 0);
  EXPECT_EQ(error_of({region(a, 64, 0x2000, 0x10000), region(b, 64, 0x1000, 0x10000)}), EINVAL);
}

TEST_F(hpux_sprofil_description, regions_must_not_overlap) {
  EXPECT_EQ(error_of({region(a, 64, 0, 0x10000), region(b, 64, 0x40, 0x10000)}), 0);
  EXPECT_EQ(error_of({region(a, 64, 0, 0x10000), region(b, 64, 0x3f, 0x10000)}), EINVAL);
  EXPECT_EQ(error_of({region(a, 64, 0, 0xffff), region(b, 64, 0x40, 0x10000)}), EINVAL);
  EXPECT_EQ(error_of({region(a, 64, 0, 0xffff), region(b, 64, 0x41, 0x10000)}), 0);
}

TEST_F(hpux_sprofil_description, scale_0_or_1_is_ignored) {
  ASSERT_EQ(sprofil({region(a, 64, 0x1000, 0), region(b, 3, 0, 1), region(b, 64, 0, 0x10000)}), 0);
  tick_at(kText), tick_at(kText + 0x1000);
  EXPECT_EQ(sum(a), 0u);
  EXPECT_EQ(b[0], 1);
}

TEST_F(hpux_sprofil_description, last_entry_may_be_an_overflow_descriptor) {
  ASSERT_EQ(sprofil({region(a, 64, 0, 0x10000), overflow()}), 0);
  tick_at(kText + 64), tick_at(1), tick_at(UINTPTR_MAX);
  EXPECT_EQ(rest[0], 3);
}

TEST_F(hpux_sprofil_description, overflow_size_is_one_element) {
  EXPECT_EQ(error_of({region(a, 64, 0, 0x10000), {rest, 4, nullptr, 2}}), EINVAL);
  EXPECT_EQ(error_of({{a, 4, nullptr, 2}}, kInt), 0);
  EXPECT_EQ(error_of({{a, 2, nullptr, 2}}, kInt), EINVAL);
}

TEST_F(hpux_sprofil_description, overflow_counts_the_rest_unless_full) {
  rest[0] = 65534;
  ASSERT_EQ(sprofil({region(a, 64, 0, 0x10000), overflow()}), 0);
  tick_at(kText), tick_at(kText + 64), tick_at(kText + 64), tick_at(kText - 1);
  EXPECT_EQ(a[0], 1);
  EXPECT_EQ(rest[0], 65535);
  EXPECT_EQ(rest[1], 0);
}

TEST_F(hpux_sprofil_description, each_call_disables_and_enables) {
  ASSERT_EQ(sprofil({region(a, 64, 0, 0x10000)}), 0);
  tick_at(kText);
  ASSERT_EQ(sprofil({region(b, 64, 0, 0x10000)}), 0);
  tick_at(kText);
  EXPECT_EQ(a[0], 1);
  EXPECT_EQ(b[0], 1);
}

TEST_F(hpux_sprofil_description, a_call_that_fails_changes_nothing) {
  ASSERT_EQ(sprofil({region(a, 64, 0, 0x10000)}), 0);
  EXPECT_EQ(error_of({region(b, 3, 0, 0x10000)}), EINVAL);
  tick_at(kText);
  EXPECT_EQ(a[0], 1);
}

/// Instructions of `bytes` that share the first element.
unsigned instructions_per_element(unsigned scale, unsigned flags, unsigned bytes) {
  static uint64_t cells[2];
  cells[0] = cells[1] = 0;
  EXPECT_EQ(pctally_hpux_sprofil(nullptr, 0, nullptr, 0), 0);
  pctally_hpux_prof entry{cells, flags == kShort ? 2u : flags == kInt ? 4u : 8u, text(), scale};
  EXPECT_EQ(pctally_hpux_sprofil(&entry, 1, nullptr, flags), 0);
  uint64_t step = 0;  // the first pc behind the element, by halving
  for (uint64_t bit = uint64_t{1} << 40; bit != 0; bit >>= 1) {
    uint64_t before = cells[0];
    tick_at(kText + (step | bit) - 1);
    if (cells[0] != before) step |= bit;
  }
  return static_cast<unsigned>(step * 100 / bytes);  // hundredths
}

TEST_F(hpux_sprofil_description, table_for_pa_risc) {
  for (unsigned scale = 2, ratio = 1638400; scale <= 131072; scale *= 2, ratio /= 2) {
    EXPECT_EQ(instructions_per_element(scale, kShort, 4), ratio) << scale;
    EXPECT_EQ(instructions_per_element(scale, kInt, 4), 2 * ratio) << scale;
    EXPECT_EQ(instructions_per_element(scale, kLong, 4), 4 * ratio) << scale;
  }
}

TEST_F(hpux_sprofil_description, table_for_itanium) {
  for (unsigned scale = 2, ratio = 409600; scale <= 32768; scale *= 2, ratio /= 2) {
    EXPECT_EQ(instructions_per_element(scale, kShort, 16), ratio) << scale;
    EXPECT_EQ(instructions_per_element(scale, kInt, 16), 2 * ratio) << scale;
    EXPECT_EQ(instructions_per_element(scale, kLong, 16), 4 * ratio) << scale;
  }
}

TEST_F(hpux_sprofil_description, finer_than_1_to_1_is_computed_all_the_same) {
  ASSERT_EQ(sprofil({region(a, 64, 0, 0x20000)}), 0);
  for (uintptr_t distance : {0, 1, 2, 3, 31, 32}) tick_at(kText + distance);
  EXPECT_EQ(a[0] + a[1] + a[2] + a[3] + a[31], 5);
  EXPECT_EQ(sum(a), 5u);
}

// One counter of 32 or 64 bits for every byte of text, and finer still.
TEST_F(hpux_sprofil_description, every_fine_scale_is_taken) {
  uint64_t cells[4096] = {};
  for (unsigned shift = 17; shift < 32; ++shift)
    for (unsigned flags : {kShort, kInt, kLong})
      EXPECT_EQ(error_of({region(cells, 64, 0, 1u << shift)}, flags), 0) << shift << " " << flags;
  ASSERT_EQ(sprofil({region(cells, sizeof cells, 0, 0x80000)}, kLong), 0);
  for (uintptr_t distance = 0; distance < 4096; ++distance) tick_at(kText + distance, distance + 1);
  for (uintptr_t distance = 0; distance < 4096; ++distance) EXPECT_EQ(cells[distance], distance + 1);
}

}  // namespace
}  // namespace pctally::manual
