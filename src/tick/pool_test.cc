#include "tick/pool.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "tick/guarded_pool_for_test.h"

namespace pctally {
namespace {

using Taken = std::vector<std::pair<uint32_t, uint32_t>>;  ///< first unit, units

TEST(Pool, HandsOutEveryUnitButTheFirstOnce) {
  GuardedPool pool(1);
  for (uint32_t unit = 1; unit < pool.limit(); ++unit) EXPECT_EQ(pool_take(pool.pool(), 1), unit);
  EXPECT_EQ(pool_take(pool.pool(), 1), 0u);
  EXPECT_EQ(pool.used(), pool.limit());
}

TEST(Pool, WhatDoesNotFitLeavesTheRestToOthers) {
  GuardedPool pool(1);
  uint32_t free = pool.limit() - pool.used();
  EXPECT_EQ(pool_take(pool.pool(), free + 1), 0u);
  EXPECT_EQ(pool_take(pool.pool(), ~0u), 0u);
  EXPECT_EQ(pool_take(pool.pool(), free), 1u);
  EXPECT_EQ(pool_take(pool.pool(), 1), 0u);
}

TEST(Pool, GoesOnWhenTheLimitIsRaised) {
  GuardedPool pool(1);
  uint32_t old_limit = pool.limit();
  while (pool_take(pool.pool(), 1) != 0) continue;
  pool.grow(1);
  EXPECT_EQ(pool_take(pool.pool(), 2), old_limit);
}

TEST(Pool, HoldsWhatLiesBelowTheLimit) {
  GuardedPool pool(1);
  uint32_t limit = pool.limit();
  EXPECT_FALSE(pool_holds(pool.pool(), 0, 1));
  EXPECT_TRUE(pool_holds(pool.pool(), 1, limit - 1));
  EXPECT_FALSE(pool_holds(pool.pool(), 1, limit));
  EXPECT_TRUE(pool_holds(pool.pool(), limit - 1, 1));
  EXPECT_FALSE(pool_holds(pool.pool(), limit - 1, 2));
  EXPECT_FALSE(pool_holds(pool.pool(), limit, 0));
  EXPECT_FALSE(pool_holds(pool.pool(), ~0u, 2)) << "first + units wraps";
}

// A process with rationed address space has mapped less than there is.
TEST(Pool, NothingBeyondWhatThisProcessMapped) {
  GuardedPool pool(2);
  Pool rationed = pool.pool();
  rationed.mapped = 10;
  EXPECT_FALSE(pool_holds(rationed, 9, 2));
  EXPECT_EQ(pool_take(rationed, 9), 1u);
  EXPECT_EQ(pool_take(rationed, 1), 0u);
  EXPECT_EQ(pool_take(pool.pool(), 1), 10u) << "the others go on";
}

/// Takes 1, 2 or 30 units, over and over, until stopped.
void take_until(const Pool& pool, const std::atomic<bool>& stop, uint32_t seed, Taken* taken) {
  constexpr uint32_t kSizes[] = {1, 2, 1, 30, 2, 1};
  for (uint32_t i = seed; !stop.load(std::memory_order_relaxed); ++i) {
    uint32_t units = kSizes[i % 6];
    uint32_t first = pool_take(pool, units);
    if (first != 0) taken->emplace_back(first, units);
  }
}

bool disjoint(Taken& taken) {
  std::sort(taken.begin(), taken.end());
  for (size_t i = 0; i + 1 < taken.size(); ++i)
    if (taken[i].first + taken[i].second > taken[i + 1].first) return false;
  return true;
}

// Takers that fail at the limit while others succeed and the limit rises: a failure must leave no trace that
// another taker could mistake for free units. Not statistical: a right pool never fails it.
TEST(Pool, NoUnitIsHandedOutTwiceWhileTheLimitRises) {
  constexpr uint32_t kUnits = 100'000;
  PoolHead head{1, 2};
  Pool pool;
  pool.head = &head;
  std::atomic<bool> stop{false};
  std::vector<Taken> taken(4);
  std::vector<std::thread> takers;
  for (uint32_t i = 0; i < 4; ++i) takers.emplace_back(take_until, pool, std::ref(stop), i, &taken[i]);
  uint32_t before = 0;
  bool grows = true, within = true;
  while (head.limit < kUnits) {
    uint32_t used = __atomic_load_n(&head.used, __ATOMIC_RELAXED);
    grows &= used >= before;
    within &= used <= head.limit;
    before = used;
    if (used + 8 >= head.limit) __atomic_store_n(&head.limit, head.limit + 7, __ATOMIC_RELEASE);
  }
  stop = true;
  for (std::thread& taker : takers) taker.join();

  Taken all;
  for (const Taken& part : taken) all.insert(all.end(), part.begin(), part.end());
  EXPECT_TRUE(disjoint(all));
  EXPECT_TRUE(grows) << "`used` went back";
  EXPECT_TRUE(within) << "`used` passed the limit";
  EXPECT_LE(all.back().first + all.back().second, head.limit);
}

}  // namespace
}  // namespace pctally
