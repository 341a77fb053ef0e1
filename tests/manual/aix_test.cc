// AIX profil(), sentence by sentence.
#include "pctally/aix.h"

#include <errno.h>

#include "tests/manual/page_test.h"

namespace pctally::manual {
namespace {

using Entry = pctally_aix_prof;

char* place(uintptr_t distance) { return reinterpret_cast<char*>(kText + distance); }

class AixPage : public Page {
 protected:
  void TearDown() override {
    Entry off{};
    pctally_aix_profil(&off, ~0u, 0, 0);
    pctally_aix_profil(cells, 64, 0, 0);
  }
  int one(unsigned scale, unsigned bytes = 64) {
    errno = 0;
    return pctally_aix_profil(cells, bytes, kText, scale);
  }
  static int many(std::vector<Entry> entries) {
    entries.push_back({});
    errno = 0;
    return pctally_aix_profil(entries.data(), ~0u, 12345, 54321);
  }
  static bool is_on() { return pctally_count(reinterpret_cast<void*>(1), 1) == 0; }
  uint16_t cells[32] = {};
};

using aix_profil_description = AixPage;
using aix_profil_return_values = AixPage;
using aix_profil_errors = AixPage;

TEST_F(aix_profil_description, histogram_of_sampled_pcs) {
  use_clock();
  uint16_t bins[kBurnBytes / 2] = {};
  ASSERT_EQ(pctally_aix_profil(bins, sizeof bins, text_of<unsigned long>(burn), 0xffff), 0);
  burn(400'000'000);
  pctally_aix_profil(bins, 0, 0, 0);
  EXPECT_GE(sum(bins), 20u);
}

// A clock on the wall would bring 30 ticks of the sleep.
TEST_F(aix_profil_description, a_process_that_sleeps_is_not_examined) {
  use_clock();
  auto ticks = [] {
    pctally_tick_ledger ledger{};
    EXPECT_EQ(pctally_profil_ledger("aix", &ledger), 0);
    return ledger.ticks;
  };
  uint16_t bins[kBurnBytes / 2] = {};
  ASSERT_EQ(pctally_aix_profil(bins, sizeof bins, text_of<unsigned long>(burn), 0xffff), 0);
  uint64_t before = ticks(), cpu_before = process_cpu_ns();
  timespec rest{0, 300'000'000};
  while (nanosleep(&rest, &rest) != 0) continue;
  EXPECT_LE(ticks() - before, (process_cpu_ns() - cpu_before) / 10'000'000 + 1);
  uint64_t awake = ticks();
  for (int i = 0; i < 40 && ticks() == awake; ++i) burn(50'000'000);
  pctally_aix_profil(bins, 0, 0, 0);
  EXPECT_GT(ticks(), awake) << "and on again when it runs";
}

TEST_F(aix_profil_description, rounded_up_to_the_next_half_word) {
  ASSERT_EQ(one(0x8000), 0);
  tick_at(kText), tick_at(kText + 1);
  EXPECT_EQ(cells[0], 2);
  for (uintptr_t distance = 2; distance <= 5; ++distance) tick_at(kText + distance);
  EXPECT_EQ(cells[1], 4);
}

TEST_F(aix_profil_description, less_than_the_number_of_shorts) {
  Fenced fence(64);
  ASSERT_EQ(pctally_aix_profil(fence.as<char>(), 64, kText, 0xffff), 0);
  // The first round would end the profile by a fault behind the buffer.
  for (int round = 0; round < 2; ++round)
    for (uintptr_t pc = kText; pc < kText + 256; ++pc) tick_at(pc);
  EXPECT_EQ(fence.as<uint16_t>()[0], 4);
  EXPECT_EQ(fence.as<uint16_t>()[31], 4) << "the index is compared, not the byte position";
}

TEST_F(aix_profil_description, stays_at_ushrt_max) {
  cells[0] = 65534;
  ASSERT_EQ(one(0xffff), 0);
  for (int i = 0; i < 3; ++i) tick_at(kText);
  EXPECT_EQ(cells[0], 65535);
  EXPECT_TRUE(is_on());
}

TEST_F(aix_profil_description, low_16_bits_of_scale) {
  ASSERT_EQ(one(0x18000), 0);
  tick_at(kText + 8);
  EXPECT_EQ(cells[2], 1);
}

TEST_F(aix_profil_description, high_16_bits_are_ignored) {
  ASSERT_EQ(one(0x10000), 0);
  EXPECT_FALSE(is_on()) << "0x10000 is 0";
  ASSERT_EQ(one(0x20001), 0);
  EXPECT_FALSE(is_on());
  for (unsigned scale : {0x10000u, 0x20001u, 0xffff0000u}) {
    ASSERT_EQ(one(0xffff), 0);
    EXPECT_TRUE(is_on());
    ASSERT_EQ(one(scale), 0);
    EXPECT_FALSE(is_on()) << "turned off by " << scale;
  }
}

TEST_F(aix_profil_description, scale_ffff_maps_pairs_of_bytes) {
  ASSERT_EQ(one(0xffff), 0);
  for (uintptr_t distance = 0; distance < 64; ++distance) tick_at(kText + distance);
  for (uint16_t cell : cells) EXPECT_EQ(cell, 2);
}

TEST_F(aix_profil_description, scale_7fff_maps_fours) {
  ASSERT_EQ(one(0x7fff), 0);
  for (uintptr_t distance = 3; distance <= 126; ++distance) tick_at(kText + distance);
  for (int i = 1; i < 32; ++i) EXPECT_EQ(cells[i], 4);
}

TEST_F(aix_profil_description, scale_2_maps_everything_to_one_location) {
  ASSERT_EQ(one(2), 0);
  tick_at(kText), tick_at(kText + 32768), tick_at(UINTPTR_MAX);
  EXPECT_EQ(cells[0], 3);
  tick_at(kText - 1);
  EXPECT_EQ(sum(cells), 3u) << "from Offset on";
}

TEST_F(aix_profil_description, scale_1_turns_it_off) {
  ASSERT_EQ(one(0xffff), 0);
  EXPECT_TRUE(is_on());
  ASSERT_EQ(one(1), 0);
  EXPECT_FALSE(is_on());
}

TEST_F(aix_profil_description, scale_0_turns_it_off) {
  ASSERT_EQ(one(0xffff), 0);
  ASSERT_EQ(one(0), 0);
  EXPECT_FALSE(is_on());
}

TEST_F(aix_profil_description, no_single_bytes) {
  ASSERT_EQ(one(0xffff), 0);
  tick_at(kText + 2), tick_at(kText + 3);
  EXPECT_EQ(cells[1], 2) << "odd and even share a short even at the finest scale";
}

TEST_F(aix_profil_description, bufsize_0_is_ineffective) {
  EXPECT_EQ(one(0xffff, 0), 0);
  EXPECT_FALSE(is_on());
  ASSERT_EQ(one(0xffff), 0);
  EXPECT_EQ(one(0x8000, 0), 0);
  tick_at(kText + 62);
  EXPECT_EQ(cells[31], 1) << "nor does it change what is on";
}

TEST_F(aix_profil_description, bufsize_minus_1_takes_an_array) {
  uint16_t space[64] = {};
  ASSERT_EQ(many({{place(0), place(0x40), space, 64, 0xffff},
                  {place(0x100), place(0x140), space + 32, 64, 0xffff}}),
            0);
  tick_at(kText + 2), tick_at(kText + 0x104), tick_at(kText + 0x80);
  EXPECT_EQ(space[1], 1);
  EXPECT_EQ(space[34], 1);
  EXPECT_EQ(sum(space), 2u);
}

TEST_F(aix_profil_description, scale_minus_1_is_computed) {
  ASSERT_EQ(many({{place(0), place(256), cells, 64, ~0u}}), 0);
  tick_at(kText + 16);
  EXPECT_EQ(cells[2], 1) << "64 bytes for 256: 0x4000";
  for (uintptr_t distance = 0; distance < 256; ++distance) tick_at(kText + distance);
  EXPECT_GE(sum(cells), 250u);
}

TEST_F(aix_profil_description, computed_scale_is_at_most_ffff) {
  ASSERT_EQ(many({{place(0), place(32), cells, 64, ~0u}}), 0);
  tick_at(kText + 4), tick_at(kText + 32);
  EXPECT_EQ(cells[2], 1);
  EXPECT_EQ(sum(cells), 1u);
  ASSERT_EQ(many({}), 0);
  ASSERT_EQ(many({{place(0), place(64), cells, 64, ~0u}}), 0);
  tick_at(kText + 62);
  EXPECT_EQ(cells[31], 1) << "as many bytes of counters as of text: not 0x10000, which is off";
}

// 1 and 2 are no fractions then, either: off, and one location.
TEST_F(aix_profil_description, computed_scale_means_what_it_says) {
  ASSERT_EQ(
      many({{place(0), place(0x20000), cells, 2, ~0u}, {place(0x20000), place(0x40000), cells + 1, 4, ~0u}}),
      0);
  tick_at(kText), tick_at(kText + 0x1ffff);
  EXPECT_EQ(sum(cells), 0u);
  tick_at(kText + 0x20000), tick_at(kText + 0x3ffff), tick_at(kText + 0x40000);
  EXPECT_EQ(cells[1], 2);
  EXPECT_EQ(sum(cells), 2u);
}

TEST_F(aix_profil_description, otherwise_as_in_the_first_form) {
  ASSERT_EQ(many({{place(0), place(0x1000), cells, 64, 0x18000}}), 0);
  tick_at(kText + 5);
  EXPECT_EQ(cells[1], 1);
}

TEST_F(aix_profil_description, high_ascending) {
  EXPECT_EQ(many({{place(0x100), place(0x140), cells, 32, 0xffff},
                  {place(0), place(0x40), cells + 16, 32, 0xffff}}),
            -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(aix_profil_description, high_0_ends_the_array) {
  Entry entries[] = {{place(0), place(0x40), cells, 32, 0xffff},
                     {place(7), nullptr, nullptr, -7, 9},
                     {place(0x100), place(0x140), cells + 16, 32, 0xffff}};
  ASSERT_EQ(pctally_aix_profil(entries, ~0u, 0, 0), 0);
  tick_at(kText), tick_at(kText + 0x100);
  EXPECT_EQ(sum(cells), 1u);
}

TEST_F(aix_profil_description, contiguous_buffers) {
  Fenced apart(64), other(64);
  EXPECT_EQ(many({{place(0), place(0x40), apart.as<uint16_t>(), 64, 0xffff},
                  {place(0x100), place(0x140), other.as<uint16_t>(), 64, 0xffff}}),
            -1);
  EXPECT_EQ(errno, EFAULT);
}

TEST_F(aix_profil_description, first_high_0_turns_off) {
  ASSERT_EQ(many({{place(0), place(0x40), cells, 64, 0xffff}}), 0);
  EXPECT_TRUE(is_on());
  ASSERT_EQ(many({}), 0);
  EXPECT_FALSE(is_on());
}

/// "In every case": by either form.
void turn_on_in_burn(bool array, uint16_t (&bins)[kBurnBytes / 2]) {
  Entry entries[2] = {{text_of<char*>(burn), text_of<char*>(burn) + sizeof bins, bins, sizeof bins, 0xffff},
                      {}};
  ASSERT_EQ(array ? pctally_aix_profil(entries, ~0u, 0, 0)
                  : pctally_aix_profil(bins, sizeof bins, text_of<unsigned long>(burn), 0xffff),
            0);
}

TEST_F(aix_profil_description, fork_leaves_it_on_in_both) {
  use_clock();
  for (bool array : {false, true}) {
    uint16_t bins[kBurnBytes / 2] = {};
    turn_on_in_burn(array, bins);
    EXPECT_EQ(in_child([&] { return burn_for_ticks(bins, 6) >= 6 ? 0 : 1; }), 0);
    EXPECT_GE(burn_for_ticks(bins, 6), 6u) << "the parent";
    TearDown();
  }
}

TEST_F(aix_profil_description, exec_turns_it_off) {
  use_clock();
  for (bool array : {false, true}) {
    EXPECT_EQ(in_child([&] {
                uint16_t bins[kBurnBytes / 2] = {};
                turn_on_in_burn(array, bins);
                execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done", nullptr);
                return 2;
              }),
              0);
  }
}

TEST_F(aix_profil_description, off_by_the_other_form_is_ineffective) {
  ASSERT_EQ(one(0xffff), 0);
  EXPECT_EQ(many({}), 0);
  EXPECT_TRUE(is_on());
  one(0);
  ASSERT_EQ(many({{place(0), place(0x40), cells, 64, 0xffff}}), 0);
  EXPECT_EQ(one(0), 0);
  EXPECT_TRUE(is_on());
}

TEST_F(aix_profil_description, on_while_on_and_off_while_off_are_ineffective) {
  uint16_t other[32] = {};
  EXPECT_EQ(one(0), 0);
  ASSERT_EQ(one(0xffff), 0);
  EXPECT_EQ(pctally_aix_profil(other, 64, kText, 0xffff), 0);
  EXPECT_EQ(many({{place(0), place(0x40), other, 64, 0xffff}}), 0);
  tick_at(kText);
  EXPECT_EQ(cells[0], 1);
  EXPECT_EQ(sum(other), 0u);
  one(0);
  EXPECT_EQ(many({}), 0);
  ASSERT_EQ(many({{place(0), place(0x40), cells, 64, 0xffff}}), 0);
  EXPECT_EQ(many({{place(0), place(0x40), other, 64, 0xffff}}), 0);
  EXPECT_EQ(pctally_aix_profil(other, 64, kText, 0xffff), 0);
  tick_at(kText);
  EXPECT_EQ(cells[0], 2);
  EXPECT_EQ(sum(other), 0u);
}

// "When profiling is already turned on" a call is ineffective; what no buffer is left for is off.
TEST_F(aix_profil_description, on_again_when_every_buffer_is_gone) {
  Fenced gone(128);
  auto* counters = gone.as<uint16_t>();
  ASSERT_EQ(many({{place(0), place(0x40), counters, 64, 0xffff},
                  {place(0x40), place(0x80), counters + 32, 64, 0xffff}}),
            0);
  gone.unmap();
  tick_at(kText), tick_at(kText);
  EXPECT_TRUE(is_on()) << "one of two";
  tick_at(kText + 0x40);
  EXPECT_FALSE(is_on());
  ASSERT_EQ(one(0xffff), 0);
  tick_at(kText);
  EXPECT_EQ(cells[0], 1);
}

// The page asks for an order of p_high, and does not forbid overlaps.
TEST_F(aix_profil_description, ranges_that_overlap) {
  uint16_t space[96] = {};
  ASSERT_EQ(many({{place(0), place(0x20), space, 64, 0xffff},
                  {place(0), place(0x40), space + 32, 64, 0xffff},
                  {place(0x30), place(0x60), space + 64, 64, 0xffff}}),
            0);
  tick_at(kText), tick_at(kText + 0x20), tick_at(kText + 0x30);
  EXPECT_EQ(space[0], 1) << "of two with the same p_low the first";
  EXPECT_EQ(space[32 + 0x10], 1) << "behind the end of the first";
  EXPECT_EQ(space[64], 1) << "the largest p_low";
  EXPECT_EQ(sum(space), 3u);
}

TEST_F(aix_profil_return_values, zero_or_errno) {
  EXPECT_EQ(one(0xffff), 0);
  EXPECT_EQ(errno, 0);
}

TEST_F(aix_profil_errors, efault) {
  Fenced fence(64);
  EXPECT_EQ(pctally_aix_profil(nullptr, 64, kText, 0xffff), -1);
  EXPECT_EQ(errno, EFAULT);
  EXPECT_EQ(pctally_aix_profil(fence.as<char>() + 2, 64, kText, 0xffff), -1);
  EXPECT_EQ(errno, EFAULT);
  EXPECT_EQ(pctally_aix_profil(reinterpret_cast<void*>(16), ~0u, 0, 0), -1);
  EXPECT_EQ(errno, EFAULT);
  EXPECT_EQ(many({{place(0), place(0x40), reinterpret_cast<uint16_t*>(16), 64, 0xffff}}), -1);
  EXPECT_EQ(errno, EFAULT);
  EXPECT_FALSE(is_on());
}

TEST_F(aix_profil_errors, einval) {
  EXPECT_EQ(
      many({{place(0), place(0x40), cells, 32, 0xffff}, {place(0), place(0x40), cells + 16, 32, 0xffff}}),
      -1);
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
}  // namespace pctally::manual
