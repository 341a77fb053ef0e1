// Tru64 UNIX profil(2), sentence by sentence.
#include "pctally/tru64.h"

#include <errno.h>
#include <stddef.h>

#include "pctally/compat/tru64/sys/sysinfo.h"
#include "tests/manual/hot.h"
#include "tests/manual/page_test.h"

namespace pctally::manual {
namespace {

using Entry = pctally_tru64_profil_args;

class Tru64Page : public Page {
 protected:
  void TearDown() override { pctally_tru64_profil(nullptr, 0, 0, 0); }
  void classic(unsigned long scale, long bytes = 64) {
    errno = 0;
    pctally_tru64_profil(cells, bytes, static_cast<long>(kText), scale);
  }
  static int extended(std::vector<Entry> entries, unsigned long flags = 0) {
    errno = 0;
    pctally_tru64_profil(entries.data(), static_cast<long>(entries.size()), -1, flags);
    return errno;
  }
  Entry entry(unsigned* buffer, uintptr_t low, uintptr_t high, unsigned scale = 0x10000) {
    return {buffer, text(high), text(low), text(low), scale};
  }
  static bool is_on() { return pctally_count(reinterpret_cast<void*>(1), 1) == 0; }
  uint16_t cells[32] = {};
  unsigned a[16] = {}, b[16] = {};
};

using tru64_profil_parameters = Tru64Page;
using tru64_profil_description = Tru64Page;

TEST_F(tru64_profil_parameters, buffer_of_bytes) {
  Fenced fence(64);
  pctally_tru64_profil(fence.as<char>(), 64, static_cast<long>(kText), 0x10000);
  // The first round would end the profile by a fault beside the buffer.
  for (int round = 0; round < 2; ++round)
    for (uintptr_t pc = kText - 64; pc < kText + 256; ++pc) tick_at(pc);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(fence.as<uint16_t>()[i], 4);
}

TEST_F(tru64_profil_parameters, offset_minus_1_is_the_extended_form) {
  EXPECT_EQ(extended({entry(a, 0x1000, 0x1040), entry(b, 0, 0x40)}), 0);
  tick_at(kText + 4), tick_at(kText + 0x1008);
  EXPECT_EQ(b[1], 1u);
  EXPECT_EQ(a[2], 1u);
}

TEST_F(tru64_profil_parameters, offset_is_the_delta) {
  pctally_tru64_profil(cells, 64, 0, 0x10000);
  tick_at(6);
  EXPECT_EQ(cells[3], 1) << "offset 0: text begins at 0";
}

TEST_F(tru64_profil_parameters, up_to_64_structures) {
  std::vector<unsigned> buffers(65 * 4);
  std::vector<Entry> entries;
  for (unsigned i = 0; i < 65; ++i)
    entries.push_back(entry(&buffers[4 * i], (65 - i) * 0x100, (65 - i) * 0x100 + 16));
  EXPECT_EQ(extended(entries), EINVAL);
  EXPECT_EQ(extended({}), EINVAL);
  entries.pop_back();
  EXPECT_EQ(extended(entries), 0);
  for (unsigned i = 0; i < 64; ++i) tick_at(kText + (65 - i) * 0x100 + 12);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(buffers[4 * i + 3], 1u);
}

// By the page's prototype a caller passes 32 bits, and the register's upper half may hold anything.
TEST_F(tru64_profil_parameters, buffer_size_is_an_int) {
  constexpr long kStale = 0x5a5a5a5a00000000;
  Entry one = entry(a, 0, 0x40);
  errno = 0;
  pctally_tru64_profil(&one, kStale + 1, -1, 0);
  EXPECT_EQ(errno, 0);
  tick_at(kText + 8);
  EXPECT_EQ(a[2], 1u);
  classic(0x10000, kStale + 64);
  tick_at(kText + 62), tick_at(kText + 64);
  EXPECT_EQ(cells[31], 1);
}

TEST_F(tru64_profil_parameters, flags_should_be_0) {
  EXPECT_EQ(extended({entry(a, 0, 0x40)}, 1), EINVAL);
  EXPECT_EQ(extended({entry(a, 0, 0x40)}, 0), 0);
}

TEST_F(tru64_profil_description, regular_intervals_of_1024_hz) {
  use_clock();
  unsigned bins[kBurnBytes / 4] = {};
  Entry one{bins, text_of<char*>(burn) + kBurnBytes, text_of<void*>(burn), text_of<void*>(burn), 0x10000};
  ASSERT_EQ(extended({one}), 0);
  burn(300'000'000);
  EXPECT_NEAR(static_cast<double>(sum(bins)), 0.3 * PCTALLY_TRU64_CLK_TCK, 150);
}

TEST_F(tru64_profil_description, getsysinfo_tells_the_interval) {
  int ticks[2] = {0, -1};
  EXPECT_EQ(getsysinfo(GSI_CLK_TCK, reinterpret_cast<char*>(ticks), sizeof ticks, nullptr, nullptr, 0), 1);
  EXPECT_EQ(ticks[0], PCTALLY_TRU64_CLK_TCK);
  EXPECT_EQ(ticks[1], -1) << "one value";
  errno = 0;
  EXPECT_EQ(getsysinfo(GSI_CLK_TCK, reinterpret_cast<char*>(ticks), sizeof *ticks - 1, nullptr, nullptr, 0),
            -1);
  EXPECT_EQ(errno, EINVAL);
  errno = 0;
  EXPECT_EQ(getsysinfo(GSI_CLK_TCK + 1, reinterpret_cast<char*>(ticks), sizeof ticks, nullptr, nullptr, 0),
            -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(tru64_profil_description, offset_subtracted_and_multiplied) {
  classic(0xc000);
  tick_at(kText + 3), tick_at(kText + 85), tick_at(kText + 86);
  EXPECT_EQ(cells[1], 1);
  EXPECT_EQ(cells[31], 1);
}

TEST_F(tru64_profil_description, only_below_buffer_size) {
  classic(0x10000, 6);
  tick_at(kText + 5), tick_at(kText + 6);
  EXPECT_EQ(cells[2], 1);
  EXPECT_EQ(sum(cells), 1u);
}

TEST_F(tru64_profil_description, scale_10000_and_8000) {
  for (unsigned bytes : {2u, 4u}) {
    uint16_t bins[32] = {};
    pctally_tru64_profil(bins, 64, static_cast<long>(kText), 0x20000 / bytes);
    for (uintptr_t distance = 0; distance < 32 * bytes; ++distance) tick_at(kText + distance);
    for (uint16_t bin : bins) EXPECT_EQ(bin, bytes);
  }
}

TEST_F(tru64_profil_description, scale_2_is_a_clock) {
  classic(2);
  tick_at(kText), tick_at(kText + 0x10000000), tick_at(UINTPTR_MAX);
  EXPECT_EQ(cells[0], 3);
  tick_at(kText - 1);
  EXPECT_EQ(sum(cells), 3u) << "from the offset on";
}

TEST_F(tru64_profil_description, scale_0_or_1_turns_it_off) {
  for (unsigned scale : {0u, 1u}) {
    classic(0x10000);
    EXPECT_TRUE(is_on());
    classic(scale);
    EXPECT_FALSE(is_on());
  }
}

TEST_F(tru64_profil_description, execve_turns_it_off) {
  use_clock();
  EXPECT_EQ(in_child([&] {
              classic(0x10000);
              execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done", nullptr);
              return 2;
            }),
            0);
}

TEST_F(tru64_profil_description, fork_leaves_it_on_in_both) {
  use_clock();
  uint16_t bins[kBurnBytes / 2] = {};
  pctally_tru64_profil(bins, sizeof bins, text_of<long>(burn), 0x10000);
  EXPECT_EQ(in_child([&] { return burn_for_ticks(bins, 60) >= 60 ? 0 : 1; }), 0);
  EXPECT_GE(burn_for_ticks(bins, 60), 60u);
}

TEST_F(tru64_profil_description, a_fault_turns_it_off) {
  Fenced fence(64);
  pctally_tru64_profil(fence.as<char>(), 64, static_cast<long>(kText), 0x10000);
  fence.protect(PROT_READ);
  tick_at(kText);
  fence.protect(PROT_READ | PROT_WRITE);
  tick_at(kText);
  EXPECT_EQ(fence.as<uint16_t>()[0], 0);
}

TEST_F(tru64_profil_description, the_sum_over_all_threads) {
  use_clock();
  std::vector<unsigned> of_a(text_of_hot_a().bytes() / 4 + 1), of_b(text_of_hot_b().bytes() / 4 + 1);
  auto whole = [](std::vector<unsigned>& counters, Text text) {
    auto low = reinterpret_cast<void*>(text.start);
    return Entry{counters.data(), reinterpret_cast<void*>(text.end), low, low, 0x10000};
  };
  std::vector<Entry> entries = {whole(of_a, text_of_hot_a()), whole(of_b, text_of_hot_b())};
  if (entries[0].lowpc < entries[1].lowpc) std::swap(entries[0], entries[1]);
  run_two_threads([&] { ASSERT_EQ(extended(entries), 0); });
  pctally_tru64_profil(nullptr, 0, 0, 0);
  // 307 ticks are expected of each, in 75 signals at the least: fewer than 100 come once in 10^8 runs.
  EXPECT_GE(sum(of_a), 100u) << "a thread older than the call";
  EXPECT_GE(sum(of_b), 100u) << "a thread younger than the call";
}

TEST_F(tru64_profil_description, buffers_of_unsigned_int) {
  ASSERT_EQ(extended({entry(a, 0, 0x40)}), 0);
  tick_at(kText + 7, 100000);
  EXPECT_EQ(a[1], 100000u);
}

TEST_F(tru64_profil_description, members_mean_what_the_traditional_arguments_do) {
  ASSERT_EQ(extended({entry(a, 0, 0x10000000, 2)}), 0);
  tick_at(kText), tick_at(kText + 0xfffffff), tick_at(kText + 0x10000000);
  EXPECT_EQ(a[0], 2u) << "scale 2: all of the range in the first counter";
  b[1] = 0xfffffffe;
  ASSERT_EQ(extended({entry(b, 0, 0x20, 0x18000)}), 0);
  tick_at(kText + 3, 3), tick_at(kText + 0x1f);
  EXPECT_EQ(b[1], 0xffffffffu) << "a full counter stays";
  EXPECT_EQ(b[11], 1u) << "above 0x10000 there is more than a counter for 4 bytes";
}

TEST_F(tru64_profil_description, lowpc_and_highpc_bound_the_range) {
  Fenced fence(16 * 4);
  ASSERT_EQ(extended({entry(fence.as<unsigned>(), 0, 0x40)}), 0);
  // The first round would end the profile by a fault beside the buffer.
  for (int round = 0; round < 2; ++round)
    for (uintptr_t pc = kText - 64; pc < kText + 256; ++pc) tick_at(pc);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(fence.as<unsigned>()[i], 8u);
  ASSERT_EQ(extended({entry(a, 2, 0x3d)}), 0);
  tick_at(kText + 1), tick_at(kText + 2), tick_at(kText + 0x3c), tick_at(kText + 0x3d);
  EXPECT_EQ(a[0], 1u);
  EXPECT_EQ(sum(a), 2u) << "both ends lie within a counter's text";
}

TEST_F(tru64_profil_description, scale_is_the_ratio_of_text_and_buffer) {
  ASSERT_EQ(extended({entry(a, 0, 0x40, 0x8000)}), 0);
  tick_at(kText + 8), tick_at(kText + 15), tick_at(kText + 0x3f);
  EXPECT_EQ(a[1], 2u);
  EXPECT_EQ(a[7], 1u);
}

TEST_F(tru64_profil_description, index_counts_from_offset) {
  Entry one{a, text(0x40), text(0x20), text(0), 0x10000};
  ASSERT_EQ(extended({one}), 0);
  tick_at(kText + 0x1f), tick_at(kText + 0x20);
  EXPECT_EQ(a[8], 1u);
  EXPECT_EQ(sum(a), 1u);
}

TEST_F(tru64_profil_description, contents_of_profil_args) {
  EXPECT_EQ(offsetof(Entry, buffer), 0u);
  EXPECT_EQ(offsetof(Entry, highpc), sizeof(void*));
  EXPECT_EQ(offsetof(Entry, lowpc), 2 * sizeof(void*));
  EXPECT_EQ(offsetof(Entry, offset), 3 * sizeof(void*));
  EXPECT_EQ(offsetof(Entry, scale), 4 * sizeof(void*));
  static_assert(std::is_same_v<decltype(Entry::buffer), unsigned*>);
  static_assert(std::is_same_v<decltype(Entry::highpc), void*>);
  static_assert(std::is_same_v<decltype(Entry::lowpc), void*>);
  static_assert(std::is_same_v<decltype(Entry::offset), void*>);
  static_assert(std::is_same_v<decltype(Entry::scale), unsigned>);
}

TEST_F(tru64_profil_description, decreasing_lowpc_and_no_overlap) {
  EXPECT_EQ(extended({entry(a, 0, 0x40), entry(b, 0x1000, 0x1040)}), EINVAL);
  EXPECT_EQ(extended({entry(a, 0x30, 0x70), entry(b, 0, 0x40)}), EINVAL);
  EXPECT_EQ(extended({entry(a, 0x3f, 0x7f), entry(b, 0, 0x40)}), EINVAL) << "by one byte";
  EXPECT_EQ(extended({entry(a, 0x40, 0x80), entry(b, 0, 0x40)}), 0);
  EXPECT_EQ(extended({entry(a, 0x40, 0x40)}), EINVAL);
}

TEST_F(tru64_profil_description, a_fault_turns_off_its_range_only) {
  Fenced gone(64);
  ASSERT_EQ(extended({entry(a, 0x1000, 0x1040), entry(gone.as<unsigned>(), 0, 0x40)}), 0);
  gone.protect(PROT_READ);
  tick_at(kText), tick_at(kText + 0x1000);
  gone.protect(PROT_READ | PROT_WRITE);
  tick_at(kText), tick_at(kText + 0x1000);
  EXPECT_EQ(a[0], 2u);
  EXPECT_EQ(gone.as<unsigned>()[0], 0u) << "off for good";
  EXPECT_TRUE(is_on());
}

TEST_F(tru64_profil_description, four_zeros_stop_either_form) {
  classic(0x10000);
  pctally_tru64_profil(nullptr, 0, 0, 0);
  EXPECT_FALSE(is_on());
  ASSERT_EQ(extended({entry(a, 0, 0x40)}), 0);
  EXPECT_TRUE(is_on());
  pctally_tru64_profil(nullptr, 0, 0, 0);
  EXPECT_FALSE(is_on());
}

TEST_F(tru64_profil_description, the_forms_exclude_each_other) {
  ASSERT_EQ(extended({entry(a, 0, 0x40)}), 0);
  classic(0x10000);
  tick_at(kText);
  EXPECT_EQ(sum(a), 0u);
  EXPECT_EQ(cells[0], 1);
  ASSERT_EQ(extended({entry(a, 0, 0x40)}), 0);
  tick_at(kText);
  EXPECT_EQ(a[0], 1u);
  EXPECT_EQ(cells[0], 1);
}

TEST_F(tru64_profil_description, scale_0_or_1_of_an_entry_turns_that_entry_off) {
  ASSERT_EQ(extended({entry(a, 0x1000, 0x1040, 1), entry(b, 0, 0x40)}), 0);
  tick_at(kText + 0x1000), tick_at(kText);
  EXPECT_EQ(sum(a), 0u);
  EXPECT_EQ(b[0], 1u);
}

TEST_F(tru64_profil_description, a_full_counter_stays) {
  cells[0] = 65534;
  classic(0x10000);
  for (int i = 0; i < 3; ++i) tick_at(kText);
  EXPECT_EQ(cells[0], 65535);
}

TEST_F(tru64_profil_description, entries_that_cannot_be_read) {
  errno = 0;
  pctally_tru64_profil(reinterpret_cast<void*>(16), 3, -1, 0);
  EXPECT_EQ(errno, EFAULT);
}

}  // namespace
}  // namespace pctally::manual
