#include "report/statistics/interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

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

TEST(Statistics, ARangeIsWideIfItIsWiderThanChance) {
  EXPECT_TRUE(is_wide_range(0.5, 0.51, 1e6));
  EXPECT_FALSE(is_wide_range(0.5, 0.51, 100)) << "chance alone is 10 points";
  EXPECT_FALSE(is_wide_range(0.5, 0.504, 1e9)) << "not worth it";
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

TEST(Statistics, SharesAreComparedByFishersTest) {
  // Fisher's own example (1935): 3 of 4 cups against 1 of 4; P(K >= 3) = 17/70. And 10 of 13 twins against 2
  // of 17: 0.000465 (1934, section 21.02).
  EXPECT_NEAR(p_of_shares(0.75, 4, 0.25, 4), 2 * 17.0 / 70, 1e-12);
  EXPECT_NEAR(p_of_shares(10.0 / 13, 13, 2.0 / 17, 17), 2 * 619.0 / 1330665, 1e-12);
  EXPECT_NEAR(p_of_shares(1.0 / 500, 500, 0, 50000), 2 * 500.0 / 50500, 1e-10);
  EXPECT_EQ(p_of_shares(0.3, 10, 0.3, 100), 1);
  EXPECT_EQ(p_of_shares(1, 10, 1, 100), 1);
  EXPECT_EQ(p_of_shares(1, 10, 0, 0), 1);
}

TEST(Statistics, ExchangedSharesHaveTheSameP) {
  for (double now : {0.0, 0.001, 0.3, 0.99, 1.0})
    for (double before : {0.0, 0.002, 0.4, 1.0}) {
      EXPECT_DOUBLE_EQ(p_of_shares(now, 1000, before, 3e7), p_of_shares(before, 3e7, now, 1000));
      EXPECT_NEAR(p_of_shares(now, 1000, before, 3e7), p_of_shares(1 - now, 1000, 1 - before, 3e7), 1e-6);
    }
}

// Of 300 rows a function that falls from 95 % to 90 % is seen in a second: z is 7.
TEST(Statistics, ALargeShareThatFallsIsSeen) { EXPECT_LT(p_of_shares(0.9, 1000, 0.95, 60000), 0.05 / 300); }

TEST(Statistics, ZOfTheUsualLevels) {
  EXPECT_NEAR(two_sided_z(0.05), kNormal95, 1e-12);
  EXPECT_NEAR(two_sided_z(0.01), 2.5758293035489, 1e-10);
  EXPECT_NEAR(two_sided_z(0.001), 3.2905267314919, 1e-10);
}

/// Of so many tables of shares that do not change, the part in which a row seems to.
double alarms_of(const std::vector<double>& shares, int now, int before, int tables) {
  std::mt19937_64 random(1998);
  const auto share_of = [&random](double truth, int samples) {
    return static_cast<double>(std::binomial_distribution<int>(samples, truth)(random)) / samples;
  };
  int alarms = 0;
  for (int table = 0; table < tables; ++table) {
    bool alarm = false;
    for (double truth : shares) {
      const double p = p_of_shares(share_of(truth, now), now, share_of(truth, before), before);
      alarm = alarm || p <= 0.05 / static_cast<double>(shares.size());
    }
    alarms += alarm;
  }
  return static_cast<double>(alarms) / tables;
}

// Of shares that do not change none may seem to, 95 times in 100. False alarm rate of the test: of 1000
// tables at 5 % 50 +- 7 (one sigma) have an alarm; the bound is 6 sigma above. Rows of a long tail have one
// tick now and (almost) none in a long past.
TEST(Statistics, NothingSeemsToChangeByChance) {
  std::vector<double> few, tail;
  for (int row = 1; row <= 30; ++row) few.push_back(0.3 / row);
  for (int row = 1; row <= 300; ++row) tail.push_back(0.608 / row / row);
  EXPECT_LT(alarms_of(few, 1000, 20000, 1000), 0.092);
  EXPECT_LT(alarms_of(tail, 5000, 300000, 1000), 0.092);
  EXPECT_LT(alarms_of(tail, 500, 50000, 1000), 0.092);
}

}  // namespace
}  // namespace pctally
