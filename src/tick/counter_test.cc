#include "tick/counter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace pctally {
namespace {

struct Added {
  uint64_t taken;
  uint64_t value;
  bool stop;
  bool operator==(const Added&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Added& added) {
  return out << "{taken " << added.taken << ", value " << added.value << ", stop " << added.stop << "}";
}

template <class Cell>
Added add(Cell start, uint64_t weight, WhenFull when_full) {
  Cell cells[3] = {Cell{7}, start, Cell{9}};
  CellEvent event;
  uint64_t taken = add_to_cell(&cells[1], weight, when_full, &event);
  EXPECT_EQ(cells[0], Cell{7}) << "neighbour below";
  EXPECT_EQ(cells[2], Cell{9}) << "neighbour above";
  return {taken, cells[1], event.stop};
}

#if defined(__x86_64__)
/// The shortest of some rounds, in wall time: a fine for a bus lock is a wait.
template <class Cell>
uint64_t shortest_round_ns(Cell* cell) {
  uint64_t shortest = ~uint64_t{0};
  for (int round = 0; round < 5; ++round) {
    auto before = std::chrono::steady_clock::now();
    CellEvent event;
    for (int i = 0; i < 100; ++i) add_to_cell(cell, 1, WhenFull::kWrap, &event);
    uint64_t ns = static_cast<uint64_t>((std::chrono::steady_clock::now() - before).count());
    shortest = std::min(shortest, ns);
  }
  return shortest;
}
#endif

template <class Cell>
class EachWidth : public testing::Test {};
using Widths = testing::Types<uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(EachWidth, Widths);

// A buffer may begin at any address.
TYPED_TEST(EachWidth, CountsAtAnyAddress) {
  for (size_t at = 0; at < 72; ++at) {
    alignas(64) unsigned char bytes[80] = {};
    auto* cell = reinterpret_cast<TypeParam*>(bytes + at);
    CellEvent event;
    uint64_t taken = add_to_cell(cell, 300, WhenFull::kSaturate, &event);
    taken += add_to_cell(cell, 300, WhenFull::kSaturate, &event);
    TypeParam value = 0;
    std::memcpy(&value, bytes + at, sizeof value);
#if defined(__x86_64__)
    bool counts = true;
#else
    bool counts = at % sizeof(TypeParam) == 0;
#endif
    EXPECT_EQ(event.fault, !counts) << at;
    EXPECT_EQ(value, counts ? 600 : 0) << at;
    EXPECT_EQ(taken, counts ? 600u : 0u) << at;
  }
}

#if defined(__x86_64__)
// A lock on two cache lines costs a thousand cycles, and on some systems 10 ms and more.
TYPED_TEST(EachWidth, NeverLocksTheBus) {
  alignas(64) unsigned char bytes[128] = {};
  uint64_t in_one = shortest_round_ns(reinterpret_cast<TypeParam*>(bytes));
  uint64_t in_two = shortest_round_ns(reinterpret_cast<TypeParam*>(bytes + 63));
  EXPECT_LT(in_two, 50 * in_one + 50000) << "ns for 100 ticks";
}
#endif

// HP-UX 16, 32 and 64 bits, AIX: three ticks at two below the limit.
TYPED_TEST(EachWidth, SaturatesAtItsLargestValue) {
  constexpr TypeParam kMost = std::numeric_limits<TypeParam>::max();
  TypeParam cell = kMost - 2;
  CellEvent event;
  EXPECT_EQ(add_to_cell(&cell, 1, WhenFull::kSaturate, &event), 1u);
  EXPECT_EQ(add_to_cell(&cell, 1, WhenFull::kSaturate, &event), 1u);
  EXPECT_EQ(add_to_cell(&cell, 1, WhenFull::kSaturate, &event), 0u);
  EXPECT_EQ(cell, kMost);
  EXPECT_FALSE(event.stop);
}

TYPED_TEST(EachWidth, SaturatingTakesWhatFitsOfAWeight) {
  constexpr TypeParam kMost = std::numeric_limits<TypeParam>::max();
  EXPECT_EQ(add<TypeParam>(kMost - 5, 5, WhenFull::kSaturate), (Added{5, kMost, false}));
  EXPECT_EQ(add<TypeParam>(kMost - 5, 6, WhenFull::kSaturate), (Added{5, kMost, false}));
  EXPECT_EQ(add<TypeParam>(kMost - 5, ~uint64_t{0}, WhenFull::kSaturate), (Added{5, kMost, false}));
  EXPECT_EQ(add<TypeParam>(0, kMost, WhenFull::kSaturate), (Added{kMost, kMost, false}));
  EXPECT_EQ(add<TypeParam>(kMost, 1, WhenFull::kSaturate), (Added{0, kMost, false}));
}

TYPED_TEST(EachWidth, WrapsModuloItsWidth) {
  constexpr TypeParam kMost = std::numeric_limits<TypeParam>::max();
  EXPECT_EQ(add<TypeParam>(kMost, 1, WhenFull::kWrap), (Added{1, 0, false}));
  EXPECT_EQ(add<TypeParam>(kMost - 1, 4, WhenFull::kWrap), (Added{4, 2, false}));
  EXPECT_EQ(add<TypeParam>(3, 0x100000000, WhenFull::kWrap),
            (Added{0x100000000, static_cast<TypeParam>(0x100000003), false}));
}

// SVR4's page: "Once one of the counts reaches 32767 ..., profiling stops".
TYPED_TEST(EachWidth, StopsWhenItReaches32767) {
  EXPECT_EQ(add<TypeParam>(32765, 1, WhenFull::kStop), (Added{1, 32766, false}));
  EXPECT_EQ(add<TypeParam>(32766, 1, WhenFull::kStop), (Added{1, 32767, true}));
  EXPECT_EQ(add<TypeParam>(32767, 1, WhenFull::kStop), (Added{0, 32767, true}));
  EXPECT_EQ(add<TypeParam>(40000, 1, WhenFull::kStop), (Added{0, 40000, true}));
  EXPECT_EQ(add<TypeParam>(32760, 10, WhenFull::kStop), (Added{7, 32767, true}));
}

// illumos: the next tick of that count stops it.
TYPED_TEST(EachWidth, StopsLateAtTheTickThatFinds32767) {
  EXPECT_EQ(add<TypeParam>(32766, 1, WhenFull::kStopLate), (Added{1, 32767, false}));
  EXPECT_EQ(add<TypeParam>(32767, 1, WhenFull::kStopLate), (Added{0, 32767, true}));
  EXPECT_EQ(add<TypeParam>(32760, 7, WhenFull::kStopLate), (Added{7, 32767, false}));
  EXPECT_EQ(add<TypeParam>(32760, 8, WhenFull::kStopLate), (Added{7, 32767, true}));
}

/// The same rules by counting one tick at a time.
template <class Cell>
Added count_up(Cell start, uint64_t weight, WhenFull when_full) {
  Added added{0, start, false};
  Cell value = start;
  bool stops = when_full == WhenFull::kStop || when_full == WhenFull::kStopLate;
  for (uint64_t i = 0; i < weight && !added.stop; ++i) {
    if (when_full == WhenFull::kSaturate && value == std::numeric_limits<Cell>::max()) break;
    added.stop = stops && value >= 32767;
    if (added.stop) break;
    ++value;
    ++added.taken;
    added.stop = when_full == WhenFull::kStop && value == 32767;
  }
  added.value = value;
  return added;
}

TYPED_TEST(EachWidth, AgreesWithCountingOneByOne) {
  constexpr TypeParam kMost = std::numeric_limits<TypeParam>::max();
  std::vector<TypeParam> starts;
  for (int near = -3; near <= 3; ++near)
    for (TypeParam limit : {TypeParam{0}, TypeParam{32767}, TypeParam{40000}, kMost})
      starts.push_back(static_cast<TypeParam>(limit + static_cast<TypeParam>(near)));
  for (TypeParam start : starts)
    for (WhenFull when_full : {WhenFull::kSaturate, WhenFull::kWrap, WhenFull::kStop, WhenFull::kStopLate})
      for (uint64_t weight :
           {1, 2, 3, 4, 5, 6, 7, 100, 25535, 25536, 32766, 32767, 32768, 32769, 65535, 65536, 65537})
        EXPECT_EQ(add(start, weight, when_full), count_up(start, weight, when_full))
            << "start " << start << " weight " << weight << " rule " << int(when_full);
}

}  // namespace
}  // namespace pctally
