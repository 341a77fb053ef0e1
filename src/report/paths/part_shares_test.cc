#include "report/paths/part_shares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "base/sanitizer.h"

namespace pctally {
namespace {

std::map<uint32_t, uint64_t> taken(PartShares& shares, uint64_t ticks) {
  std::map<uint32_t, uint64_t> result;
  for (const PartShares::Share& share : shares.take(ticks)) result[share.part] += share.ticks;
  return result;
}

using Shares = std::map<uint32_t, uint64_t>;

TEST(PartShares, GoByTheLargestRemainder) {
  PartShares shares({50, 0, 30, 20});
  EXPECT_EQ(taken(shares, 3), (Shares{{0, 1}, {2, 1}, {3, 1}})) << "of 1.5, 0.9 and 0.6";
  EXPECT_EQ(taken(shares, 1), (Shares{{0, 1}}));
  EXPECT_EQ(taken(shares, 1000), (Shares{{0, 48}, {2, 29}, {3, 19}})) << "what is left";
  EXPECT_EQ(taken(shares, 1), Shares{});
}

TEST(PartShares, OfHugeNumbersAreExact) {
  constexpr uint64_t kLarge = uint64_t{1} << 61;
  PartShares shares({kLarge, kLarge, kLarge});
  EXPECT_EQ(taken(shares, kLarge + 1),
            (Shares{{0, (kLarge + 1) / 3}, {1, (kLarge + 1) / 3}, {2, (kLarge + 1) / 3}}));
}

/// The sums of parts and of paths are exact, and the first path, which has most ticks, has its share to one
/// tick.
TEST(PartShares, AddUpBothWays) {
  std::mt19937 random(11);
  const auto below = [&](uint64_t end) { return random() % end; };
  for (int round = 0; round < 500; ++round) {
    std::vector<uint64_t> parts(1 + below(8));
    for (uint64_t& part : parts) part = below(40);
    uint64_t left = std::accumulate(parts.begin(), parts.end(), uint64_t{0});
    const auto all = static_cast<double>(left);
    PartShares shares(parts);
    std::vector<uint64_t> sums(parts.size());
    for (bool first = true; left != 0; first = false) {
      const uint64_t path = 1 + below(left);
      uint64_t sum = 0;
      for (const auto& [part, ticks] : taken(shares, path)) {
        const double exact = static_cast<double>(parts[part]) * static_cast<double>(path) / all;
        ASSERT_TRUE(!first || std::abs(static_cast<double>(ticks) - exact) < 1);
        sum += ticks;
        sums[part] += ticks;
      }
      ASSERT_EQ(sum, path);
      left -= path;
    }
    ASSERT_EQ(sums, parts);
  }
}

/// A file of another tool may have any number of paths and lines. Under the sanitizers each pair is looked
/// at: to stop doing so takes a minute.
TEST(PartShares, OfManyPathsAndPartsAddUpWithoutLookingAtEachPair) {
  constexpr uint64_t kMany = kSanitized ? 1000 : 300'000;
  PartShares shares(std::vector<uint64_t>(kMany, 2));
  std::vector<uint64_t> sums(kMany);
  for (uint64_t path = 0; path < kMany; ++path)
    for (const auto& [part, ticks] : taken(shares, 2)) sums[part] += ticks;
  EXPECT_EQ(sums, std::vector<uint64_t>(kMany, 2));
}

TEST(PartShares, OfFewTakesTheFirstThatAreLeft) {
  PartShares shares({3, 4, 5});
  EXPECT_EQ(taken(shares, 6).size(), 3u);
  const auto few = shares.take_of_few(2);
  ASSERT_FALSE(few.empty());
  EXPECT_EQ(few.front().part, 0u);
  uint64_t left = 0;
  for (const PartShares::Share& share : shares.take_of_few(100)) left += share.ticks;
  EXPECT_EQ(left, 4u);
  EXPECT_TRUE(shares.take(1).empty());
}

}  // namespace
}  // namespace pctally
