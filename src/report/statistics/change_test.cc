#include "report/statistics/change.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace pctally {
namespace {

Measured run_of(double ticks, double per_tick = 1) { return {ticks * per_tick, per_tick}; }

TEST(StudentT, QuantilesAreThoseOfTheTables) {
  EXPECT_NEAR(t_quantile(0.05, 1), 12.7062, 1e-3);
  EXPECT_NEAR(t_quantile(0.05, 4), 2.77645, 1e-4);
  EXPECT_NEAR(t_quantile(0.05, 8), 2.30600, 1e-4);
  EXPECT_NEAR(t_quantile(0.05, 1e6), kNormal95, 1e-4);
  EXPECT_NEAR(t_tail(2.30600, 8), 0.05, 1e-5);
}

TEST(StudentT, AQuantileHasItsTail) {
  for (double degrees : {1.0, 1.3, 2.0, 7.5, 40.0, 1e3, 99999.0})
    for (double alpha : {0.3, 0.05, 1e-3, 1e-6})
      EXPECT_NEAR(t_tail(t_quantile(alpha, degrees), degrees) / alpha, 1, 1e-6) << degrees << " " << alpha;
  EXPECT_NEAR(t_tail(t_quantile(1e-6, 1e5), 1e5) / 1e-6, 1, 1e-2);  // the normal one
}

TEST(ChangeTest, BothOrdersAgree) {
  const std::vector<std::vector<Measured>> sides = {{run_of(90)},
                                                    {run_of(140, 1.03)},
                                                    {run_of(90), run_of(101), run_of(97)},
                                                    {run_of(140), run_of(150)},
                                                    {Measured{.amount = 140, .per_tick = 1, .runs = 4}},
                                                    {run_of(0)}};
  for (const auto& a : sides) {
    for (const auto& b : sides) {
      Change forth = test_change(a, b), back = test_change(b, a);
      EXPECT_NEAR(forth.p, back.p, 1e-9);
      EXPECT_DOUBLE_EQ(forth.difference, -back.difference);
      EXPECT_NEAR(forth.interval.low, -back.interval.high, 1e-9);
    }
  }
}

TEST(ChangeTest, TheExactTestMeetsTheNormalOneWhereTheyChange) {
  Change exact = test_change(std::vector{run_of(950)}, std::vector{run_of(1049)});
  Change normal = test_change(std::vector{run_of(951)}, std::vector{run_of(1050)});
  EXPECT_NEAR(exact.p, normal.p, 0.02);
}

TEST(ChangeTest, ADoubledRowIsSeenAndAFifthMoreIsNotFromOneRunASide) {
  EXPECT_LT(test_change(std::vector{run_of(300)}, std::vector{run_of(600)}).p, 0.01);
  EXPECT_GT(test_change(std::vector{run_of(300)}, std::vector{run_of(360)}).p, 0.05);
}

TEST(ChangeTest, FinerTicksAreNoChange) {
  EXPECT_GT(test_change(std::vector{run_of(100, 4)}, std::vector{run_of(400, 1)}).p, 0.5);
}

TEST(ChangeTest, ExactAmountsDifferByMoreThanRunsDo) {
  EXPECT_GT(test_change(std::vector{Measured{1000, 0}}, std::vector{Measured{1080, 0}}).p, 0.05);
  EXPECT_LT(test_change(std::vector{Measured{1000, 0}}, std::vector{Measured{2000, 0}}).p, 0.01);
}

TEST(ChangeTest, ExactAmountsThatAgreeByChanceHaveAnIntervalOfTheirResolution) {
  const Measured before{.amount = 100, .resolution = 1}, after{.amount = 101, .resolution = 1};
  const Change change = test_change(std::vector{before, before}, std::vector{after, after});
  EXPECT_NEAR(change.interval.high - change.difference, t_quantile(0.05, 2), 1e-9);
  EXPECT_GT(change.p, 0.05);
}

/// Counting gives an amount without a tick the variance that one tick would have.
TEST(ChangeTest, WhatHasNoTickInAnyRunMayHaveHadOne) {
  const std::vector<Measured> none(3, run_of(0, 10));
  const Change change = test_change(none, none);
  EXPECT_EQ(change.p, 1);
  EXPECT_NEAR(change.interval.high, std::sqrt(2.0 * 10 * 10 / 3) * t_quantile(0.05, change.degrees), 1e-9);
  EXPECT_NEAR(change.after_interval.high, std::sqrt(10 * 10 / 3.0) * t_quantile(0.05, change.degrees), 1e-9);
}

TEST(ChangeTest, NoAmountIsBelowNothing) {
  EXPECT_EQ(test_change(std::vector{run_of(100)}, std::vector{run_of(1)}).after_interval.low, 0);
}

/// Two runs beside twenty vary as these do: by one estimate, with the degrees of the twenty alone.
TEST(ChangeTest, WhatIsBorrowedHasTheDegreesOfItsOwner) {
  const std::vector<Measured> few(2, run_of(100));
  std::vector<Measured> many(10, run_of(80));
  many.resize(20, run_of(120));
  for (const Change& change : {test_change(few, many), test_change(many, few)}) {
    EXPECT_EQ(change.degrees, 19);
    EXPECT_TRUE(change.one_estimate);
  }
}

/// With few runs in all what is assumed counts as eight degrees of freedom, and what the runs show (here
/// nothing) as theirs. The lone run may have few ticks by chance: it counts as if it had as many as the
/// others.
TEST(ChangeTest, ALoneRunOfFewTicksIsNoSurerThanTheOthers) {
  const std::vector<Measured> few{run_of(1)}, many(3, run_of(9));
  const double between = 8 * kBetweenRuns * kBetweenRuns / 10, lone = 9 + between,
               of_many = (9 + between * 81) / 3;
  for (const Change& change : {test_change(few, many), test_change(many, few)}) {
    EXPECT_EQ(change.degrees, 10);
    EXPECT_NEAR(change.interval.high - change.difference, std::sqrt(lone + of_many) * t_quantile(0.05, 10),
                1e-9);
  }
}

TEST(ChangeTest, TheNewAmountOfFewRunsHasTheirVariance) {
  const std::vector<Measured> before(2, run_of(1000)), after(2, run_of(100));
  const double between = 8 * kBetweenRuns * kBetweenRuns / 10;
  EXPECT_NEAR(test_change(before, after).after_interval.high - 100,
              std::sqrt((100 + between * 100 * 100) / 2) * t_quantile(0.05, 10), 1e-9);
}

TEST(ChangeTest, NothingIsAssumedOfASingleRunBesideMany) {
  EXPECT_GT(assumed_degrees(1, 8), 0);
  EXPECT_EQ(assumed_degrees(1, 12), 0);
  EXPECT_EQ(assumed_degrees(12, 1), 0);
  EXPECT_GT(assumed_degrees(2, 12), 0);
  EXPECT_EQ(assumed_degrees(10, 10), 0);
}

struct Pairs {
  size_t old_runs, new_runs;
  double mean;                      ///< ticks of an old run
  double deviation = kBetweenRuns;  ///< of runs, relative
  double ratio = 1;                 ///< of a new run to an old one
};

/// Of so many pairs of sides, the part whose p is at most `level`.
double rate_of(const Pairs& pairs, double level, int count) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> speed(1, pairs.deviation);
  const auto side_of = [&](size_t runs, double mean) {
    std::vector<Measured> side;
    for (size_t i = 0; i < runs; ++i)
      side.push_back(run_of(std::poisson_distribution<int>(mean * std::max(0.1, speed(random)))(random)));
    return side;
  };
  int called = 0;
  for (int pair = 0; pair < count; ++pair) {
    const auto before = side_of(pairs.old_runs, pairs.mean),
               after = side_of(pairs.new_runs, pairs.mean * pairs.ratio);
    called += test_change(before, after).p <= level;
  }
  return static_cast<double>(called) / count;
}

