#include "names/overlay.h"

#include <gtest/gtest.h>

#include <random>

namespace pctally {
namespace {

using Pieces = std::vector<Piece<int>>;

/// The greatest value that holds a position, or -1.
int greatest_at(const Pieces& pieces, uint64_t position) {
  int greatest = -1;
  for (const Piece<int>& piece : pieces)
    if (piece.first <= position && position < piece.end) greatest = std::max(greatest, piece.value);
  return greatest;
}

TEST(Overlay, HasTheGreatestOfWhatLiesAtEachPosition) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    Pieces pieces;
    for (int i = 0; i < round % 20; ++i) {
      const uint64_t first = random() % 40;
      pieces.push_back({first, first + random() % 20 - std::min<uint64_t>(first, 2), int(random() % 9)});
    }
    const Pieces flat = overlay(pieces, std::less());
    for (size_t i = 1; i < flat.size(); ++i) ASSERT_LE(flat[i - 1].end, flat[i].first);
    for (uint64_t position = 0; position < 70; ++position) {
      const Piece<int>* found = piece_at(std::span<const Piece<int>>(flat), position);
      ASSERT_EQ(found == nullptr ? -1 : found->value, greatest_at(pieces, position)) << round << position;
    }
  }
}

TEST(Overlay, ComparesAsManyAsItMust) {
  size_t comparisons = 0;
  const auto counted = [&comparisons](int a, int b) { return ++comparisons, a < b; };
  constexpr int kMany = 1 << 12;
  Pieces apart, nested;
  for (int i = 0; i < kMany; ++i) {
    apart.push_back({uint64_t(i), uint64_t(i + 1), i});
    nested.push_back({uint64_t(i), uint64_t(2 * kMany - i), i});
  }
  EXPECT_EQ(overlay(apart, counted).size(), size_t{kMany});
  EXPECT_EQ(comparisons, 0u) << "nothing overlaps";
  EXPECT_EQ(overlay(nested, counted).size(), size_t{2 * kMany - 1});
  EXPECT_LT(comparisons, size_t{kMany} * 32);
}

}  // namespace
}  // namespace pctally
