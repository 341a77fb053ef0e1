#include "report/statistics/power.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <tuple>
#include <vector>

namespace pctally {
namespace {

/// What test_change() calls more, of so many simulated comparisons.
double simulated(size_t runs, double level, double change, double deviation, int comparisons) {
  std::mt19937_64 random(4);
  std::normal_distribution<double> old_run(1, deviation), new_run(1 + change, (1 + change) * deviation);
  int seen = 0;
  for (int comparison = 0; comparison < comparisons; ++comparison) {
    std::vector<Measured> before(runs), after(runs);
    for (Measured& run : before) run.amount = old_run(random);
    for (Measured& run : after) run.amount = new_run(random);
    seen += test_change(before, after).p <= level;
  }
  return static_cast<double>(seen) / comparisons;
}

/// False alarms of the test: 2000 comparisons at 80 % have a standard deviation of 0.9 points; the rest is
/// the error of the quadrature.
TEST(Power, IsThatOfTheTest) {
  for (const auto& [runs, level, change] : {std::tuple(10, 0.0025, 0.13), std::tuple(10, 0.0001, 0.17),
                                            std::tuple(20, 0.0025, 0.08), std::tuple(100, 0.05, 0.02)}) {
    const double degrees = runs - 1, variance = 0.05 * 0.05 / runs;
    const double power =
        WelchPower(level, degrees, degrees).of(change, {variance}, {variance * squared(1 + change)});
    EXPECT_NEAR(power, simulated(static_cast<size_t>(runs), level, change, 0.05, 2000), 0.045)
        << runs << " runs, " << level << ", " << change;
  }
}

/// Where runs deviate by what is assumed, that test decides nearly always. The larger runs deviate more, and
/// are taken to do so as much: the rest of 0.09.
TEST(Power, OfFewRunsIsThatOfTheTest) {
  for (const auto& [runs, level, change] :
       {std::tuple(2, 0.05, 0.5), std::tuple(2, 0.0025, 1.2), std::tuple(3, 0.0025, 0.7),
        std::tuple(4, 0.0025, 0.6), std::tuple(6, 0.0025, 0.4)}) {
    const double amounts = (1 + squared(1 + change)) / runs, shown_degrees = 2 * (runs - 1),
                 assumed = assumed_degrees(runs, runs), degrees = assumed + shown_degrees,
                 variance = squared(kBetweenRuns) * amounts;
    const OneEstimate estimate{.known = assumed / degrees * variance,
                               .shown = shown_degrees / degrees * variance,
                               .shown_degrees = shown_degrees,
                               .degrees = degrees};
    const double power = power_of_one_estimate(level, change, std::sqrt(variance), estimate);
    EXPECT_NEAR(power, simulated(static_cast<size_t>(runs), level, change, kBetweenRuns, 2000), 0.09)
        << runs << " runs, " << level << ", " << change;
  }
}

TEST(Power, IsTheLevelWithoutAChangeAndGrows) {
  const WelchPower power(0.05, 9, 9);
  EXPECT_NEAR(power.of(0, {1}, {1}), 0.025, 0.005) << "one of the two tails";
  EXPECT_LT(power.of(3, {1}, {1}), power.of(4, {1}, {1}));
  EXPECT_GT(power.of(3, {1}, {1}), power.of(3, {1, 2}, {1, 2})) << "the test takes them for 2";
  EXPECT_LT(power.of(3, {1}, {1}), WelchPower(0.05, 99, 99).of(3, {1}, {1}));
}

TEST(Power, OfVariancesThatAreKnownIsNormal) {
  EXPECT_NEAR(WelchPower(0.05, 1e6, 1e6).of(z_needed(0.05, 0.8), {0.5}, {0.5}), 0.8, 1e-3);
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
