#include "object/elf/cover.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace pctally {
namespace {

bool latest(const Cover::Candidate& a, const Cover::Candidate& b) { return a.id > b.id; }

struct Expected {
  uint64_t winner = UINT64_MAX;
  AddressRange cell{0, UINT64_MAX};
};

/// Looks at every range for one position.
Expected naive(const std::vector<Cover::Candidate>& ranges, uint64_t position) {
  Expected expected;
  for (const auto& range : ranges) {
    for (uint64_t edge : {range.start, range.end}) {
      if (edge <= position) expected.cell.start = std::max(expected.cell.start, edge);
      if (edge > position) expected.cell.end = std::min(expected.cell.end, edge);
    }
    if (range.start <= position && position < range.end) expected.winner = range.id;
  }
  return expected;
}

TEST(Cover, AgreesWithLookingAtEveryRange) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; round++) {
    std::vector<uint64_t> positions(random() % 12);
    for (uint64_t& position : positions) position = random() % 40;
    std::ranges::sort(positions);
    Cover cover(positions);
    std::vector<Cover::Candidate> ranges;
    for (uint64_t id = 0; id < random() % 10; id++) {
      const uint64_t start = random() % 40;
      const uint64_t end = start + 1 + random() % 12;
      ranges.push_back({start, end, id});
      cover.add(start, end, id);
    }
    cover.resolve(latest);
    for (size_t i = 0; i < positions.size(); i++) {
      const Expected expected = naive(ranges, positions[i]);
      EXPECT_EQ(cover.winner(i) == nullptr ? UINT64_MAX : cover.winner(i)->id, expected.winner);
      EXPECT_EQ(cover.cell(i), expected.cell) << "position " << positions[i] << " in round " << round;
    }
  }
}

TEST(Cover, RefusesEmptyAndBackwardRanges) {
  const std::vector<uint64_t> positions{5};
  Cover cover(positions);
  cover.add(5, 5, 1);
  cover.add(9, 2, 2);
  cover.resolve(latest);
  EXPECT_EQ(cover.winner(0), nullptr);
  EXPECT_EQ(cover.cell(0), (AddressRange{0, UINT64_MAX}));
}

TEST(Cover, IsQuickWhenEveryRangeHoldsEveryPosition) {
  std::vector<uint64_t> positions(20000);
  for (size_t i = 0; i < positions.size(); i++) positions[i] = 1000 + i;
  Cover cover(positions);
  for (uint64_t id = 0; id < 200000; id++) cover.add(0, 1 << 20, id);
  cover.resolve(latest);  // four thousand million steps if done one by one
  EXPECT_EQ(cover.winner(19999)->id, 199999u);
}

}  // namespace
}  // namespace pctally
