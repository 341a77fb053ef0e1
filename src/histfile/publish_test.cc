// Replacing a table under running ticks. Built with the tick's source in it, so that ThreadSanitizer
// sees both sides.
#include "histfile/publish.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <thread>
#include <vector>

namespace pctally {
namespace {

/// A table of one region over one cell, with a ledger of its own: what a tick does to it tells which
/// table it used.
struct OneCell {
  Ledger ledger{};
  uint64_t cell = 0;
  Region region{};
  uint64_t alive = 1;  ///< plain memory: a tick that read it after its release is a data race

  RegionTable table() {
    region = Region{};
    region.low = 1000;
    region.last = 1999;
    region.rule = BinRule{1000, 1, 0, PCTALLY_BIN_FLOOR, 3, 0, PCTALLY_BIN_SINGLE_CELL};
    region.kind = CellKind::kU64;
    region.cells = &cell;
    seal_regions(&region, 1);
    RegionTable result{};
    result.regions = &region;
    result.count = 1;
    result.ledger = &ledger;
    return result;
  }
};

TEST(Publish, NoTickIsLostOrDoubledWhileTablesAreReplaced) {
  PublishedTables tables;
  std::vector<OneCell> cells(400);
  publish(&tables, cells[0].table());
  std::atomic<bool> stop = false;
  std::atomic<unsigned> delivered = 0;
  std::vector<std::thread> tickers;
  for (int i = 0; i < 3; ++i)
    tickers.emplace_back([&] {
      uint64_t own = 0;
      while (!stop) tick_published(&tables, 1500, 1), ++own;
      delivered += own;
    });
  uint64_t counted = 0;
  for (size_t i = 1; i < cells.size(); ++i) {
    publish(&tables, cells[i].table());
    // The one before is ours again: reading and overwriting it must be no race.
    counted += cells[i - 1].cell;
    EXPECT_EQ(cells[i - 1].cell, cells[i - 1].ledger.counted);
    cells[i - 1].cell = 0;
    cells[i - 1].region = Region{};
  }
  stop = true;
  for (std::thread& ticker : tickers) ticker.join();
  withdraw(&tables);
  EXPECT_EQ(counted + cells.back().cell, delivered);
}

TEST(Publish, NoTickAfterWithdraw) {
  PublishedTables tables;
  OneCell one;
  std::atomic<bool> stop = false;
  std::thread ticker([&] {
    while (!stop) tick_published(&tables, 1500, 1);
  });
  for (int i = 0; i < 2000; ++i) {
    publish(&tables, one.table());
    withdraw(&tables);
    uint64_t before = one.cell;
    tick_published(&tables, 1500, 1);
    EXPECT_EQ(one.cell, before);
  }
  stop = true;
  ticker.join();
}

PublishedTables* g_tables;

TEST(Publish, ASignalInTheMiddleOfPublishingIsServed) {
  PublishedTables tables;
  std::vector<OneCell> cells(2);
  g_tables = &tables;
  struct sigaction action {
  }, old;
  action.sa_handler = [](int) { tick_published(g_tables, 1500, 1); };
  sigaction(SIGALRM, &action, &old);
  itimerval timer{{0, 200}, {0, 200}}, off{};
  setitimer(ITIMER_REAL, &timer, nullptr);
  for (int i = 0; i < 200000; ++i) publish(&tables, cells[static_cast<size_t>(i % 2)].table());
  setitimer(ITIMER_REAL, &off, nullptr);
  withdraw(&tables);
  sigaction(SIGALRM, &old, nullptr);
  EXPECT_EQ(tables.in_flight[0], 0u);
  EXPECT_EQ(tables.in_flight[1], 0u);
  EXPECT_GT(cells[0].ledger.samples + cells[1].ledger.samples, 0u);
}

}  // namespace
}  // namespace pctally
