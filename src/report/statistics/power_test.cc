#include "report/statistics/power.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace pctally {
namespace {

/// What test_change() calls more, of so many simulated comparisons of exact amounts.
double simulated(double level, const RunSide& old_side, const RunSide& new_side, int comparisons) {
  std::mt19937_64 random(4);
  const auto runs_of = [&random](const RunSide& side) {
    std::normal_distribution<double> run(side.mean, std::sqrt(side.variance));
    std::vector<Measured> runs(static_cast<size_t>(side.runs));
    for (Measured& one : runs) one.amount = run(random);
    return runs;
  };
  int seen = 0;
  for (int comparison = 0; comparison < comparisons; ++comparison) {
    const std::vector<Measured> before = runs_of(old_side), after = runs_of(new_side);
    seen += test_change(before, after).p <= level;
  }
  return static_cast<double>(seen) / comparisons;
}

RunSide side_of(double runs, double mean, double deviation) {
  return {.first = {.amount = mean},
          .runs = runs,
          .added = 1,
          .mean = mean,
          .variance = squared(mean * deviation),
          .degrees = runs - 1};
}

/// False alarms of the test: none, its random numbers are always the same. 2000 comparisons at 80 % have a
/// standard deviation of 0.9 points; the rest is the error of the quadrature, and of taking the means as
/// known.
TEST(Power, IsThatOfTheTest) {
  struct Case {
    double old_runs, new_runs, level, change, deviation;
  };
  for (const auto& [old_runs, new_runs, level, change, deviation] : std::vector<Case>{
           {10, 10, 0.0025, 0.13, 0.05}, {10, 10, 0.0001, 0.17, 0.05}, {20, 20, 0.0025, 0.08, 0.05},
           {100, 100, 0.05, 0.02, 0.05}, {2, 2, 0.05, 0.5, 0.15},      {2, 2, 0.0025, 1.2, 0.15},
           {2, 2, 0.0025, 0.9, 0.05},    {3, 3, 0.0025, 0.5, 0.05},    {4, 4, 0.0025, 0.6, 0.15},
           {5, 5, 0.0025, 0.25, 0.05},   {5, 5, 0.0025, 0.7, 0.3},     {2, 4, 0.0025, 0.6, 0.05},
           {4, 2, 0.0025, 0.7, 0.05},    {1, 5, 0.0025, 0.7, 0.1},     {5, 1, 0.0025, 1.1, 0.1},
           {1, 12, 0.0025, 0.9, 0.1},    {12, 1, 0.0025, 0.9, 0.1},    {2, 20, 0.0025, 0.4, 0.1},
           {20, 2, 0.0025, 0.4, 0.1},    {5, 15, 0.0025, 0.3, 0.1}}) {
    const RunSide before = side_of(old_runs, 1, deviation), after = side_of(new_runs, 1 + change, deviation);
    EXPECT_NEAR(ChangePower(level).of(before, after), simulated(level, before, after, 2000), 0.06)
        << old_runs << " + " << new_runs << " runs, " << level << ", " << change;
  }
}

TEST(Power, IsTheLevelWithoutAChangeAndGrows) {
  const ChangePower power(0.05);
  const auto of = [&power](double change, double deviation, double runs) {
    return power.of(side_of(runs, 1, deviation), side_of(runs, 1 + change, deviation));
  };
  EXPECT_NEAR(of(0, 0.1, 10), 0.025, 0.005) << "one of the two tails";
  EXPECT_LT(of(0.1, 0.1, 10), of(0.15, 0.1, 10));
  EXPECT_LT(of(0.1, 0.12, 10), of(0.1, 0.1, 10));
  EXPECT_LT(of(0.1, 0.1, 10), of(0.1, 0.1, 12));
}

/// Where runs deviate by less than counting alone lets them, the test takes them to deviate by that.
TEST(Power, CountingIsTheLeastVariance) {
  RunSide before = side_of(10, 1, 0.1), after = side_of(10, 1.1, 0.1);
  const double power = ChangePower(0.05).of(before, after);
  before.counting = after.counting = 2 * before.variance;
  EXPECT_LT(ChangePower(0.05).of(before, after), power);
}

TEST(StudentTable, IsOffByLessThanAHundredth) {
  for (const double alpha : {0.05, 0.0025, 1e-6})
    for (const double degrees : {1.0, 1.03, 1.5, 2.0, 3.6, 9.0, 40.0, 1e5})
      EXPECT_NEAR(StudentTable(alpha)(degrees) / t_quantile(alpha, degrees), 1, 0.01) << degrees;
}

TEST(Power, OfVariancesThatAreKnownIsNormal) {
  const double change = z_needed(0.05, 0.8) * std::sqrt(0.01 * 2 / 1e5);
  RunSide before = side_of(1e5, 1, 0.1), after = before;
  after.mean += change;
  EXPECT_NEAR(ChangePower(0.05).of(before, after), 0.8, 1e-3);
  EXPECT_NEAR(z_needed(0.05, 0.8), 2.8016, 1e-4);
}

/// It is one of a tick.
TEST(Power, OfNothingSomeRatioIsSeen) {
  const double ratio = ratio_seen({{0, 10}, {0, 10}, 0.15 * std::sqrt(2)}, 0.05, 0.8);
  EXPECT_GT(ratio, 5);
  EXPECT_LT(ratio, 100);
}

TEST(Power, TheRatioSeenHasThePValueOfItsZ) {
  for (double ticks : {20.0, 500.0, 1e5}) {
    SingleRuns runs{{ticks, 1}, {ticks, 1}, 0.15 * std::sqrt(2)};
    runs.after.amount = ticks * ratio_seen(runs, 0.0025, 0.8);
    EXPECT_LT(p_of_ratio(runs, 1), 0.0025 / 5) << ticks;
  }
}

}  // namespace
}  // namespace pctally
