// find_region against a scan of the whole list, for random tables of every shape.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/oracle/index_sweep.h"
#include "tick/region.h"

namespace pctally {
namespace {

using naive::kTop;
using naive::Random;

/// Of the regions that hold the pc, the one with the largest low; of several such, the last in the list.
const Region* scan(const std::vector<Region>& regions, uint64_t pc, uint64_t* index) {
  const Region* best = nullptr;
  for (const Region& region : regions) {
    uint64_t found = 0;
    if (pc < region.low || pc > region.last || !naive::counts(region.rule, pc, &found)) continue;
    if (best != nullptr && region.low < best->low) continue;
    best = &region;
    *index = found;
  }
  return best;
}

/// A region somewhere in [base, base + size), which may be empty, at the very top, or not start at
/// its rule's origin.
Region random_region(Random& random, uint64_t base, uint64_t size) {
  Region region{};
  region.low = base + random.below(size);
  uint64_t room = base + (size - 1) - region.low;
  region.last = region.low + std::min(room, random.magnitude(8));
  BinRule& rule = region.rule;
  rule.origin = region.low - std::min(region.low, random.below(4) == 0 ? random.below(20) : 0);
  if (random.below(8) == 0 && rule.origin < kTop - 16) rule.origin += random.below(16);
  rule.cells = random.below(16) == 0 ? 0 : 1 + random.magnitude(8);
  rule.family = static_cast<uint8_t>(random.below(4));
  rule.cell_shift = static_cast<uint8_t>(1 + random.below(3));
  rule.shift = static_cast<uint8_t>(random.below(4));
  rule.scale = random.below(2) == 0 ? 0x10000 : static_cast<uint32_t>(random.below(0x20002));
  if (random.below(8) == 0) rule.flags = static_cast<uint8_t>(1 + random.below(3));
  if (random.below(16) == 0 && region.low > 0) region.last = region.low - 1;
  return region;
}

std::vector<Region> random_regions(Random& random, uint64_t base, uint64_t size) {
  std::vector<Region> regions;
  for (uint64_t count = random.below(64) + 1; count > 0; --count)
    regions.push_back(random_region(random, base, size));
  std::stable_sort(regions.begin(), regions.end(),
                   [](const Region& a, const Region& b) { return a.low < b.low; });
  if (random.below(2) == 0)  // without overlaps, so that neighbours often touch
    for (size_t i = 0; i + 1 < regions.size(); ++i)
      if (regions[i + 1].low > 0) regions[i].last = std::min(regions[i].last, regions[i + 1].low - 1);
  return regions;
}

RegionTable table_of(std::vector<Region>& regions) {
  RegionTable table{};
  table.regions = regions.data();
  table.count = static_cast<uint32_t>(regions.size());
  return table;
}

void expect_same(const RegionTable& table, const std::vector<Region>& regions, uint64_t pc) {
  uint64_t expected_index = 0, index = 0;
  const Region* expected = scan(regions, pc, &expected_index);
  const Region* found = find_region(table, pc, &index);
  ASSERT_EQ(found, expected) << "pc " << pc;
  if (expected != nullptr) {
    ASSERT_EQ(index, expected_index) << "pc " << pc;
  }
}

TEST(RegionOracle, RandomTables) {
  Random random(4);
  for (int round = 0; round < 30000; ++round) {
    uint64_t size = 8 + random.magnitude(9);
    uint64_t bases[] = {0, 0x400000, kTop - (size - 1), kTop - (size + 3)};
    uint64_t base = bases[random.below(4)];
    std::vector<Region> regions = random_regions(random, base, size);
    ASSERT_TRUE(seal_regions(regions.data(), static_cast<uint32_t>(regions.size())));
    RegionTable table = table_of(regions);
    for (uint64_t offset = 0; offset < size; ++offset)
      ASSERT_NO_FATAL_FAILURE(expect_same(table, regions, base + offset));
    for (uint64_t pc : {uint64_t{0}, uint64_t{1}, base - 1, base + size, kTop - 1, kTop})
      ASSERT_NO_FATAL_FAILURE(expect_same(table, regions, pc));
  }
}

TEST(RegionOracle, EmptyTable) {
  std::vector<Region> regions;
  uint64_t index = 0;
  for (uint64_t pc : {uint64_t{0}, kTop}) EXPECT_EQ(find_region(table_of(regions), pc, &index), nullptr);
}

TEST(RegionOracle, UnsortedRegionsAreRefused) {
  Region regions[3] = {};
  regions[0].low = 1;
  regions[1].low = 1;
  regions[2].low = 2;
  EXPECT_TRUE(seal_regions(regions, 3));
  regions[2].low = 0;
  EXPECT_FALSE(seal_regions(regions, 3));
}

// One wide region below many small ones: `reach` may end the search only where nothing can follow.
TEST(RegionOracle, WideRegionFarBelow) {
  std::vector<Region> regions(64);
  for (uint64_t i = 0; i < 64; ++i) {
    regions[i].low = regions[i].rule.origin = i * 16;
    regions[i].last = i == 0 ? 2000 : i * 16 + 3;
    regions[i].rule.cells = 4096;
    regions[i].rule.family = PCTALLY_BIN_SHIFT;
  }
  ASSERT_TRUE(seal_regions(regions.data(), 64));
  for (uint64_t pc = 0; pc < 2100; ++pc) ASSERT_NO_FATAL_FAILURE(expect_same(table_of(regions), regions, pc));
}

}  // namespace
}  // namespace pctally