/// 1000 pairs without a change: 5 % is exceeded by chance beyond 7.2 % one time in 1000 (binomial, z = 3.1).
/// The tests keep their word as long as runs deviate no more than they assume.
double false_alarms(size_t runs, double mean, double deviation) {
  return rate_of({runs, runs, mean, deviation}, 0.05, 1000);
}

TEST(ChangeTest, OnePairInTwentyIsAFalseAlarmAtMost) {
  for (double mean : {3.0, 40.0, 400.0, 4000.0}) {
    EXPECT_LT(false_alarms(1, mean, kBetweenRuns), 0.072) << mean;
    EXPECT_LT(false_alarms(5, mean, 0.15), 0.072) << mean;
    for (size_t runs : {2, 3, 4})
      for (double deviation : {0.02, kBetweenRuns})
        EXPECT_LT(false_alarms(runs, mean, deviation), 0.072) << runs << " runs, " << mean;
  }
}

/// Of 4000 pairs without a change at most 4 have p <= 0.001; more than 14 have it by chance one time in
/// 20000. In a table of hundreds of rows it is these that are called changed.
TEST(ChangeTest, FewRunsBesideManyAreNoFalseAlarm) {
  for (const auto& [few, many] :
       {std::pair(1, 20), std::pair(2, 20), std::pair(3, 20), std::pair(1, 2), std::pair(2, 5)}) {
    for (double mean : {3.0, 40.0, 4000.0}) {
      const auto less = static_cast<size_t>(few), more = static_cast<size_t>(many);
      EXPECT_LE(rate_of({less, more, mean}, 0.001, 4000), 0.0035) << few << " v " << many << ", " << mean;
      EXPECT_LE(rate_of({more, less, mean}, 0.001, 4000), 0.0035) << many << " v " << few << ", " << mean;
      EXPECT_LT(rate_of({less, more, mean}, 0.05, 1000), 0.072) << few << " v " << many << ", " << mean;
    }
  }
}

