#include "tick/tick.h"

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

#include "tick/guarded_pool_for_test.h"

namespace pctally {
namespace {

uint64_t accounted(const Ledger& ledger) {
  return ledger.counted + ledger.outside + ledger.full + (ledger.deferred - ledger.resolved);
}

/// A region of whole-byte cells at `low`; its cells are the caller's.
Region shift_region(uint64_t low, uint64_t cells, CellKind kind, void* buffer, WhenFull when_full) {
  Region region{};
  region.low = region.rule.origin = low;
  region.last = low + cells - 1;
  region.rule.cells = cells;
  region.rule.family = PCTALLY_BIN_SHIFT;
  region.kind = kind;
  region.cells = buffer;
  region.when_full = when_full;
  return region;
}

RegionTable table_of(Region* regions, uint32_t count, Ledger* ledger) {
  seal_regions(regions, count);
  RegionTable table{};
  table.regions = regions;
  table.count = count;
  table.ledger = ledger;
  return table;
}

TEST(Tick, SaysAndBooksWhereItWent) {
  uint16_t cells[4] = {0, 65534, 0, 0};
  uint64_t process_ticks = 0;
  Ledger ledger{};
  Region region = shift_region(0x1000, 4, CellKind::kU16, cells, WhenFull::kSaturate);
  RegionTable table = table_of(&region, 1, &ledger);
  table.process_ticks = &process_ticks;
  EXPECT_EQ(tick(table, 0x1000, 3), TickOutcome::kCounted);
  EXPECT_EQ(tick(table, 0x1001, 3), TickOutcome::kFull) << "one of three fits";
  EXPECT_EQ(tick(table, 0x0fff, 5), TickOutcome::kOutside);
  EXPECT_EQ(tick(table, 0x1004, 6), TickOutcome::kOutside);
  EXPECT_EQ(cells[0], 3);
  EXPECT_EQ(cells[1], 65535);
  EXPECT_EQ(ledger.counted, 4u);
  EXPECT_EQ(ledger.full, 2u);
  EXPECT_EQ(ledger.outside, 11u);
  EXPECT_EQ(ledger.samples, 4u);
  EXPECT_EQ(ledger.weight_squares, 9u + 9 + 25 + 36);
  EXPECT_EQ(process_ticks, 17u);
}

TEST(Tick, ManyAtOnceAreManyOneByOne) {
  struct {
    uint16_t cells[4] = {0, 65530, 0, 0};
    uint64_t process_ticks = 0;
    Ledger ledger{};
  } once, singly;
  auto table_over = [](auto& side, Region* region) {
    *region = shift_region(0x1000, 4, CellKind::kU16, side.cells, WhenFull::kSaturate);
    RegionTable table = table_of(region, 1, &side.ledger);
    table.process_ticks = &side.process_ticks;
    return table;
  };
  Region first, second;
  RegionTable at_once = table_over(once, &first), one_by_one = table_over(singly, &second);
  for (uint64_t pc : {0x1000, 0x1001, 0x0fff}) {
    tick_times(at_once, pc, 9);
    for (int i = 0; i < 9; ++i) tick(one_by_one, pc, 1);
  }
  EXPECT_EQ(memcmp(&once, &singly, sizeof once), 0);
  EXPECT_EQ(once.ledger.samples, 27u);
  EXPECT_EQ(once.ledger.weight_squares, 27u);
}

TEST(Tick, CellsOfEveryKindLieSideBySide) {
  GuardedPool pool(4);
  uint16_t u16[8] = {};
  uint32_t u32[8] = {};
  uint64_t u64[8] = {};
  Region regions[4] = {shift_region(0x100, 8, CellKind::kU16, u16, WhenFull::kSaturate),
                       shift_region(0x200, 8, CellKind::kU32, u32, WhenFull::kSaturate),
                       shift_region(0x300, 8, CellKind::kU64, u64, WhenFull::kSaturate),
                       shift_region(0x400, 8, CellKind::kTree, nullptr, WhenFull::kSaturate)};
  regions[3].directory = pool.directory(0x1000);
  regions[3].tree_bias = 0x800;
  RegionTable table = table_of(regions, 4, &pool.ledger());
  table.pool = pool.pool();
  for (uint64_t low : {0x100, 0x200, 0x300, 0x400})
    for (uint64_t byte = 0; byte < 8; ++byte)
      EXPECT_EQ(tick(table, low + byte, byte + 1), TickOutcome::kCounted);
  for (uint64_t byte = 0; byte < 8; ++byte) {
    EXPECT_EQ(u16[byte], byte + 1);
    EXPECT_EQ(u32[byte], byte + 1);
    EXPECT_EQ(u64[byte], byte + 1);
    EXPECT_EQ(*tree_cell(pool.pool(), regions[3].directory, 0x800 + byte), byte + 1);
  }
  EXPECT_EQ(pool.sum(regions[3].directory, 0x1000), 36u);
  EXPECT_EQ(pool.ledger().counted, 4 * 36u);
}

// A region may be cut so that it starts after its segment's first byte, or before: the bias is
// added modulo 2^64.
TEST(Tick, TreeBiasMayBeNegative) {
  GuardedPool pool(4);
  Region region = shift_region(0x1000, 0x1000, CellKind::kTree, nullptr, WhenFull::kSaturate);
  region.rule.origin = 0x800;
  region.rule.cells = 0x1800;
  region.tree_bias = uint64_t{0} - 0x800;
  region.directory = pool.directory(0x1000);
  RegionTable table = table_of(&region, 1, &pool.ledger());
  table.pool = pool.pool();
  tick(table, 0x1003, 2);
  EXPECT_EQ(*tree_cell(pool.pool(), region.directory, 3), 2u);
}

TEST(Tick, AUsedUpPoolIsFullNotOutside) {
  GuardedPool pool(1);
  Region region = shift_region(0, 0x10000, CellKind::kTree, nullptr, WhenFull::kSaturate);
  region.directory = pool.directory(0x10000);
  RegionTable table = table_of(&region, 1, &pool.ledger());
  table.pool = pool.pool();
  uint64_t full = 0;
  for (uint64_t pc = 0; pc < 0x10000; pc += 16) full += tick(table, pc, 2) == TickOutcome::kFull ? 2 : 0;
  EXPECT_GT(full, 0u);
  EXPECT_EQ(pool.ledger().full, full);
  EXPECT_EQ(pool.ledger().counted, pool.sum(region.directory, 0x10000));
  EXPECT_EQ(accounted(pool.ledger()), 2u * 0x1000);
}

// SVR4: the tick that brings a count to 32767 turns everything off, other counters included.
TEST(Tick, StopTurnsEverythingOff) {
  uint16_t cells[4] = {32765, 0, 40000, 0};
  uint32_t stopped = 0;
  Ledger ledger{};
  Region region = shift_region(0, 4, CellKind::kU16, cells, WhenFull::kStop);
  RegionTable table = table_of(&region, 1, &ledger);
  table.stopped = &stopped;
  EXPECT_EQ(tick(table, 0, 1), TickOutcome::kCounted);
  EXPECT_EQ(tick(table, 1, 1), TickOutcome::kCounted) << "still on at 32766";
  EXPECT_EQ(stopped, 0u);
  EXPECT_EQ(tick(table, 0, 2), TickOutcome::kFull) << "one of the two";
  EXPECT_EQ(stopped, 1u);
  Ledger before = ledger;
  EXPECT_EQ(tick(table, 1, 1), TickOutcome::kStopped);
  EXPECT_EQ(tick(table, 100, 1), TickOutcome::kStopped);
  EXPECT_EQ(ledger.samples, before.samples) << "ticks after the stop are no ticks";
  EXPECT_EQ(accounted(ledger), 4u);
  EXPECT_EQ(cells[0], 32767);
  EXPECT_EQ(cells[1], 1);

  stopped = 0;
  EXPECT_EQ(tick(table, 2, 1), TickOutcome::kFull);
  EXPECT_EQ(stopped, 1u);
  EXPECT_EQ(cells[2], 40000);
}

TEST(Tick, OverflowCellTakesTheRestAndHasALimitToo) {
  uint16_t cell = 0, rest = 65533;
  Ledger ledger{};
  Region region = shift_region(0x1000, 1, CellKind::kU16, &cell, WhenFull::kSaturate);
  Region overflow = shift_region(0, 1, CellKind::kU16, &rest, WhenFull::kSaturate);
  RegionTable table = table_of(&region, 1, &ledger);
  table.overflow = &overflow;
  for (uint64_t pc : {uint64_t{0}, uint64_t{0xfff}, uint64_t{0x1000}, ~uint64_t{0}}) tick(table, pc, 1);
  EXPECT_EQ(cell, 1);
  EXPECT_EQ(rest, 65535);
  EXPECT_EQ(ledger.counted, 3u);
  EXPECT_EQ(ledger.full, 1u);
  EXPECT_EQ(ledger.outside, 0u);
}

TEST(Tick, DeferredUntilTheRingIsFullThenOutside) {
  DeferredTick memory[1 + 4] = {};
  auto* ring = reinterpret_cast<DeferredRing*>(memory);
  Ledger ledger{};
  RegionTable table{};
  table.ledger = &ledger;
  table.deferred = ring;
  table.deferred_capacity = 4;
  table.process = 77;
  for (uint64_t pc = 100; pc < 106; ++pc) EXPECT_EQ(tick(table, pc, 2), TickOutcome::kOutside);
  EXPECT_EQ(ledger.deferred, 8u);
  EXPECT_EQ(ledger.outside, 4u);
  EXPECT_EQ(deferred_slots(ring)[3].pc, 103u);
  EXPECT_EQ(deferred_slots(ring)[3].weight, 2u);
  EXPECT_EQ(deferred_slots(ring)[3].process, 77u);
}

// A resolved tick was booked as a delivery when it was put aside: it is not one again.
TEST(Tick, ResolvingMovesFromDeferredToItsPlace) {
  uint16_t cells[2] = {0, 65535};
  Ledger ledger{};
  ledger.deferred = 6;
  Region region = shift_region(0x1000, 2, CellKind::kU16, cells, WhenFull::kSaturate);
  RegionTable table = table_of(&region, 1, &ledger);
  EXPECT_EQ(resolve(table, 0x1000, 1), TickOutcome::kCounted);
  EXPECT_EQ(resolve(table, 0x1001, 2), TickOutcome::kFull);
  EXPECT_EQ(resolve(table, 0x2000, 3), TickOutcome::kOutside);
  EXPECT_EQ(ledger.counted, 1u);
  EXPECT_EQ(ledger.full, 2u);
  EXPECT_EQ(ledger.outside, 3u);
  EXPECT_EQ(ledger.resolved, 6u);
  EXPECT_EQ(ledger.samples, 0u);
  EXPECT_EQ(accounted(ledger), 6u);
}

/// Buffers of every kind and limit with presets, and a second account of what they must hold.
struct Mixture {
  static constexpr uint64_t kCells = 8;
  std::mt19937_64 random;
  uint16_t u16[kCells];
  uint32_t u32[kCells];
  uint64_t u64[kCells];
  WhenFull when_full;
  uint64_t preset_sum = 0;
  Ledger ledger{};
  DeferredTick memory[1 + 16] = {};
  Region regions[3];
  RegionTable table;

