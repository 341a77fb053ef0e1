#include "report/statistics/interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace pctally {
namespace {

TEST(Statistics, WilsonMatchesPublishedValues) {
  // Newcombe, Statistics in Medicine 17 (1998) 857-872, table I, method 3.
  Interval interval = wilson_interval(81.0 / 263, 263);
  EXPECT_NEAR(interval.low, 0.2553, 5e-5);
  EXPECT_NEAR(interval.high, 0.3662, 5e-5);
  interval = wilson_interval(15.0 / 148, 148);
  EXPECT_NEAR(interval.low, 0.0624, 5e-5);
  EXPECT_NEAR(interval.high, 0.1605, 5e-5);
  interval = wilson_interval(0, 20);
  EXPECT_EQ(interval.low, 0);
  EXPECT_NEAR(interval.high, 0.1611, 5e-5);
  interval = wilson_interval(1.0 / 29, 29);
  EXPECT_NEAR(interval.low, 0.0061, 5e-5);
  EXPECT_NEAR(interval.high, 0.1718, 5e-5);
}

TEST(Statistics, IntervalsHoldTheShareAndStayInside) {
  for (double samples : {0.0, 0.5, 1.0, 7.0, 100.0, 1e6, 1e18})
    for (double share : {0.0, 1e-9, 0.001, 0.3, 0.5, 0.999, 1.0}) {
      Interval interval = wilson_interval(share, samples);
      EXPECT_LE(0, interval.low);
      EXPECT_LE(interval.low, share);
      EXPECT_LE(share, interval.high);
      EXPECT_LE(interval.high, 1);
      EXPECT_LE(share - half_width(share, interval), interval.low + 1e-15);
      EXPECT_GE(share + half_width(share, interval), interval.high - 1e-15);
    }
}

TEST(Statistics, WithoutLooksNothingIsKnown) {
  EXPECT_EQ(wilson_interval(0.5, 0).low, 0);
  EXPECT_EQ(wilson_interval(0.5, 0).high, 1);
  EXPECT_EQ(wilson_interval(0.5, std::nan("")).high, 1);
}

TEST(Statistics, LooksAreDeliveriesWhenWeightsAreEqual) {
  EXPECT_DOUBLE_EQ(effective_samples(4000, 1000, 16000), 1000);
  EXPECT_DOUBLE_EQ(effective_samples(4000, 4000, 4000), 4000);
  EXPECT_LT(effective_samples(4000, 1000, 160000), 101);
}

TEST(Statistics, LooksAreNeverMoreThanTicksOrDeliveries) {
  EXPECT_EQ(effective_samples(10, 0, 0), 10);
  EXPECT_EQ(effective_samples(10, 5, 1), 5);
  EXPECT_EQ(effective_samples(10, 0, 1), 10);
  EXPECT_EQ(effective_samples(0, 0, 0), 0);
}

// The promise on the label: about 95 of 100 intervals hold the true share, also when one delivery
// weighs four ticks.
TEST(Statistics, CoversTheTrueShare) {
  std::mt19937_64 random(1927);
  for (double truth : {0.4, 0.1, 0.01, 0.001})
    for (uint64_t weight : {1, 4}) {
      int held = 0, held_shown = 0;
      constexpr int kRuns = 2000;
      constexpr uint64_t kDeliveries = 5000;
      std::binomial_distribution<uint64_t> hits(kDeliveries, truth);
      for (int run = 0; run < kRuns; ++run) {
        double share = static_cast<double>(hits(random)) / kDeliveries;
        uint64_t ticks = kDeliveries * weight;
        Interval interval = wilson_interval(
            share, effective_samples(ticks, kDeliveries, static_cast<double>(ticks * weight)));
        held += interval.low <= truth && truth <= interval.high;
        held_shown += std::abs(truth - share) <= half_width(share, interval);
      }
      EXPECT_GT(held, kRuns * 93 / 100) << truth;
      EXPECT_LT(held, kRuns * 98 / 100) << truth;
      EXPECT_GE(held_shown, held) << truth;
    }
}

TEST(Statistics, DifferencesMatchPublishedValues) {
  // Newcombe, Statistics in Medicine 17 (1998) 873-890, table II, method 10: 56/70 - 48/80, 9/10 - 3/10,
  // 10/10 - 0/10.
  Interval interval = difference_interval(56.0 / 70, 70, 48.0 / 80, 80);
  EXPECT_NEAR(interval.low, 0.0524, 5e-5);
  EXPECT_NEAR(interval.high, 0.3339, 5e-5);
  interval = difference_interval(0.9, 10, 0.3, 10);
  EXPECT_NEAR(interval.low, 0.1705, 5e-5);
  EXPECT_NEAR(interval.high, 0.8090, 5e-5);
  interval = difference_interval(1, 10, 0, 10);
  EXPECT_NEAR(interval.low, 0.6075, 5e-5);
  EXPECT_NEAR(interval.high, 1, 5e-5);
  EXPECT_EQ(difference_interval(1, 10, 0, 0).low, -1);
}

TEST(Statistics, ZOfTheUsualLevels) {
  EXPECT_NEAR(two_sided_z(0.05), kNormal95, 1e-12);
  EXPECT_NEAR(two_sided_z(0.01), 2.5758293035489, 1e-10);
  EXPECT_NEAR(two_sided_z(0.001), 3.2905267314919, 1e-10);
}

// Of 30 shares that do not change, none may seem to, 95 times in 100. False alarm rate of the test: 2000 runs
// at 5 % are 100 +- 10 (one sigma); the bound is 6 sigma above.
TEST(Statistics, NothingSeemsToChangeByChance) {
  std::mt19937_64 random(1998);
  double z = two_sided_z(0.05 / 30);
  int alarms = 0;
  for (int run = 0; run < 2000; ++run) {
    bool alarm = false;
    for (int row = 1; row <= 30; ++row) {
      double truth = 0.3 / row;
      double now = static_cast<double>(std::binomial_distribution<int>(1000, truth)(random)) / 1000;
      double before = static_cast<double>(std::binomial_distribution<int>(20000, truth)(random)) / 20000;
      Interval interval = difference_interval(now, 1000, before, 20000, z);
      alarm = alarm || interval.low > 0 || interval.high < 0;
    }
    alarms += alarm;
  }
  EXPECT_LT(alarms, 160);
}

}  // namespace
}  // namespace pctally