/// The lone run varies as the others do: one estimate for both, with their degrees of freedom.
TEST(ChangeTest, AnExactRunBesideThreeIsNoFalseAlarm) {
  std::mt19937_64 random(9);
  std::normal_distribution<double> speed(1, 0.03);
  int called = 0;
  for (int pair = 0; pair < 4000; ++pair) {
    std::vector<Measured> before, after{Measured{1e6 * speed(random), 0}};
    for (int i = 0; i < 3; ++i) before.push_back(Measured{1e6 * speed(random), 0});
    called += test_change(before, after).p <= 0.05;
  }
  EXPECT_LT(called, 0.062 * 4000) << "5 % are more by chance once in 4000 times (binomial, z = 3.5)";
}

/// Beyond what is assumed false alarms are rarer than of one run a side, which is blind to it.
TEST(ChangeTest, MoreRunsAreLessOftenWrongWhereTheyDeviateMoreThanIsAssumed) {
  double before = 1;
  for (size_t runs : {1, 2, 3, 5, 10}) {
    const double rate = rate_of({runs, runs, 4000, 0.3}, 0.01, 2000);
    EXPECT_LT(rate, before) << runs;
    before = rate;
  }
  EXPECT_LT(before, 0.02);
}

TEST(ChangeTest, ThreeRunsSeeATriplingAndARowThatIsNew) {
  EXPECT_GT(rate_of({3, 3, 4000, kBetweenRuns, 3}, 0.05 / 100, 500), 0.8) << "as one row of a hundred";
  const std::vector<Measured> none(3, run_of(0));
  EXPECT_LT(test_change(none, std::vector{run_of(300), run_of(315), run_of(234)}).p, 1e-5);
}

TEST(ChangeTest, ARunThatIsTwiceAsLargeAsTenOthersIsSeen) {
  EXPECT_GT(rate_of({10, 1, 40, 0.05, 2}, 0.01, 500), 0.5);
  EXPECT_GT(rate_of({1, 10, 40, 0.05, 2}, 0.01, 500), 0.5);
  EXPECT_GT(rate_of({10, 1, 400, 0.05, 0.5}, 0.01, 500), 0.9);
}

TEST(ChangeTest, TheNewAmountAloneIsAsSureAsItsOwnRunIs) {
  const std::vector<Measured> before(5, run_of(1000));
  const Change change = test_change(before, std::vector{run_of(100)});
  EXPECT_NEAR(change.after_interval.high - 100, 10 * t_quantile(0.05, 4), 1e-9);  // counting noise
}

TEST(ChangeTest, FiveRunsSeeAFifthMore) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> speed(1, 0.03);
  int seen = 0;
  for (int pair = 0; pair < 200; ++pair) {
    std::vector<Measured> before, after;
    for (int i = 0; i < 5; ++i) {
      before.push_back(run_of(std::poisson_distribution<int>(400 * speed(random))(random)));
      after.push_back(run_of(std::poisson_distribution<int>(480 * speed(random))(random)));
    }
    seen += test_change(before, after).p <= 0.05;
  }
  EXPECT_GT(seen, 180);
}

TEST(RunDeviation, IsMeasuredWhereThereAreSeveralRuns) {
  EXPECT_NEAR(run_deviation(std::vector{run_of(100, 10)}), std::sqrt(100 * 100 + 150 * 150), 1e-9);
  EXPECT_NEAR(run_deviation(std::vector{run_of(300), run_of(500), run_of(400)}), 100, 1e-9);
  EXPECT_NEAR(run_deviation(std::vector{run_of(400), run_of(400)}), 20, 1e-9);  // counting noise
}

/// The mean of four runs that were added up has a quarter of one's variance.
TEST(RunDeviation, OfRunsThatWereAddedUpIsThatOfOne) {
  const std::vector<Measured> sum{{.amount = 1000, .per_tick = 10, .runs = 4}};
  EXPECT_NEAR(counting_deviation(sum), std::sqrt(4 * 10 * 1000), 1e-9);
  EXPECT_NEAR(run_deviation(sum), std::sqrt(4 * 10 * 1000 + 150 * 150), 1e-9);
}

TEST(Rejected, IsBenjaminiAndHochbergsRule) {
  const std::vector<double> p = {0.9, 0.001, 0.028, 0.02, 0.5};
  EXPECT_EQ(rejected(p, 0.05), (std::vector<bool>{false, true, true, true, false}));
  EXPECT_EQ(rejected(std::vector<double>{0.06, 0.9}, 0.05), (std::vector<bool>{false, false}));
  EXPECT_TRUE(rejected({}, 0.05).empty());
}

}  // namespace
}  // namespace pctally
