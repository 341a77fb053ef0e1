#include "tick/cell_tree.h"

#include <atomic>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "tick/guarded_pool_for_test.h"

namespace pctally {
namespace {

constexpr uint64_t kTextBytes = (64 << 10) + 17;

using Counts = std::map<uint64_t, uint64_t>;

void expect_cells(const GuardedPool& pool, uint32_t directory, const Counts& expected) {
  uint64_t total = 0;
  for (const auto& [index, count] : expected) {
    ASSERT_EQ(*tree_cell(pool.pool(), directory, index), count) << "byte " << index;
    total += count;
  }
  EXPECT_EQ(pool.sum(directory, kTextBytes), total);
}

TEST(CellTree, DirectoryUnits) {
  EXPECT_EQ(directory_units(0), 0u);
  EXPECT_EQ(directory_units(1), 1u);
  EXPECT_EQ(directory_units(16 * 256), 1u);
  EXPECT_EQ(directory_units(16 * 256 + 1), 2u);
  EXPECT_EQ(directory_units(uint64_t{1} << 40), uint64_t{1} << 28);
}

TEST(CellTree, AgreesWithAMap) {
  GuardedPool pool(600, 600);
  uint32_t other = pool.directory(kTextBytes), directory = pool.directory(kTextBytes);
  std::mt19937_64 random(1);
  Counts expected;
  for (int i = 0; i < 200'000; ++i) {
    uint64_t index = i < 100'000 ? random() % 4096 : random() % kTextBytes, weight = random() % 9;
    uint64_t* cell = tree_cell(pool.pool(), directory, index);
    ASSERT_NE(cell, nullptr);
    *cell += weight;
    expected[index] += weight;
  }
  expect_cells(pool, directory, expected);
  EXPECT_EQ(pool.sum(other, kTextBytes), 0u) << "a neighbour's directory";
}

TEST(CellTree, EveryByteHasItsOwnCell) {
  GuardedPool pool(600, 600);
  uint32_t directory = pool.directory(kTextBytes);
  Counts expected;
  for (uint64_t index = 0; index < kTextBytes; ++index)
    expected[index] = *tree_cell(pool.pool(), directory, index) = index + 1;
  expect_cells(pool, directory, expected);
}

// Space follows the hot text: one block per 256 bytes, one leaf per 16.
TEST(CellTree, TakesWhatIsHot) {
  GuardedPool pool(1);
  uint32_t directory = pool.directory(kTextBytes), before = pool.used();
  for (uint64_t index = 0x1000; index < 0x1010; ++index) tree_cell(pool.pool(), directory, index);
  EXPECT_EQ(pool.used() - before, kBlockUnits + kLeafUnits);
  tree_cell(pool.pool(), directory, 0x1010);
  EXPECT_EQ(pool.used() - before, kBlockUnits + 2 * kLeafUnits);
}

// Behind the limit lies memory that cannot be touched.
TEST(CellTree, RefusesWhenThePoolIsUsedUpAndGoesOnWhenItIsRaised) {
  GuardedPool pool(3);
  uint32_t directory = pool.directory(kTextBytes);
  std::mt19937_64 random(2);
  Counts expected;
  for (int refused = 0; refused < 2000;) {
    uint64_t index = random() % kTextBytes;
    uint64_t* cell = tree_cell(pool.pool(), directory, index);
    if (cell == nullptr) {
      ++refused;
      continue;
    }
    ++*cell;
    ++expected[index];
  }
  EXPECT_GE(pool.used() + kLeafUnits, pool.limit()) << "used up but for less than a leaf";
  expect_cells(pool, directory, expected);

  pool.grow(600);
  for (int i = 0; i < 2000; ++i) {
    uint64_t index = random() % kTextBytes;
    uint64_t* cell = tree_cell(pool.pool(), directory, index);
    ASSERT_NE(cell, nullptr);
    ++*cell;
    ++expected[index];
  }
  expect_cells(pool, directory, expected);
}

TEST(CellTree, NoDirectoryHasNoCells) {
  GuardedPool pool(1);
  EXPECT_EQ(tree_cell(pool.pool(), 0, 0), nullptr);
  EXPECT_EQ(tree_cell(pool.pool(), 0, 256 * 17), nullptr);
  EXPECT_EQ(pool.used(), 1u);
}

// Another process made the directory in a part of the file that this one could not map, or the
// record is damaged.
TEST(CellTree, RefusesADirectoryThatCannotBeTouched) {
  GuardedPool pool(1);
  uint32_t limit = pool.limit();
  EXPECT_EQ(tree_cell(pool.pool(), limit, 0), nullptr);
  EXPECT_EQ(tree_cell(pool.pool(), limit - 1, 16 * 256), nullptr) << "the slot lies one unit too far";
  EXPECT_EQ(tree_cell(pool.pool(), ~0u, 16 * 256), nullptr) << "unit number wraps";
  EXPECT_EQ(tree_cell(pool.pool(), 1, uint64_t{1} << 44), nullptr) << "unit number wraps";
  EXPECT_EQ(tree_cell(pool.pool(), 1, ~uint64_t{0}), nullptr);
  EXPECT_NE(tree_cell(pool.pool(), limit - 8, 0), nullptr);
}

TEST(CellTree, RefusesDamagedSlots) {
  GuardedPool pool(1);
  uint32_t directory = pool.directory(kTextBytes), limit = pool.limit();
  auto* slot = pool_at<uint32_t>(pool.pool(), directory);
  for (uint32_t damaged : {limit, limit + 1, 0x80000000u, ~0u}) {
    slot[0] = damaged;
    EXPECT_EQ(tree_cell(pool.pool(), directory, 0), nullptr);
    EXPECT_EQ(slot[0], damaged) << "left for the reader to report";
  }
  slot[0] = 0;
  ASSERT_NE(tree_cell(pool.pool(), directory, 0), nullptr);
  auto* line = pool_at<uint32_t>(pool.pool(), slot[0]);
  line[0] = limit - 1;
  EXPECT_EQ(tree_cell(pool.pool(), directory, 3), nullptr) << "half of the leaf lies beyond the limit";
}

void hit(const Pool& pool, uint32_t directory, uint64_t seed, std::atomic<bool>* go) {
  std::mt19937_64 random(seed);
  while (!go->load()) continue;
  for (int i = 0; i < 5000; ++i) add_relaxed(tree_cell(pool, directory, random() % kTextBytes), 1);
}

// Threads that race for the same blocks and leaves, in many fresh pools, as the races are at the beginning.
TEST(CellTree, FourThreadsCountExactly) {
#ifdef PCTALLY_SANITIZED
  constexpr uint64_t kRounds = 20;
#else
  constexpr uint64_t kRounds = 100;
#endif
  for (uint64_t round = 0; round < kRounds; ++round) {
    GuardedPool pool(600, 600);
    uint32_t directory = pool.directory(kTextBytes);
    std::atomic<bool> go{false};
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < 4; ++i)  // two pairs with the same sequence, so that they keep meeting
      threads.emplace_back(hit, pool.pool(), directory, round * 2 + i / 2, &go);
    go = true;
    for (std::thread& thread : threads) thread.join();
    Counts expected;
    for (uint64_t i = 0; i < 4; ++i) {
      std::mt19937_64 random(round * 2 + i / 2);
      for (int n = 0; n < 5000; ++n) ++expected[random() % kTextBytes];
    }
    ASSERT_NO_FATAL_FAILURE(expect_cells(pool, directory, expected));
  }
}

}  // namespace
}  // namespace pctally
