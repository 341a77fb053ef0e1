#include "object/dwarf/interval_map.h"

#include <gtest/gtest.h>

#include <random>

namespace pctally {
namespace {

struct Given {
  AddressRange range;
  uint32_t id;
};

/// Innermost: starts last, then shortest, then added last.
std::optional<uint32_t> naive(const std::vector<Given>& given, uint64_t address) {
  const Given* best = nullptr;
  for (const Given& one : given) {
    if (!one.range.contains(address)) continue;
    const bool inner = best == nullptr || one.range.start > best->range.start ||
                       (one.range.start == best->range.start && one.range.end <= best->range.end);
    if (inner) best = &one;
  }
  return best == nullptr ? std::nullopt : std::optional(best->id);
}

TEST(IntervalMap, AgreesWithLookingAtEveryInterval) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; round++) {
    IntervalMap map;
    std::vector<Given> given;
    for (uint32_t id = 0; id < random() % 12; id++) {
      const uint64_t start = random() % 30;
      given.push_back({{start, start + 1 + random() % 15}, id});
      map.add(given.back().range, id);
    }
    map.flatten();
    for (uint64_t address = 0; address < 50; address++) {
      EXPECT_EQ(map.find(address), naive(given, address)) << "address " << address << " in round " << round;
    }
  }
}

TEST(IntervalMap, EmptyFindsNothing) {
  IntervalMap map;
  map.add({5, 5}, 1);
  map.add({9, 2}, 2);
  map.flatten();
  EXPECT_FALSE(map.find(5));
}

}  // namespace
}  // namespace pctally