  explicit Mixture(uint64_t seed) : random(seed) {
    when_full = static_cast<WhenFull>(seed % 3);
    for (uint64_t i = 0; i < kCells; ++i) preset_sum += (u16[i] = static_cast<uint16_t>(near_limit(0xffff)));
    for (uint64_t i = 0; i < kCells; ++i)
      preset_sum += (u32[i] = static_cast<uint32_t>(near_limit(0xffffffff)));
    for (uint64_t i = 0; i < kCells; ++i) preset_sum += (u64[i] = near_limit(~uint64_t{0}));
    regions[0] = shift_region(0x100, kCells, CellKind::kU16, u16, when_full);
    regions[1] = shift_region(0x200, kCells, CellKind::kU32, u32, when_full);
    regions[2] = shift_region(0x300, kCells, CellKind::kU64, u64, when_full);
    table = table_of(regions, 3, &ledger);
    table.deferred = reinterpret_cast<DeferredRing*>(memory);
    table.deferred_capacity = 16;
  }
  uint64_t near_limit(uint64_t most) {
    uint64_t distance = random() % 200'000;
    if (random() % 2 == 0) return random() % 32768;
    return most - std::min(most, distance);
  }
  uint64_t sum() const {
    uint64_t total = 0;
    for (uint64_t i = 0; i < kCells; ++i) total += u16[i] + uint64_t{u32[i]} + u64[i];
    return total;
  }
  uint64_t any_pc() { return (random() % 4) * 0x100 + random() % 10; }
};

// ticks = counted + outside + full + deferred after every tick of every sequence, and the cells hold what was
// counted (modulo 2^16, their smallest width, where they wrap).
TEST(Tick, EveryTickIsAccountedFor) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Mixture mixture(seed);
    uint64_t ticks = 0;
    for (int i = 0; i < 300; ++i) {
      uint64_t weight = 1 + mixture.random() % (mixture.random() % 2 == 0 ? 3 : 70'000);
      tick(mixture.table, mixture.any_pc(), weight);
      ticks += weight;
      uint64_t gained = mixture.sum() - mixture.preset_sum;
      ASSERT_EQ(accounted(mixture.ledger), ticks) << "seed " << seed;
      if (mixture.when_full == WhenFull::kSaturate) {
        ASSERT_EQ(gained, mixture.ledger.counted) << "seed " << seed;
      } else {
        ASSERT_EQ(gained % 65536, mixture.ledger.counted % 65536) << "seed " << seed;
      }
    }
    ASSERT_EQ(mixture.ledger.samples, 300u);
  }
}

void expect_exact_with(unsigned thread_count) {
  constexpr uint64_t kTicks = 200'000;
  GuardedPool pool(8);
  uint32_t directory = pool.directory(0x1000);
  uint32_t u32[4] = {};
  uint64_t process_ticks = 0;
  Region regions[2] = {shift_region(0x1000, 0x1000, CellKind::kTree, nullptr, WhenFull::kSaturate),
                       shift_region(0x3000, 4, CellKind::kU32, u32, WhenFull::kSaturate)};
  regions[0].directory = directory;
  RegionTable table = table_of(regions, 2, &pool.ledger());
  table.pool = pool.pool();
  table.process_ticks = &process_ticks;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < thread_count; ++i)
    threads.emplace_back([&table] {
      for (uint64_t n = 0; n < kTicks; ++n)
        tick(table, n % 8 < 4 ? 0x1000 + n % 4 : 0x3000 + n % 4, 1 + n % 2);
    });
  for (std::thread& thread : threads) thread.join();
  uint64_t total = thread_count * kTicks * 3 / 2;
  EXPECT_EQ(pool.ledger().counted, total);
  EXPECT_EQ(process_ticks, total);
  EXPECT_EQ(pool.ledger().samples, thread_count * kTicks);
  EXPECT_EQ(pool.ledger().weight_squares, thread_count * kTicks / 2 * 5);
  for (uint64_t i = 0; i < 4; ++i) {
    uint64_t each = thread_count * kTicks / 8 * (1 + i % 2);
    EXPECT_EQ(u32[i], each);
    EXPECT_EQ(*tree_cell(pool.pool(), directory, i), each);
  }
}

