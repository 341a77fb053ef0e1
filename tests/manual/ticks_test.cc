// Ticks of the clock on code of which every byte is known, at all scales, and the account of them.
#include <errno.h>

#include <algorithm>

#include "pctally/aix.h"
#include "pctally/bsd.h"
#include "pctally/glibc.h"
#include "pctally/hpux.h"
#include "pctally/irix.h"
#include "pctally/svr4.h"
#include "pctally/tru64.h"
#include "tests/manual/hot.h"
#include "tests/manual/page_test.h"
#include "tests/oracle/naive_index.h"

namespace pctally::manual {
namespace {

/// A dialect with one range of 16-bit counters.
struct Dialect {
  const char* system;
  pctally_bin_family family;
  bool two_is_one_counter;
  unsigned largest;
  void (*start)(uint16_t* cells, unsigned bytes, uintptr_t offset, unsigned scale);
  void (*stop)();
};

// HP-UX by sprofil, as its profil is of the same session.
constexpr Dialect kDialects[] = {
    {"irix", PCTALLY_BIN_FLOOR, false, ~0u,
     [](uint16_t* cells, unsigned bytes, uintptr_t offset, unsigned scale) {
       pctally_irix_prof entry{cells, bytes, offset, scale};
       EXPECT_EQ(pctally_irix_sprofil(&entry, 1, nullptr, PCTALLY_IRIX_USHORT), 0);
     },
     [] { pctally_irix_sprofil(nullptr, 0, nullptr, 0); }},
    {"hpux", PCTALLY_BIN_FLOOR, false, ~0u,
     [](uint16_t* cells, unsigned bytes, uintptr_t offset, unsigned scale) {
       pctally_hpux_prof entry{cells, bytes, reinterpret_cast<void*>(offset), scale};
       EXPECT_EQ(pctally_hpux_sprofil(&entry, 1, nullptr, PCTALLY_HPUX_USHORT), 0);
     },
     [] { pctally_hpux_sprofil(nullptr, 0, nullptr, 0); }},
    {"svr4", PCTALLY_BIN_FLOOR, true, ~0u,
     [](uint16_t* cells, unsigned bytes, uintptr_t offset, unsigned scale) {
       pctally_svr4_profil(cells, bytes, offset, scale);
     },
     [] { pctally_svr4_profil(nullptr, 0, 0, 0); }},
    {"bsd", PCTALLY_BIN_FLOOR, false, 0x10000,
     [](uint16_t* cells, unsigned bytes, uintptr_t offset, unsigned scale) {
       EXPECT_EQ(pctally_bsd_profil(reinterpret_cast<char*>(cells), bytes, offset, scale), 0);
     },
     [] { pctally_bsd_profil(nullptr, 0, 0, 0); }},
    {"tru64", PCTALLY_BIN_FLOOR, true, ~0u,
     [](uint16_t* cells, unsigned bytes, uintptr_t offset, unsigned scale) {
       pctally_tru64_profil(cells, static_cast<long>(bytes), static_cast<long>(offset), scale);
     },
     [] { pctally_tru64_profil(nullptr, 0, 0, 0); }},
    {"aix", PCTALLY_BIN_ROUNDUP, true, 0xffff,
     [](uint16_t* cells, unsigned bytes, uintptr_t offset, unsigned scale) {
       EXPECT_EQ(pctally_aix_profil(cells, bytes, offset, scale), 0);
     },
     [] { pctally_aix_profil(nullptr, 2, 0, 0); }},
    {"glibc", PCTALLY_BIN_MAN, false, ~0u,
     [](uint16_t* cells, unsigned bytes, uintptr_t offset, unsigned scale) {
       EXPECT_EQ(pctally_glibc_profil(cells, bytes, offset, scale), 0);
     },
     [] { pctally_glibc_profil(nullptr, 0, 0, 0); }}};

constexpr uint64_t kFewTicks = 5;

/// What one dialect counts of hot_a, from a little before it to three counters behind it.
class Counting {
 public:
  Counting(const Dialect& dialect, unsigned scale) : dialect_(dialect) {
    rule_.scale = scale;
    rule_.family = static_cast<uint8_t>(dialect.family);
    rule_.cell_shift = 1;
    rule_.origin = hot_.start - 37;
    last_ = counter_of(hot_.end - 1);
    first_ = counter_of(hot_.start);
    cells_.assign(last_ + 4, 0);
    dialect.start(cells_.data(), static_cast<unsigned>(cells_.size() * 2), rule_.origin, scale);
  }

  /// False until a few ticks are counted.
  [[nodiscard]] bool has_ticks() const {
    pctally_tick_ledger ledger{};
    return pctally_profil_ledger(dialect_.system, &ledger) == 0 && ledger.counted >= kFewTicks;
  }

