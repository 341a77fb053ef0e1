// BSD and macOS profil(2), sentence by sentence.
#include "pctally/bsd.h"

#include <errno.h>
#include <string.h>

#include "tests/manual/page_test.h"
#include "tests/manual/reference_tables.h"

namespace pctally::manual {
namespace {

class BsdPage : public Page {
 protected:
  void TearDown() override {
    unsetenv("PCTALLY_BSD_PROFIL");
    pctally_bsd_profil(nullptr, 0, 0, 0);
  }
  int profil(unsigned scale, size_t bytes = 64) {
    errno = 0;
    return pctally_bsd_profil(reinterpret_cast<char*>(cells), bytes, kText, scale);
  }
  static bool is_on() { return pctally_count(reinterpret_cast<void*>(1), 1) == 0; }
  uint16_t cells[32] = {};
};

using bsd_profil_synopsis = BsdPage;
using bsd_profil_description = BsdPage;
using bsd_profil_return_values = BsdPage;
using bsd_profil_errors = BsdPage;
using bsd_profil_bugs = BsdPage;

TEST_F(bsd_profil_synopsis, types_of_the_call) {
  int (*call)(char*, size_t, u_long, u_int) = pctally_bsd_profil;
  EXPECT_NE(call, nullptr);
}

TEST_F(bsd_profil_description, always_einval_if_asked_for) {
  setenv("PCTALLY_BSD_PROFIL", "macos", 1);
  EXPECT_EQ(profil(65536), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(profil(0), -1);
  unsetenv("PCTALLY_BSD_PROFIL");
  EXPECT_EQ(profil(65536), 0) << "off by default";
}

TEST_F(bsd_profil_description, enables_and_disables) {
  ASSERT_EQ(profil(65536), 0);
  EXPECT_TRUE(is_on());
  ASSERT_EQ(profil(0), 0);
  EXPECT_FALSE(is_on());
}

TEST_F(bsd_profil_description, every_tick_updates_a_count) {
  use_clock();
  uint16_t bins[kBurnBytes / 2] = {};
  ASSERT_EQ(
      pctally_bsd_profil(reinterpret_cast<char*>(bins), sizeof bins, text_of<unsigned long>(burn), 65536), 0);
  burn(400'000'000);
  EXPECT_GE(sum(bins), 20u);
}

TEST_F(bsd_profil_description, size_bytes_of_16_bit_bins) {
  Fenced fence(64);
  ASSERT_EQ(pctally_bsd_profil(fence.as<char>(), 64, kText, 65536), 0);
  for (uintptr_t pc = kText - 64; pc < kText + 256; ++pc) tick_at(pc);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(fence.as<uint16_t>()[i], 2);
}

TEST_F(bsd_profil_description, each_bin_counts_an_address_range) {
  ASSERT_EQ(profil(65536), 0);
  tick_at(kText + 2), tick_at(kText + 3), tick_at(kText + 4);
  EXPECT_EQ(cells[1], 2);
  EXPECT_EQ(cells[2], 1);
}

// The relation and the kernels agree on even distances, and everywhere at powers of two; elsewhere the
// kernels win, unless asked otherwise.
TEST_F(bsd_profil_description, relation_of_pc_and_bin) {
  for (unsigned scale : {65536u, 32768u, 16384u, 0xc000u, 3u}) {
    ASSERT_EQ(profil(scale), 0);
    for (uint64_t distance : {0u, 2u, 4u, 8u, 16u, 30u, 62u}) {
      uint64_t bin = distance / 2 * scale / 65536, before = cells[bin];
      tick_at(kText + distance);
      EXPECT_EQ(cells[bin], before + 1) << distance << " " << scale;
    }
  }
}

TEST_F(bsd_profil_description, multiplied_before_it_is_halved) {
  ASSERT_EQ(profil(0xc000), 0);
  tick_at(kText + 3);
  EXPECT_EQ(cells[1], 1);
}

TEST_F(bsd_profil_description, relation_by_the_letter_if_asked_for) {
  setenv("PCTALLY_BSD_PROFIL", "manual", 1);
  for (unsigned scale = 1; scale <= 65536; scale += scale < 32 ? 1 : 257) {
    uint16_t bins[64] = {};
    ASSERT_EQ(pctally_bsd_profil(reinterpret_cast<char*>(bins), sizeof bins, kText, scale), 0);
    for (uint64_t distance = 0; distance < 140; ++distance) {
      uint64_t bin = distance / 2 * scale / 65536;
      uint16_t before = bin < 64 ? bins[bin] : 0;
      tick_at(kText + distance);
      if (bin < 64) {
        ASSERT_EQ(bins[bin], before + 1) << distance << " " << scale;
      }
    }
  }
  ASSERT_EQ(profil(0xc000), 0);
  tick_at(kText + 3);
  EXPECT_EQ(cells[0], 1);
  EXPECT_EQ(profil(65537), -1) << "all else is the same";
  EXPECT_EQ(errno, EINVAL);
}

// Table T1's BSD column: the choice by the letter is not the default because it would not reproduce it.
TEST_F(bsd_profil_description, the_tables_need_the_kernels_rule) {
  unsigned differ = 0;
  for (const ScaleRow& row : kScaleRows) {
    if (row.bsd < 0 && row.bsd != kMiss) continue;
    uint64_t man = row.distance / 2 * row.scale / 65536, kernel = row.distance * row.scale / 65536 / 2;
    EXPECT_EQ(kernel < 32 ? static_cast<int>(kernel) : kMiss, row.bsd) << row.distance << " " << row.scale;
    differ += (man < 32 ? static_cast<int>(man) : kMiss) != row.bsd;
  }
  EXPECT_EQ(differ, 9u) << "rows that the letter would miss";
}

TEST_F(bsd_profil_description, offset_is_the_lowest_address) {
  ASSERT_EQ(profil(65536), 0);
  tick_at(kText - 1), tick_at(0), tick_at(kText);
  EXPECT_EQ(sum(cells), 1u);
}

TEST_F(bsd_profil_description, scale_from_1_to_65536) {
  for (unsigned scale : {1u, 2u, 3u, 65535u, 65536u}) EXPECT_EQ(profil(scale), 0) << scale;
  for (unsigned scale : {65537u, 0x20000u, ~0u}) {
    EXPECT_EQ(profil(scale), -1) << scale;
    EXPECT_EQ(errno, EINVAL);
  }
  ASSERT_EQ(profil(1), 0);
  tick_at(kText + 131071), tick_at(kText + 131072);
  EXPECT_EQ(cells[0], 1);
  EXPECT_EQ(cells[1], 1);
}

TEST_F(bsd_profil_description, scale_65536_32768_16384) {
  for (unsigned bytes : {2u, 4u, 8u}) {
    uint16_t bins[32] = {};
    ASSERT_EQ(pctally_bsd_profil(reinterpret_cast<char*>(bins), sizeof bins, kText, 131072 / bytes), 0);
    for (uintptr_t distance = 0; distance < 32 * bytes; ++distance) tick_at(kText + distance);
    for (uint16_t bin : bins) EXPECT_EQ(bin, bytes);
  }
}

TEST_F(bsd_profil_description, intermediate_values) {
  ASSERT_EQ(profil(50000), 0);
  for (uintptr_t distance = 0; distance < 84; ++distance) tick_at(kText + distance);
  EXPECT_EQ(sum(cells), 84u);
  for (uint16_t cell : cells) EXPECT_TRUE(cell == 2 || cell == 3) << cell;
}

TEST_F(bsd_profil_description, scale_0_disables) {
  ASSERT_EQ(profil(65536), 0);
  ASSERT_EQ(pctally_bsd_profil(nullptr, 64, 0, 0), 0);
  EXPECT_FALSE(is_on());
}

TEST_F(bsd_profil_description, bins_wrap) {
  cells[0] = 65535;
  ASSERT_EQ(profil(65536), 0);
  tick_at(kText);
  EXPECT_EQ(cells[0], 0);
}

TEST_F(bsd_profil_return_values, illegal_address_terminates_profiling) {
  ASSERT_EQ(profil(65536), 0);
  Fenced fence(64);
  for (char* bad :
       {static_cast<char*>(nullptr), fence.as<char>() + 2, reinterpret_cast<char*>(UINTPTR_MAX - 32)}) {
    ASSERT_EQ(profil(65536), 0);
    EXPECT_EQ(pctally_bsd_profil(bad, 64, kText, 65536), -1);
    EXPECT_EQ(errno, EFAULT);
    EXPECT_FALSE(is_on());
  }
}

// "If the scale value is nonzero": one that is out of range, too.
TEST_F(bsd_profil_return_values, illegal_address_at_any_scale_but_0) {
  for (unsigned scale : {1u, 2u, 65536u, 65537u, ~0u}) {
    ASSERT_EQ(profil(65536), 0);
    errno = 0;
    EXPECT_EQ(pctally_bsd_profil(nullptr, 64, kText, scale), -1) << scale;
    EXPECT_EQ(errno, EFAULT) << scale;
    EXPECT_FALSE(is_on()) << scale;
  }
  ASSERT_EQ(profil(65536), 0);
  EXPECT_EQ(profil(65537), -1);
  EXPECT_EQ(errno, EINVAL) << "the buffer is legal";
  EXPECT_TRUE(is_on()) << "and profiling goes on";
}

TEST_F(bsd_profil_return_values, otherwise_zero) { EXPECT_EQ(profil(65536), 0); }

TEST_F(bsd_profil_errors, efault) {
  Fenced fence(64);
  fence.protect(PROT_READ);
  EXPECT_EQ(pctally_bsd_profil(fence.as<char>(), 64, kText, 65536), -1);
  EXPECT_EQ(errno, EFAULT);
  EXPECT_EQ(pctally_bsd_profil(nullptr, 0, kText, 65536), 0) << "no byte of it is illegal";
}

TEST_F(bsd_profil_errors, the_probe_changes_nothing) {
  Fenced fence(4096);
  for (int i = 0; i < 4096; ++i) fence.as<char>()[i] = static_cast<char>(i * 7);
  ASSERT_EQ(pctally_bsd_profil(fence.as<char>(), 4096, kText, 65536), 0);
  for (int i = 0; i < 4096; ++i) ASSERT_EQ(fence.as<char>()[i], static_cast<char>(i * 7));
}

TEST_F(bsd_profil_bugs, samples_should_be_unsigned_short) {
  alignas(8) char odd[65] = {};
  ASSERT_EQ(pctally_bsd_profil(odd + 1, 64, kText, 65536), 0);
  for (int i = 0; i < 300; ++i) tick_at(kText + 2);
  uint16_t counted = 0;
  memcpy(&counted, odd + 3, sizeof counted);
  EXPECT_TRUE(counted == 300 || counted == 0) << "machines without such stores count nothing: " << counted;
#if defined(__x86_64__)
  EXPECT_EQ(counted, 300) << "unsigned, of two bytes, at any address";
#endif
  odd[3] = odd[4] = 0;
  for (int i = 0; i < 65; ++i) EXPECT_EQ(odd[i], 0) << "an odd address does no harm to byte " << i;
}

}  // namespace
}  // namespace pctally::manual
