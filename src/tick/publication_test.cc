#include "tick/publication.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace pctally {
namespace {

void wait_until_empty(PublishedTables* tables, uint32_t slot) {
  while (__atomic_load_n(&tables->in_flight[slot], __ATOMIC_SEQ_CST) != 0) std::this_thread::yield();
}

/// The publisher's side of the protocol in the header's picture.
void replace(PublishedTables* tables, const RegionTable& table) {
  uint32_t old = tables->current, spare = old == 0 ? 1 : 0;
  wait_until_empty(tables, spare);
  tables->slots[spare] = table;
  (void)__atomic_exchange_n(&tables->current, spare, __ATOMIC_SEQ_CST);
  if (old < kTableSlots) wait_until_empty(tables, old);
}

/// One cell for every pc.
struct OneCell {
  uint64_t cell = 0;
  Ledger ledger{};
  Region region{};
  RegionTable table{};

  OneCell() {
    region.last = region.reach = ~uint64_t{0};
    region.rule.cells = 1;
    region.rule.flags = PCTALLY_BIN_ANY_PC;
    region.cells = &cell;
    region.kind = CellKind::kU64;
    table.regions = &region;
    table.count = 1;
    table.ledger = &ledger;
  }
};

TEST(Publication, NoTableNoTick) {
  PublishedTables tables;
  tick_published(&tables, 1, 1);
  OneCell one;
  replace(&tables, one.table);
  tick_published(&tables, 1, 1);
  tables.current = kNoTable;
  tick_published(&tables, 1, 1);
  EXPECT_EQ(one.cell, 1u);
  EXPECT_EQ(tables.in_flight[0], 0u);
  EXPECT_EQ(tables.in_flight[1], 0u);
}

TEST(Publication, TicksReadOffAClockAreNoDelivery) {
  PublishedTables tables;
  EXPECT_FALSE(count_published(&tables, 1, 250));
  OneCell one;
  replace(&tables, one.table);
  EXPECT_TRUE(count_published(&tables, 1, 250));
  EXPECT_EQ(one.cell, 250u);
  EXPECT_EQ(one.ledger.counted, 250u);
  EXPECT_EQ(one.ledger.samples, 0u);
  EXPECT_EQ(one.ledger.weight_squares, 0u);
}

// Ticks go to a current table only: once replace() has returned, the old one may be taken apart.
TEST(Publication, NoTickUsesATableThatWasReplaced) {
  constexpr uint64_t kTicks = 300'000;
  PublishedTables tables;
  OneCell kept;  // the last table, so that no tick falls between
  replace(&tables, kept.table);
  std::atomic<unsigned> running{3};
  std::vector<std::thread> tickers;
  for (int i = 0; i < 3; ++i)
    tickers.emplace_back([&] {
      for (uint64_t n = 0; n < kTicks; ++n) tick_published(&tables, n, 1);
      --running;
    });
  uint64_t retired = 0, late = 0;
  while (running != 0) {
    OneCell brief;
    replace(&tables, brief.table);
    replace(&tables, kept.table);
    uint64_t counted = brief.cell;
    brief.region.cells = nullptr;  // a tick that still used it would crash
    for (int i = 0; i < 50; ++i) late += load_relaxed(&brief.cell) != counted;
    retired += counted;
  }
  for (std::thread& ticker : tickers) ticker.join();
  EXPECT_EQ(late, 0u);
  EXPECT_EQ(kept.cell + retired, 3 * kTicks);
  EXPECT_EQ(tables.in_flight[0] + tables.in_flight[1], 0u);
}

}  // namespace
}  // namespace pctally
