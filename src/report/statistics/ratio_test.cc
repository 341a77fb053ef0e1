#include "report/statistics/ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace pctally {
namespace {

std::vector<Measured> runs_of(std::initializer_list<double> ticks) {
  std::vector<Measured> runs;
  for (double run : ticks) runs.push_back({run, 1});
  return runs;
}

/// Where p is at most 5 %, 1 is outside, and the other way round; amounts and intervals of all kinds.
TEST(Ratio, TheIntervalHoldsOneUnlessTheTestRejectsIt) {
  for (double before : {20.0, 300.0, 1000.0, 30000.0}) {
    for (int percent = 5; percent <= 300; percent += 5) {
      const double after = std::round(before * percent / 100);
      for (const Change& change :
           {test_change(runs_of({before}), runs_of({after})),
            test_change(runs_of({before}), runs_of({after, after * 1.1, after * 1.02})),
            test_change(runs_of({before, before * 1.2}), runs_of({after, after * 1.1, after * 1.02})),
            test_change(std::vector{Measured{before, 0}}, std::vector{Measured{after, 0}})}) {
        const Interval ratio = ratio_interval(change);
        EXPECT_EQ(change.p <= 0.05, ratio.low > 1 || ratio.high < 1) << before << " to " << after;
        EXPECT_LE(ratio.low, change.after / change.before);
        EXPECT_GE(ratio.high, change.after / change.before);
      }
    }
  }
}

/// At a lower ratio the variance rests on the many runs of 2, and at 1 on the two runs alone.
TEST(Ratio, HoldsOneThoughARatioBelowItIsRejected) {
  const std::vector<Measured> before = runs_of({96, 113}), after(25, Measured{2, 1});
  const Change change = test_change(before, after);
  ASSERT_GT(change.p, 0.05);
  EXPECT_GT(std::abs(change.after - 0.1 * change.before), half_width_at(change, 0.1)) << "rejected";
  EXPECT_GE(ratio_interval(change).high, 1);
}

TEST(Ratio, OfExchangedSidesIsTheInverse) {
  for (const auto& [before, after] :
       {std::pair(runs_of({300}), runs_of({450})), std::pair(runs_of({3000}), runs_of({9000})),
        std::pair(runs_of({300, 320}), runs_of({400, 500, 450}))}) {
    const Interval forth = ratio_interval(test_change(before, after)),
                   back = ratio_interval(test_change(after, before));
    EXPECT_NEAR(forth.low * back.high, 1, 1e-6);
    EXPECT_NEAR(forth.high * back.low, 1, 1e-6);
  }
}

TEST(Ratio, OfNothingLeftDoesNotFallBelowIt) {
  for (double before : {1000.0, 5000.0}) {
    const Interval ratio = ratio_interval(test_change(runs_of({before}), runs_of({0})));
    EXPECT_EQ(ratio.low, 0);
    EXPECT_GT(ratio.high, 2 / before);
    EXPECT_LT(ratio.high, 20 / before);
  }
}

TEST(Ratio, HasNoUpperEndWhereTheOldAmountMayBeNone) {
  const Interval ratio = ratio_interval(test_change(runs_of({0, 10, 1}), runs_of({900, 1000, 1100})));
  EXPECT_TRUE(std::isinf(ratio.high));
  EXPECT_GT(ratio.low, 10);
}

/// The true ratio is in 95 of 100 intervals: of 1000, fewer than 928 have it once in 1000 (binomial).
TEST(Ratio, IsHeldByNineteenOfTwentyIntervals) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> speed(1, 0.1);
  for (double ratio : {0.5, 3.0}) {
    int held = 0;
    for (int pair = 0; pair < 1000; ++pair) {
      std::vector<Measured> before, after;
      for (int i = 0; i < 5; ++i) {
        before.push_back({10000 * speed(random), 1});
        after.push_back({10000 * ratio * speed(random), 1});
      }
      const Interval interval = ratio_interval(test_change(before, after));
      held += interval.low <= ratio && ratio <= interval.high;
    }
    EXPECT_GE(held, 928) << ratio;
  }
}

}  // namespace
}  // namespace pctally
