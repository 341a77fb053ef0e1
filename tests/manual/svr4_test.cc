// System V Release 4 profil(2), sentence by sentence.
#include "pctally/svr4.h"

#include <errno.h>
#include <signal.h>

#include "tests/manual/page_test.h"

namespace pctally::manual {
namespace {

class Svr4Page : public Page {
 protected:
  void TearDown() override {
    unsetenv("PCTALLY_SVR4_PROFIL");
    pctally_svr4_profil(nullptr, 0, 0, 0);
  }
  static bool is_on() { return pctally_count(reinterpret_cast<void*>(1), 1) == 0; }
  uint16_t cells[32] = {};
};

using svr4_profil_description = Svr4Page;

TEST_F(svr4_profil_description, histogram_of_cpu_use) {
  use_clock();
  uint16_t bins[kBurnBytes / 2] = {};
  pctally_svr4_profil(bins, sizeof bins, text_of<size_t>(burn), 0xffff);
  burn(400'000'000);
  pctally_svr4_profil(nullptr, 0, 0, 0);
  EXPECT_GE(sum(bins), 20u);
  EXPECT_LE(sum(bins), 60u);
}

TEST_F(svr4_profil_description, equal_size_subdivisions) {
  pctally_svr4_profil(cells, sizeof cells, kText, 0x4000);
  for (uintptr_t distance = 0; distance < 256; ++distance) tick_at(kText + distance);
  for (uint16_t cell : cells) EXPECT_EQ(cell, 8);
}

TEST_F(svr4_profil_description, one_tick_increments_one_count) {
  pctally_svr4_profil(cells, sizeof cells, kText, 0x10000);
  tick_at(kText + 5);
  EXPECT_EQ(cells[2], 1);
  EXPECT_EQ(sum(cells), 1u);
}

TEST_F(svr4_profil_description, stops_at_32767) {
  uint16_t bins[2] = {32765, 0};
  pctally_svr4_profil(bins, sizeof bins, kText, 0x10000);
  tick_at(kText), tick_at(kText + 2);
  EXPECT_EQ(bins[1], 1) << "on at 32766";
  tick_at(kText), tick_at(kText + 2);
  EXPECT_EQ(bins[0], 32767);
  EXPECT_EQ(bins[1], 1) << "off everywhere";
}

// One signal may bring several ticks: they count one by one.
TEST_F(svr4_profil_description, stops_within_a_heavy_tick) {
  uint16_t bins[2] = {32760, 0};
  pctally_svr4_profil(bins, sizeof bins, kText, 0x10000);
  tick_at(kText, 10), tick_at(kText + 2);
  EXPECT_EQ(bins[0], 32767);
  EXPECT_EQ(bins[1], 0);
  pctally_tick_ledger ledger{};
  ASSERT_EQ(pctally_profil_ledger("svr4", &ledger), 0);
  EXPECT_EQ(ledger.counted, 7u);
  EXPECT_EQ(ledger.full, 3u);
}

TEST_F(svr4_profil_description, stops_a_tick_later_if_asked_for) {
  uint16_t bins[2] = {32766, 0};
  setenv("PCTALLY_SVR4_PROFIL", "illumos", 1);
  pctally_svr4_profil(bins, sizeof bins, kText, 0x10000);
  unsetenv("PCTALLY_SVR4_PROFIL");
  tick_at(kText), tick_at(kText + 2);
  EXPECT_EQ(bins[1], 1) << "on at 32767";
  tick_at(kText), tick_at(kText + 2);
  EXPECT_EQ(bins[0], 32767);
  EXPECT_EQ(bins[1], 1);
}

// pctally_count(): -1 and ESRCH if no dialect's profile is on.
TEST_F(svr4_profil_description, no_tick_is_taken_after_the_stop) {
  uint16_t bins[2] = {32766, 0};
  pctally_svr4_profil(bins, sizeof bins, kText, 0x10000);
  EXPECT_EQ(pctally_count(text(), 1), 0);
  errno = 0;
  EXPECT_EQ(pctally_count(text(), 1), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST_F(svr4_profil_description, no_tick_is_taken_after_the_buffer_is_gone) {
  Fenced fence(64);
  pctally_svr4_profil(fence.as<uint16_t>(), 64, kText, 0x10000);
  fence.protect(PROT_READ);
  EXPECT_EQ(pctally_count(text(), 1), 0) << "lost";
  errno = 0;
  EXPECT_EQ(pctally_count(text(), 1), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST_F(svr4_profil_description, a_count_above_the_limit_stops_at_once) {
  uint16_t bins[2] = {40000, 0};
  pctally_svr4_profil(bins, sizeof bins, kText, 0x10000);
  tick_at(kText), tick_at(kText + 2);
  EXPECT_EQ(bins[0], 40000);
  EXPECT_EQ(bins[1], 0);
  pctally_svr4_profil(bins, sizeof bins, kText, 0x10000);
  tick_at(kText + 2);
  EXPECT_EQ(bins[1], 1) << "a new call turns it on again";
}

TEST_F(svr4_profil_description, buff_is_unsigned_short_of_bufsiz_bytes) {
  Fenced fence(64);
  pctally_svr4_profil(fence.as<uint16_t>(), 64, kText, 0x10000);
  for (uintptr_t pc = kText - 64; pc < kText + 256; ++pc) tick_at(pc);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(fence.as<uint16_t>()[i], 2);
}

TEST_F(svr4_profil_description, offset_starts_the_region) {
  pctally_svr4_profil(cells, sizeof cells, kText, 0x10000);
  tick_at(kText - 1), tick_at(kText);
  EXPECT_EQ(cells[0], 1);
}

TEST_F(svr4_profil_description, scale_is_the_contraction_factor) {
  for (unsigned scale : {0xffffu, 0x8000u, 0x4000u, 0x1000u, 0x100u}) {
    uint16_t bins[32] = {};
    pctally_svr4_profil(bins, sizeof bins, kText, scale);
    uintptr_t covered = 64 * 65536 / scale;
    tick_at(kText + covered - 1), tick_at(kText + covered + 1);
    EXPECT_EQ(sum(bins), 1u) << scale;
  }
}

// Every one of the sixteen bits counts, the highest too (it is no sign): the cell of each of the first pcs.
TEST_F(svr4_profil_description, scale_is_a_fraction_of_sixteen_bits) {
  for (unsigned scale :
       {0x0003u, 0x0100u, 0x1234u, 0x5555u, 0x7fffu, 0x8000u, 0x8001u, 0xaaaau, 0xfffeu, 0xffffu}) {
    std::vector<uint16_t> bins(200), wanted(200);
    pctally_svr4_profil(bins.data(), 400, kText, scale);
    for (uint64_t distance = 0; distance < 3000; ++distance) {
      tick_at(kText + distance);
      uint64_t byte = distance * scale / 65536;  // the fraction scale / 65536 of the distance
      if (byte < 400) ++wanted[byte / 2];
    }
    EXPECT_EQ(bins, wanted) << scale;
  }
}

TEST_F(svr4_profil_description, scale_ffff_maps_2_bytes) {
  pctally_svr4_profil(cells, sizeof cells, kText, 0xffff);
  for (uintptr_t distance = 1; distance <= 64; ++distance) tick_at(kText + distance);
  for (uint16_t cell : cells) EXPECT_EQ(cell, 2);
}

TEST_F(svr4_profil_description, scale_2_maps_everything_to_the_first_counter) {
  pctally_svr4_profil(cells, sizeof cells, kText, 2);
  tick_at(kText), tick_at(kText + 65535), tick_at(kText + 65536), tick_at(kText + 0x10000000),
      tick_at(kText - 1);
  EXPECT_EQ(cells[0], 4);
  EXPECT_EQ(sum(cells), 4u);
}

// The letter of the page. By default scale 2 is as in table T1 and in illumos: a clock of one counter.
TEST_F(svr4_profil_description, scale_2_maps_65536_bytes_if_asked_for) {
  setenv("PCTALLY_SVR4_PROFIL", "manual", 1);
  pctally_svr4_profil(cells, sizeof cells, kText, 2);
  unsetenv("PCTALLY_SVR4_PROFIL");
  for (uintptr_t counter = 0; counter < 33; ++counter)
    tick_at(kText + counter * 65536), tick_at(kText + counter * 65536 + 65535);
  tick_at(kText - 1);
  for (uint16_t cell : cells) EXPECT_EQ(cell, 2);
}

// Where it stops, what turns it off, and a bufsiz of 0.
TEST_F(svr4_profil_description, all_else_is_the_same_by_the_letter) {
  setenv("PCTALLY_SVR4_PROFIL", "manual", 1);
  cells[0] = 32766;
  pctally_svr4_profil(cells, sizeof cells, kText, 3);
  tick_at(kText);
  EXPECT_FALSE(is_on()) << "32767";
  for (unsigned scale : {0u, 1u}) {
    pctally_svr4_profil(cells, sizeof cells, kText, 0xffff);
    EXPECT_TRUE(is_on());
    pctally_svr4_profil(cells, sizeof cells, kText, scale);
    EXPECT_FALSE(is_on()) << scale;
  }
  pctally_svr4_profil(cells, 0, kText, 2);
  tick_at(kText);
  EXPECT_EQ(sum(cells), 32767u) << "a bufsiz of 0 is ineffective";
}

TEST_F(svr4_profil_description, scale_4000_maps_8_bytes) {
  pctally_svr4_profil(cells, sizeof cells, kText, 0x4000);
  tick_at(kText + 7), tick_at(kText + 8), tick_at(kText + 15), tick_at(kText + 16);
  EXPECT_EQ(cells[0], 1);
  EXPECT_EQ(cells[1], 2);
  EXPECT_EQ(cells[2], 1);
}

TEST_F(svr4_profil_description, offset_is_subtracted_and_the_rest_multiplied) {
  pctally_svr4_profil(cells, sizeof cells, kText + 0x100, 0xc000);
  for (uintptr_t distance = 0; distance < 85; ++distance) {
    uint64_t before = cells[distance * 0xc000 / 65536 / 2];
    tick_at(kText + 0x100 + distance);
    EXPECT_EQ(cells[distance * 0xc000 / 65536 / 2], before + 1);
  }
}

TEST_F(svr4_profil_description, ratio_times_0200000) {
  constexpr unsigned kRegion = 1024, kRatioOf8 = 0200000 / 8;
  uint16_t bins[kRegion / 8 / 2] = {};
  pctally_svr4_profil(bins, kRegion / 8, kText, kRatioOf8);
  for (uintptr_t distance = 0; distance <= kRegion; ++distance) tick_at(kText + distance);
  for (uint16_t bin : bins) EXPECT_EQ(bin, 16);
}

TEST_F(svr4_profil_description, scale_0_or_1_turns_it_off) {
  for (unsigned scale : {0u, 1u}) {
    pctally_svr4_profil(cells, sizeof cells, kText, 0x10000);
    EXPECT_TRUE(is_on());
    EXPECT_EQ(pctally_svr4_profil(cells, sizeof cells, kText, scale), 0);
    EXPECT_FALSE(is_on());
  }
}

TEST_F(svr4_profil_description, bufsiz_0_is_ineffective) {
  for (unsigned scale : {0x10000u, 2u}) {
    EXPECT_EQ(pctally_svr4_profil(cells, 0, kText, scale), 0);
    tick_at(kText);
    EXPECT_EQ(sum(cells), 0u);
  }
}

TEST_F(svr4_profil_description, exec_turns_it_off) {
  use_clock();
  EXPECT_EQ(in_child([&] {
              pctally_svr4_profil(cells, sizeof cells, kText, 0x10000);
              execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done", nullptr);
              return 2;
            }),
            0);
}

TEST_F(svr4_profil_description, fork_leaves_it_on_in_both) {
  use_clock();
  uint16_t bins[kBurnBytes / 2] = {};
  pctally_svr4_profil(bins, sizeof bins, text_of<size_t>(burn), 0xffff);
  EXPECT_EQ(in_child([&] { return burn_for_ticks(bins, 12) >= 12 ? 0 : 1; }), 0);
  EXPECT_GE(burn_for_ticks(bins, 12), 12u);
}

TEST_F(svr4_profil_description, a_fault_turns_it_off) {
  for (bool unmap : {true, false}) {
    Fenced fence(64);
    pctally_svr4_profil(fence.as<uint16_t>(), 64, kText, 0x10000);
    tick_at(kText);
    if (unmap)
      fence.unmap();
    else
      fence.protect(PROT_READ);
    tick_at(kText), tick_at(kText);
    if (unmap) continue;
    fence.protect(PROT_READ | PROT_WRITE);
    tick_at(kText);
    EXPECT_EQ(fence.as<uint16_t>()[0], 1);
  }
}

// The memory of one count is gone: the counts that could be updated count no more.
TEST_F(svr4_profil_description, a_fault_in_a_part_of_the_buffer_turns_all_of_it_off) {
  Fenced fence(4);
  pctally_svr4_profil(fence.as<uint16_t>(), 64, kText, 0x10000);
  tick_at(kText), tick_at(kText + 2);
  EXPECT_TRUE(is_on());
  tick_at(kText + 4);
  EXPECT_FALSE(is_on());
  tick_at(kText), tick_at(kText + 2);
  EXPECT_EQ(fence.as<uint16_t>()[0], 1);
  EXPECT_EQ(fence.as<uint16_t>()[1], 1);
}

TEST_F(svr4_profil_description, a_fault_at_a_real_tick_turns_it_off) {
  use_clock();
  Fenced fence(kBurnBytes);
  pctally_svr4_profil(fence.as<uint16_t>(), kBurnBytes, text_of<size_t>(burn), 0xffff);
  fence.unmap();
  EXPECT_GT(burn(200'000'000), 0u) << "the program lives";
}

TEST_F(svr4_profil_description, a_fault_at_a_tick_of_a_thread_that_blocks_the_signals) {
  use_clock();
  Fenced fence(kBurnBytes);
  pctally_svr4_profil(fence.as<uint16_t>(), kBurnBytes, text_of<size_t>(burn), 0xffff);
  fence.unmap();
  sigset_t faults, blocked;
  sigemptyset(&faults);
  sigaddset(&faults, SIGSEGV), sigaddset(&faults, SIGBUS);
  pthread_sigmask(SIG_BLOCK, &faults, nullptr);
  EXPECT_GT(burn(200'000'000), 0u);
  pthread_sigmask(SIG_UNBLOCK, &faults, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGSEGV), 1) << "and its mask is its own";
}

}  // namespace
}  // namespace pctally::manual
