#include "base/kernel/period.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pctally {
namespace {

TEST(Period, DrawnPeriodsLieWithinTheStatedSpread) {
  Random random(1);
  for (uint64_t asked : {10000000u, 1000000u, 250000u, 100000u}) {
    for (int i = 0; i < 300; ++i) {
      auto drawn = static_cast<double>(draw_period(asked, &random));
      EXPECT_LE(std::abs(drawn / static_cast<double>(asked) - 1), kPeriodSpread + 1e-6);
    }
  }
}

TEST(Period, DrawnPeriodsWalkOverCommonCycles) {
  Random random(2);
  for (int i = 0; i < 300; ++i) {
    uint64_t drawn = draw_period(1000000, &random);
    for (uint64_t cycle : {1000000u, 2000000u, 4000000u, 5000000u, 10000000u})
      EXPECT_TRUE(walks_over(drawn, cycle)) << drawn;
  }
}

TEST(Period, APeriodInStepDoesNotWalk) {
  EXPECT_FALSE(walks_over(1000000, 1000000));
  EXPECT_FALSE(walks_over(1000000, 4000000));
  EXPECT_FALSE(walks_over(1000100, 1000000));
  EXPECT_FALSE(walks_over(992186, 1000000)) << "nearly in step: see walks_over()";
  EXPECT_TRUE(walks_over(1030900, 1000000));
}

TEST(Period, WalksOverAsItsDefinitionSays) {
  Random random(7);
  unsigned walking = 0;
  for (int i = 0; i < 400; ++i) {
    uint64_t period = 1 + random.below(3000000), cycle = 1 + random.below(i % 2 == 0 ? 200 : 3000000);
    uint64_t fine = 0, coarse = 0;
    for (uint64_t tick = 0; tick < 256; ++tick) fine |= uint64_t{1} << tick * period % cycle * 64 / cycle;
    for (uint64_t tick = 0; tick < 40; ++tick) coarse |= uint64_t{1} << tick * period % cycle * 16 / cycle;
    bool walks = fine == ~uint64_t{0} && (period < cycle / 16 || coarse == 0xffff);
    EXPECT_EQ(walks_over(period, cycle), walks) << period << " over " << cycle;
    walking += walks_over(period, cycle);
  }
  EXPECT_GT(walking, 40u);
  EXPECT_LT(walking, 360u);
}

TEST(Period, NeverShorterThanTheKernelAllows) {
  Random random(3);
  for (int i = 0; i < 100; ++i) EXPECT_GE(draw_period(kShortestPeriodNs, &random), kShortestPeriodNs);
}

TEST(Period, MeanOfDrawsIsTheAskedPeriod) {
  // 4,000 draws, each within 8 %: the mean's standard deviation is below 0.08 %; a bound of 1 % never fails
  // by chance (12 standard deviations) but would see a one-sided draw.
  Random random(4);
  double sum = 0;
  for (int i = 0; i < 4000; ++i) sum += static_cast<double>(draw_period(1000000, &random));
  EXPECT_NEAR(sum / 4000, 1e6, 1e4);
}

TEST(Period, FewEventsArePeriodsAsTheyAre) {
  Random random(6);
  for (uint64_t asked = 1; asked < kFewestDrawn; ++asked) EXPECT_EQ(draw_count(asked, &random), asked);
}

TEST(Period, ManyEventsAreDrawnNearAndWalkOverACycleOfAsMany) {
  Random random(7);
  for (uint64_t asked : {uint64_t{100}, uint64_t{1000}, uint64_t{1000000}, uint64_t{1000000000000}}) {
    uint64_t first = draw_count(asked, &random), others = 0;
    for (int i = 0; i < 300; ++i) {
      uint64_t drawn = draw_count(asked, &random);
      EXPECT_LE(std::abs(static_cast<double>(drawn) / static_cast<double>(asked) - 1), kPeriodSpread + 1e-6);
      EXPECT_TRUE(walks_over(drawn, asked)) << drawn;
      others += drawn != first ? 1 : 0;
    }
    EXPECT_GT(others, 200u) << asked;
  }
}

TEST(Period, ShorterPeriodsLieInTheirRangeAndWalk) {
  Random random(5);
  for (uint64_t asked : {976562u, 1000000u, 50000u, 10000000u})
    for (int i = 0; i < 300; ++i) {
      uint64_t drawn = draw_shorter_period(asked, &random);
      EXPECT_GE(drawn, asked * 84 / 100);
      EXPECT_LE(drawn, asked);
      for (uint64_t cycle : {uint64_t{1000000}, uint64_t{4000000}, asked, 2 * asked})
        EXPECT_TRUE(walks_over(drawn, cycle)) << drawn << " over " << cycle;
    }
}

TEST(Period, ShorterPeriodsAreNotShorterThanTheKernelAllows) {
  Random random(6);
  for (int i = 0; i < 100; ++i) {
    EXPECT_GE(draw_shorter_period(kShortestPeriodNs + 100, &random), kShortestPeriodNs);
    EXPECT_LE(draw_shorter_period(kShortestPeriodNs, &random), kShortestPeriodNs);
  }
}

TEST(Period, StreamsTickTogetherAsOftenAsAsked) {
  Random random(7);
  for (int run = 0; run < 1000; ++run) {
    const std::array<uint64_t, kStreams> periods = draw_stream_periods(1000000, &random);
    double rate = 0;
    for (const uint64_t period : periods) {
      rate += 1 / static_cast<double>(period);
      EXPECT_GT(period, 2900000u);
      EXPECT_LT(period, 6300000u);
    }
    EXPECT_NEAR(1 / rate, 1000000, 2);
  }
}

TEST(PhaseShifts, ComeEveryThreeHundredPeriodsOnTheAverage) {
  constexpr uint64_t kPeriod = 1000, kTime = 3000000 * kPeriod;  // 10,000 shifts
  PhaseShifts shifts(true, kPeriod, 0);
  unsigned count = 0;
  for (uint64_t now = 0; now < kTime; now += kPeriod) count += shifts.due(now);
  EXPECT_NEAR(count, 10000, 300);  // pauses uniform in 0..600: standard deviation 58, beyond five never seen
  PhaseShifts unwanted(false, kPeriod, 0);
  EXPECT_FALSE(unwanted.due(kTime));
  EXPECT_FALSE(PhaseShifts().due(kTime));
  EXPECT_FALSE(PhaseShifts(false, 0, kTime).due(2 * kTime)) << "and without a period";
}

}  // namespace
}  // namespace pctally
