#include "tick/deferred.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tick/tick.h"

namespace pctally {
namespace {

/// A ring and the one reader that the protocol allows.
class Ring {
 public:
  explicit Ring(uint64_t slots, uint32_t laps_behind = 0) : memory_(1 + slots) {
    ring()->slots = slots;
    ring()->claimed = ring()->drained = laps_behind;
  }

  DeferredRing* ring() { return reinterpret_cast<DeferredRing*>(memory_.data()); }
  bool defer(uint64_t pc, uint64_t weight = 1, uint32_t process = 0) {
    return defer_tick(ring(), ring()->slots, pc, weight, process, &booked_);
  }

  /// The oldest tick, if it is there and finished.
  bool take(DeferredTick* tick) {
    uint32_t drained = ring()->drained;
    if (drained == __atomic_load_n(&ring()->claimed, __ATOMIC_ACQUIRE)) return false;
    DeferredTick* slot = deferred_slots(ring()) + (drained & (ring()->slots - 1));
    if (__atomic_load_n(&slot->ready, __ATOMIC_ACQUIRE) != deferred_stamp(drained)) return false;
    *tick = *slot;
    __atomic_store_n(&ring()->drained, drained + 1, __ATOMIC_RELEASE);
    return true;
  }

  [[nodiscard]] uint64_t booked() const { return booked_; }

 private:
  static_assert(sizeof(DeferredRing) == sizeof(DeferredTick), "the ring's fields fill one element");
  std::vector<DeferredTick> memory_;
  uint64_t booked_ = 0;
};

TEST(DeferredRing, HoldsItsCapacityAndNoMore) {
  Ring ring(8);
  for (uint64_t i = 0; i < 8; ++i) EXPECT_TRUE(ring.defer(i, 2));
  EXPECT_FALSE(ring.defer(8));
  EXPECT_EQ(ring.booked(), 16u) << "a refused tick is not booked";
  DeferredTick tick;
  ASSERT_TRUE(ring.take(&tick));
  EXPECT_EQ(tick.pc, 0u);
  EXPECT_TRUE(ring.defer(9));
  EXPECT_FALSE(ring.defer(10));
}

TEST(DeferredRing, KeepsWhatItWasGivenLapAfterLap) {
  Ring ring(4);
  for (uint64_t i = 0; i < 1000; ++i) {
    for (uint64_t n = 0; n <= i % 4; ++n)
      ASSERT_TRUE(ring.defer(~(i * 4 + n), i + 1, static_cast<uint32_t>(n)));
    DeferredTick tick;
    for (uint64_t n = 0; n <= i % 4; ++n) {
      ASSERT_TRUE(ring.take(&tick));
      ASSERT_EQ(tick.pc, ~(i * 4 + n));
      ASSERT_EQ(tick.weight, i + 1);
      ASSERT_EQ(tick.process, n);
    }
    ASSERT_FALSE(ring.take(&tick));
  }
}

TEST(DeferredRing, TurnsOverWithItsCounters) {
  Ring ring(4, ~uint32_t{0} - 1);
  DeferredTick tick;
  for (uint64_t i = 0; i < 4; ++i) EXPECT_TRUE(ring.defer(i));
  EXPECT_FALSE(ring.defer(4));
  for (uint64_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(ring.take(&tick));
    EXPECT_EQ(tick.pc, i);
  }
}

// The capacity is the writer's own copy: what another process writes into the ring's fields moves no store.
TEST(DeferredRing, DamagedFieldsAreRefusedOrHarmless) {
  Ring ring(8);
  uint64_t booked = 0;
  ring.ring()->drained = 5;  // more released than claimed
  EXPECT_FALSE(defer_tick(ring.ring(), 8, 1, 1, 0, &booked));
  ring.ring()->claimed = ring.ring()->drained = 0x9abcdef3;
  ring.ring()->slots = ~uint64_t{0};
  EXPECT_TRUE(defer_tick(ring.ring(), 8, 1, 1, 0, &booked));
  EXPECT_EQ(deferred_slots(ring.ring())[3].pc, 1u);
}

// Four writers that try again when refused, one reader: every tick once, and each writer's in its order.
TEST(DeferredRing, NothingIsLostOrDoubledBetweenThreads) {
  constexpr uint64_t kWriters = 4, kTicks = 100'000;
  Ring ring(64);
  std::vector<std::thread> writers;
  for (uint64_t writer = 0; writer < kWriters; ++writer)
    writers.emplace_back([&ring, writer] {
      uint64_t booked = 0;
      for (uint64_t i = 0; i < kTicks; ++i)
        while (!defer_tick(ring.ring(), 64, writer << 32 | i, i * 3 + writer, static_cast<uint32_t>(writer),
                           &booked))
          std::this_thread::yield();
    });
  std::vector<uint64_t> next(kWriters);
  uint64_t wrong = 0;
  DeferredTick tick;
  for (uint64_t taken = 0; taken < kWriters * kTicks;) {
    if (!ring.take(&tick)) {
      std::this_thread::yield();
      continue;
    }
    ++taken;
    uint64_t writer = tick.pc >> 32, i = tick.pc & 0xffffffff;
    if (writer >= kWriters || i != next[writer] || tick.weight != i * 3 + writer || tick.process != writer) {
      ++wrong;
      continue;
    }
    ++next[writer];
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_FALSE(ring.take(&tick));
}

// Whoever resolves a tick finds it booked already: outside = outside + deferred - resolved never
// runs below zero.
TEST(DeferredRing, ATickIsBookedBeforeItCanBeResolved) {
  Ring ring(64);
  Ledger ledger{};
  RegionTable table{};
  table.ledger = &ledger;
  table.deferred = ring.ring();
  table.deferred_capacity = 64;
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i)
    writers.emplace_back([&table] {
      for (uint64_t n = 0; n < 100'000; ++n) tick(table, n, 3);
    });
  bool ever_less = false;
  DeferredTick taken;
  auto resolve_all = [&] {
    while (ring.take(&taken)) {
      resolve(table, taken.pc, taken.weight);
      ever_less |= load_relaxed(&ledger.deferred) < ledger.resolved;
    }
  };
  while (load_relaxed(&ledger.samples) < 400'000) resolve_all();
  for (std::thread& writer : writers) writer.join();
  resolve_all();
  EXPECT_FALSE(ever_less);
  EXPECT_EQ(ledger.deferred, ledger.resolved);
  EXPECT_EQ(ledger.outside, 3u * 400'000);
}

}  // namespace
}  // namespace pctally