  /// Every tick is in a counter that a byte of hot_a belongs to, and in the account.
  void judge() {
    dialect_.stop();
    SCOPED_TRACE(testing::Message() << dialect_.system << " scale " << rule_.scale);
    uint64_t within = 0;
    for (uint64_t i = 0; i < cells_.size(); ++i)
      if (first_ <= i && i <= last_) within += cells_[i];
    EXPECT_EQ(within, sum(cells_)) << "counters from " << first_ << " to " << last_;
    pctally_tick_ledger ledger{};
    ASSERT_EQ(pctally_profil_ledger(dialect_.system, &ledger), 0);
    EXPECT_EQ(ledger.counted, sum(cells_));
    EXPECT_EQ(ledger.ticks, ledger.counted + ledger.outside);
    EXPECT_GE(ledger.counted, kFewTicks);
    EXPECT_GE(2 * ledger.counted, ledger.ticks) << "it ran nothing else";
  }

 private:
  [[nodiscard]] uint64_t counter_of(uintptr_t pc) const {
    if (rule_.scale == 2 && dialect_.two_is_one_counter) return 0;
    return static_cast<uint64_t>(naive::counter(rule_, pc - rule_.origin));
  }

  const Dialect& dialect_;
  Text hot_ = text_of_hot_a();
  pctally_bin_rule rule_{};
  uint64_t first_ = 0, last_ = 0;
  std::vector<uint16_t> cells_;
};

using dialect_ticks = Page;

TEST_F(dialect_ticks, land_in_the_counters_of_the_code_that_ran) {
  use_clock();
  for (unsigned scale : {2u, 3u, 4u, 0x100u, 0x2000u, 0x4000u, 0x7fffu, 0x8000u, 0xc000u, 0xffffu, 0x10000u,
                         0x12345u, 0x18000u, 0x20000u}) {
    std::vector<Counting> all;
    all.reserve(std::size(kDialects));
    for (const Dialect& dialect : kDialects)
      if (scale <= dialect.largest) all.emplace_back(dialect, scale);
    auto counts = [](const Counting& counting) { return counting.has_ticks(); };
    for (int i = 0; i < 200 && !std::all_of(all.begin(), all.end(), counts); ++i) run_hot(hot_a, 10'000'000);
    for (Counting& counting : all) counting.judge();
  }
}

TEST_F(dialect_ticks, the_account_names_every_tick) {
  uint16_t cells[2] = {65535, 0};
  pctally_hpux_prof entry{cells, 2, text(), 0x10000};
  ASSERT_EQ(pctally_hpux_sprofil(&entry, 1, nullptr, PCTALLY_HPUX_USHORT), 0);
  tick_at(kText, 5), tick_at(kText + 2, 7);
  pctally_tick_ledger ledger{};
  ASSERT_EQ(pctally_profil_ledger("hpux", &ledger), 0);
  EXPECT_EQ(ledger.full, 5u);
  EXPECT_EQ(ledger.outside, 7u);
  EXPECT_EQ(ledger.ticks, 12u);
  EXPECT_EQ(ledger.samples, 2u);
  Fenced gone(2);
  entry.pr_base = gone.as<void>();
  ASSERT_EQ(pctally_hpux_sprofil(&entry, 1, nullptr, PCTALLY_HPUX_USHORT), 0);
  tick_at(kText, 3);
  gone.unmap();
  tick_at(kText, 4);
  pctally_hpux_sprofil(nullptr, 0, nullptr, 0);
  ASSERT_EQ(pctally_profil_ledger("hpux", &ledger), 0);
  EXPECT_EQ(ledger.counted, 3u);
  EXPECT_EQ(ledger.lost, 4u);
  EXPECT_EQ(ledger.ticks, 19u) << "one account from on to off";
}

TEST_F(dialect_ticks, the_account_counts_what_wrapped) {
  uint16_t cells[64] = {};
  ASSERT_EQ(pctally_bsd_profil(reinterpret_cast<char*>(cells), sizeof cells, kText, 65536), 0);
  for (int i = 0; i < 70000; ++i) tick_at(kText);
  tick_at(kText + 2, 200000);
  tick_at(kText + 0x1000, 7);
  pctally_bsd_profil(nullptr, 0, 0, 0);
  EXPECT_EQ(cells[0], 70000 - 65536);
  EXPECT_EQ(cells[1], 200000 - 3 * 65536);
  pctally_tick_ledger ledger{};
  ASSERT_EQ(pctally_profil_ledger("bsd", &ledger), 0);
  EXPECT_EQ(ledger.counted, 270000u);
  EXPECT_EQ(ledger.outside, 7u);
  EXPECT_EQ(ledger.ticks, 270007u);
}

TEST_F(dialect_ticks, the_account_has_errors) {
  pctally_tick_ledger ledger{};
  EXPECT_EQ(pctally_profil_ledger(nullptr, &ledger), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(pctally_profil_ledger("hpux", nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(pctally_profil_ledger("multics", &ledger), -1);
  EXPECT_EQ(errno, ESRCH);
}

}  // namespace
}  // namespace pctally::manual
