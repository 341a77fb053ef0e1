// A tick that is stopped after each of its instructions in turn: what others may see then, and what happens
// if they come between.
#include <algorithm>
#include <vector>

#include "tick/publication.h"
#include "tick/stepped_child_for_test.h"
#include "tick/tick.h"

namespace pctally {
namespace {

constexpr uint64_t kPageBytes = 0x1000;
constexpr uint64_t kRingSlots = 8;

class Interleaving : public testing::Test {
 protected:
  void SetUp() override {
    if (!tracing_permitted()) GTEST_SKIP() << "needs single steps of its own child";
  }
};

/// One region of each kind in shared memory: a tree at 0x10000, 16-bit cells at 0x20000; the rest goes
/// to the ring.
struct SharedTable {
  GuardedPool pool{1, 1};
  SharedMemory memory{4096};
  Region regions[2] = {};
  RegionTable table{};

  explicit SharedTable(WhenFull when_full = WhenFull::kSaturate) {
    regions[0].low = regions[0].rule.origin = 0x10000;
    regions[0].kind = CellKind::kTree;
    regions[0].directory = pool.directory(kPageBytes);
    regions[1].low = regions[1].rule.origin = 0x20000;
    regions[1].kind = CellKind::kU16;
    regions[1].cells = cell();
    regions[1].when_full = when_full;
    for (Region& region : regions) {
      region.last = region.low + kPageBytes - 1;
      region.rule.cells = kPageBytes;
      region.rule.family = PCTALLY_BIN_SHIFT;
    }
    seal_regions(regions, 2);
    table.regions = regions;
    table.count = 2;
    table.pool = pool.pool();
    table.ledger = &pool.ledger();
    table.stopped = reinterpret_cast<uint32_t*>(memory.data() + 2048);
  }
  void with_ring() {
    table.deferred = reinterpret_cast<DeferredRing*>(memory.data() + 1024);
    table.deferred_capacity = kRingSlots;
  }
  [[nodiscard]] uint16_t* cell() const { return reinterpret_cast<uint16_t*>(memory.data()); }
  [[nodiscard]] const Ledger& ledger() const { return pool.ledger(); }
  [[nodiscard]] uint64_t tree() const { return pool.sum(regions[0].directory, kPageBytes); }
};

TEST_F(Interleaving, ACellIsRaisedBeforeItIsBooked) {
  for (uint64_t pc : {0x10003, 0x20000}) {
    SharedTable shared;
    SteppedChild child([&] { tick(shared.table, pc, 5); });
    unsigned steps = 0;
    for (; child.step(); ++steps) {
      uint64_t cells = shared.tree() + *shared.cell(), counted = shared.ledger().counted;
      ASSERT_LE(counted, cells) << "after " << steps << " instructions";
      ASSERT_LE(cells, 5 * shared.ledger().samples) << "after " << steps << " instructions";
    }
    EXPECT_GT(steps, 30u);
    EXPECT_EQ(shared.tree() + *shared.cell(), 5u);
    EXPECT_EQ(shared.ledger().counted, 5u);
  }
}

TEST_F(Interleaving, ATickIsBookedBeforeTheReaderCanResolveIt) {
  SharedTable shared;
  shared.with_ring();
  SteppedChild child([&] { tick(shared.table, 0x900000, 5); });
  while (child.step()) {
    const DeferredTick& slot = *deferred_slots(shared.table.deferred);
    if (slot.ready == 0) continue;
    ASSERT_EQ(shared.ledger().deferred, 5u);
    ASSERT_EQ(slot.pc, 0x900000u);
    ASSERT_EQ(slot.weight, 5u);
  }
  EXPECT_EQ(deferred_slots(shared.table.deferred)->ready, deferred_stamp(0));
}

// Two ticks for the same new block, leaf and cell: both count, whichever makes the block.
TEST_F(Interleaving, TwoTicksInOneFreshCell) {
  for_every_instruction([](unsigned k) {
    SharedTable shared;
    SteppedChild child([&] { tick(shared.table, 0x10003, 5); });
    unsigned done = 0;
    while (done < k && child.step()) ++done;
    tick(shared.table, 0x10003, 7);
    EXPECT_TRUE(child.finish());
    EXPECT_EQ(shared.tree(), 12u) << "after " << k << " instructions";
    EXPECT_EQ(shared.ledger().counted, 12u) << "after " << k << " instructions";
    return done == k;
  });
}

// The kills of every instruction: what is left can be counted on, and the tree still works.
TEST_F(Interleaving, KilledAtEveryInstruction) {
  for_every_instruction([](unsigned k) {
    SharedTable shared;
    unsigned done = 0;
    {
      SteppedChild child([&] { tick(shared.table, 0x10003, 5); });
      while (done < k && child.step()) ++done;
    }
    uint64_t left = shared.tree();
    EXPECT_LE(shared.ledger().counted, left);
    EXPECT_LE(left, shared.ledger().counted + 5);
    EXPECT_EQ(tick(shared.table, 0x10003, 7), TickOutcome::kCounted);
    EXPECT_EQ(shared.tree(), left + 7) << "after " << k << " instructions";
    return done == k;
  });
}

TEST_F(Interleaving, TwoTicksAtTheLimitOfACell) {
  struct Limit {
    WhenFull when_full;
    uint16_t preset, result;
    uint64_t counted;
    uint32_t stopped;
  };
  for (Limit limit :
       {Limit{WhenFull::kSaturate, 65532, 65535, 3, 0}, Limit{WhenFull::kWrap, 65532, 0, 4, 0},
        Limit{WhenFull::kStop, 32763, 32767, 4, 1}, Limit{WhenFull::kStopLate, 32763, 32767, 4, 0}})
    for_every_instruction([&](unsigned k) {
      SharedTable shared(limit.when_full);
      *shared.cell() = limit.preset;
      SteppedChild child([&] { tick(shared.table, 0x20000, 2); });
      unsigned done = 0;
      while (done < k && child.step()) ++done;
      tick(shared.table, 0x20000, 2);
      EXPECT_TRUE(child.finish());
      EXPECT_EQ(*shared.cell(), limit.result) << "after " << k << " instructions";
      EXPECT_EQ(shared.ledger().counted, limit.counted) << "after " << k << " instructions";
      EXPECT_EQ(shared.ledger().counted + shared.ledger().full, 4u) << "after " << k << " instructions";
      EXPECT_EQ(*shared.table.stopped, limit.stopped) << "after " << k << " instructions";
      return done == k;
    });
}

// Two ticks for one ring: both are in it, each whole; with one slot free exactly one is.
TEST_F(Interleaving, TwoTicksPutAside) {
  for (uint32_t taken : {0u, uint32_t{kRingSlots - 1}})
    for_every_instruction([&](unsigned k) {
      SharedTable shared;
      shared.with_ring();
      DeferredRing* ring = shared.table.deferred;
      ring->claimed = taken;
      SteppedChild child([&] { tick(shared.table, 0x900000, 5); });
      unsigned done = 0;
      while (done < k && child.step()) ++done;
      tick(shared.table, 0xa00000, 7);
      EXPECT_TRUE(child.finish());
      EXPECT_EQ(shared.ledger().deferred + shared.ledger().outside, 12u);
      uint64_t weights = 0, pcs = 0;
      for (uint32_t i = taken; i < ring->claimed; ++i) {
        const DeferredTick& slot = deferred_slots(ring)[i];
        EXPECT_EQ(slot.ready, deferred_stamp(i));
        EXPECT_EQ(slot.weight, slot.pc == 0x900000 ? 5u : 7u);
        weights += slot.weight;
        pcs += slot.pc;
      }
      EXPECT_EQ(weights, shared.ledger().deferred) << "after " << k << " instructions";
      EXPECT_EQ(ring->claimed, taken == 0 ? 2u : kRingSlots);
      if (taken == 0) {
        EXPECT_EQ(pcs, 0x900000u + 0xa00000u) << "after " << k << " instructions";
      }
      return done == k;
    });
}

using Taken = std::vector<std::pair<uint32_t, uint32_t>>;  ///< first unit, units

void expect_disjoint(Taken taken) {
  std::sort(taken.begin(), taken.end());
  for (size_t i = 0; i + 1 < taken.size(); ++i)
    EXPECT_LE(taken[i].first + taken[i].second, taken[i + 1].first);
}

/// The pool of the child's result and of three units below the limit, which can be raised.
struct TightPool {
  struct Shared {
    PoolHead head;
    uint32_t result;
  };
  SharedMemory memory{sizeof(Shared)};
  Pool pool;
  Taken taken;