// Non-atomic counts lose a third of such ticks (load, add, store) or 1 % (one instruction without lock).
TEST(Tick, ThreadsInTheSameCellsCountExactly) {
  for (unsigned threads : {2, 4, 8, 16}) expect_exact_with(threads);
}

// Saturation and stop under contention: exactly what fits, whoever brings it.
TEST(Tick, ThreadsMeetingAtALimitTakeExactlyWhatFits) {
  for (WhenFull when_full : {WhenFull::kSaturate, WhenFull::kStop}) {
    uint16_t cells[1] = {};
    uint32_t stopped = 0;
    Ledger ledger{};
    Region region = shift_region(0, 1, CellKind::kU16, cells, when_full);
    RegionTable table = table_of(&region, 1, &ledger);
    table.stopped = &stopped;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&table] {
        for (int n = 0; n < 20'000; ++n) tick(table, 0, 1);
      });
    for (std::thread& thread : threads) thread.join();
    bool saturates = when_full == WhenFull::kSaturate;
    EXPECT_EQ(cells[0], saturates ? 65535 : 32767);
    EXPECT_EQ(ledger.counted, cells[0]);
    EXPECT_EQ(stopped, saturates ? 0u : 1u);
    if (saturates) {
      EXPECT_EQ(ledger.full, 80'000u - 65535);
    }
  }
}

}  // namespace
}  // namespace pctally