  TightPool() {
    pool.head = &shared().head;
    shared().head = {1, 4};
  }
  [[nodiscard]] Shared& shared() const { return *reinterpret_cast<Shared*>(memory.data()); }
  void take(uint32_t units) {
    uint32_t first = pool_take(pool, units);
    if (first != 0) taken.emplace_back(first, units);
  }
  [[nodiscard]] bool sound() const { return shared().head.used <= shared().head.limit; }
};

/// A child takes two units; after k instructions one or two units go to somebody else, after l more the limit
/// rises and one goes to a third. False if the child was done before.
bool take_between(unsigned k, unsigned l, uint32_t first_taker) {
  TightPool tight;
  SteppedChild child([&] { tight.shared().result = pool_take(tight.pool, 2); });
  unsigned done = 0;
  while (done < k && child.step()) ++done;
  bool before_its_end = done == k;
  tight.take(first_taker);
  while (done < k + l && child.step()) ++done;
  EXPECT_TRUE(tight.sound()) << "`used` passed the limit, " << k << " and " << l << " instructions";
  tight.shared().head.limit += 16;
  tight.take(1);
  EXPECT_TRUE(child.finish());
  if (tight.shared().result != 0) tight.taken.emplace_back(tight.shared().result, 2);
  for (int i = 0; i < 4; ++i) tight.take(1);
  expect_disjoint(tight.taken);
  return before_its_end;
}

// A failure to take leaves no trace that another taker could mistake for free units. Every fourth second
// stop, another fourth for each first stop and first taker: all of them take 17 s.
TEST_F(Interleaving, NoUnitIsHandedOutTwice) {
  for (uint32_t first_taker : {1, 2, 3})
    for_every_instruction([&](unsigned k) {
      bool more = true;
      for (unsigned l = (k + first_taker) % 4; l < 40 && more && !HasFailure(); l += 4)
        more = take_between(k, l, first_taker);
      return more;
    });
}

/// What a publisher does, where it can be done without waiting; the table it replaced is
/// then another's memory.
void replace_and_reuse(PublishedTables* tables, const RegionTable& next, const RegionTable& reused) {
  uint32_t old = tables->current, spare = 1 - old;
  if (tables->in_flight[spare] != 0) return;
  tables->slots[spare] = next;
  (void)__atomic_exchange_n(&tables->current, spare, __ATOMIC_SEQ_CST);
  if (tables->in_flight[old] == 0) tables->slots[old] = reused;
}

TEST_F(Interleaving, NoTickUsesATableThatWasReplaced) {
  for (int replacements : {1, 2, 3})
    for_every_instruction([&](unsigned k) {
      SharedTable first, next, reused;
      SharedMemory memory(sizeof(PublishedTables));
      auto* tables = new (memory.data()) PublishedTables;
      tables->current = 0;
      tables->slots[0] = first.table;
      SteppedChild child([&] { tick_published(tables, 0x20000, 1); });
      unsigned done = 0;
      while (done < k && child.step()) ++done;
      for (int i = 0; i < replacements; ++i) replace_and_reuse(tables, next.table, reused.table);
      EXPECT_TRUE(child.finish());
      EXPECT_EQ(reused.ledger().samples, 0u) << "after " << k << " instructions";
      EXPECT_EQ(*first.cell() + *next.cell(), 1) << "after " << k << " instructions";
      EXPECT_EQ(tables->in_flight[0] + tables->in_flight[1], 0u);
      return done == k;
    });
}

}  // namespace
}  // namespace pctally
