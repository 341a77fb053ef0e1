#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/sanitizer.h"
#include "report/diff/diff_for_test.h"

namespace pctally {
namespace {

TEST(Plan, SmallerChangesTakeMoreRuns) {
  const auto deviations = run_deviations({run_of({0, 400, 50})}, &FakeSymbolizer::open, {});
  ASSERT_TRUE(deviations);
  const std::vector<RowDeviation>& rows = deviations->rows;
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].name, "total");
  EXPECT_EQ(rows[1].name, "f1");
  EXPECT_EQ(deviations->family.rows, 2u);
  EXPECT_DOUBLE_EQ(rows[1].counting, 20);
  const PlannedChange twentieth{.relative = 0.05}, tenth{.relative = 0.1};
  EXPECT_GT(runs_needed(rows[1], twentieth), 3 * runs_needed(rows[1], tenth));
  EXPECT_GT(runs_needed(rows[2], tenth), runs_needed(rows[1], tenth));
  EXPECT_EQ(runs_needed({.name = "f", .deviation = 1}, tenth), 0u);
}

TEST(Plan, MorePowerTakesMoreRuns) {
  const RowDeviation row{.name = "f", .amount = 100, .deviation = 10};
  // The new side deviates by 11. ((2.037 + 0.8416) / 10)^2 * (10^2 + 11^2) = 18.3, with Student's t of 36
  // degrees
  EXPECT_EQ(runs_needed(row, {.relative = 0.1}), 19u);
  EXPECT_NEAR(static_cast<double>(runs_needed(row, {.relative = 0.1, .power = 0.95})), 30, 1);
  EXPECT_GT(runs_needed(row, {.relative = 0.1, .level = 0.05 / 100}), 40u);
}

/// Few runs: what both sides show, each with its degrees, counts beside what is assumed.
TEST(Plan, FewRunsAreAsManyAsBothSidesShow) {
  const RowDeviation steady{.name = "f", .amount = 100, .deviation = 15},
      varying{.name = "f", .amount = 100, .deviation = 30};
  EXPECT_EQ(runs_needed(steady, {.relative = 0.3}), 6u);
  EXPECT_EQ(runs_needed(varying, {.relative = 0.6}), 7u);
  EXPECT_EQ(runs_needed(varying, {.relative = 0.8}), 4u);
}

/// The resolution of a clock does not grow with what it measures, as counting noise does.
TEST(Plan, ALargerExactAmountIsAsExact) {
  RowDeviation row{.name = "f", .amount = 100, .deviation = 28, .counting = 8, .sampled = false};
  EXPECT_EQ(runs_needed(row, {.relative = 0.2}), 38u);
  row.sampled = true;
  EXPECT_EQ(runs_needed(row, {.relative = 0.2}), 39u);
}

TEST(Plan, OneRunASideShowsOnlyWhatExceedsItsAssumedDeviation) {
  const RowDeviation steady{.name = "f", .amount = 100, .deviation = 1, .counting = 1};
  const double smallest = smallest_of_one_run({});
  EXPECT_NEAR(smallest, std::exp(0.15 * 1.4142 * 2.8016) - 1, 1e-3) << "81 %: on the scale of logarithms";
  EXPECT_EQ(runs_needed(steady, {.relative = 0.05}), 3u);
  EXPECT_EQ(runs_needed(steady, {.relative = 0.6}), 2u);
  EXPECT_EQ(runs_needed(steady, {.relative = smallest + 0.01}), 1u);
}

/// CPU time as the kernel knows it is not compared on that scale: the larger of two deviates by more.
TEST(Plan, OneExactRunASideShowsLess) {
  const RowDeviation exact{.name = "total", .amount = 100, .deviation = 1, .sampled = false};
  const auto verdict_at = [](double ratio) {
    return test_change(std::vector{Measured{100, 0}}, std::vector{Measured{100 * ratio, 0}}).p <= 0.05;
  };
  EXPECT_TRUE(verdict_at(1.8)) << "seen, but by chance alone not four times in five";
  EXPECT_GT(runs_needed(exact, {.relative = 0.8}), 1u);
  EXPECT_EQ(runs_needed(exact, {.relative = 0.95}), 1u);
}

TEST(Plan, LongerRunsHelpAgainstCountingNoiseAlone) {
  const RowDeviation noisy{.name = "f", .amount = 100, .deviation = 10, .counting = 10},
      varying{.name = "f", .amount = 100, .deviation = 10, .counting = 6};
  const PlannedChange change{.relative = 0.1};
  // ((2.306 + 0.8416) / 10)^2 * (10^2 + 1.1 * 10^2) / 5 = 4.2, with Student's t of 8 degrees, if the test did
  // not take the variance for at least that of counting. Simulated: at 4.2 71 % are seen, at 5.07 79 %.
  EXPECT_NEAR(length_needed(noisy, change, 5), 5.07, 0.1);
  EXPECT_EQ(length_needed(varying, change, 5), 0) << "runs themselves deviate by 8";
  EXPECT_GT(length_needed(varying, change, 20), 0);
}

TEST(Plan, OneRunASideIsAssumedToDeviateHoweverLongItIs) {
  const RowDeviation noisy{.name = "f", .amount = 100, .deviation = 10, .counting = 10};
  const double smallest = smallest_of_one_run({});
  EXPECT_EQ(length_needed(noisy, {.relative = 0.1}, 1), 0) << "runs deviate by 1 %, but one does not show it";
  EXPECT_EQ(length_needed(noisy, {.relative = smallest - 0.001}, 1), 0);
  EXPECT_GT(length_needed(noisy, {.relative = smallest + 0.001}, 1), 1);
}

TEST(Plan, ATotalThatTheKernelMeasuresIsNotSampled) {
  Profile exact = run_of({0, 400});
  exact.cpu_known = true;
  exact.cpu_user_ns = 400000000;
  const auto sampled_total = [](const Profile& profile) {
    return run_deviations({profile, profile}, &FakeSymbolizer::open, {})->rows[0].sampled;
  };
  EXPECT_FALSE(sampled_total(exact));
  EXPECT_TRUE(sampled_total(run_of({0, 400})));
}

// Each row makes a change of the others harder to see.
TEST(Plan, FunctionsWithoutTicksOfTheirOwnAreNoRows) {
  const Profile run = with_paths(run_of({0, 0, 300, 200}));
  const auto deviations = run_deviations({run, run}, &FakeSymbolizer::open, {});
  EXPECT_EQ(deviations->rows.size(), 3u) << "the total, f2 and f3";
}

TEST(Plan, TellsDoubtsAndTheUnit) {
  Profile faults = run_of({0, 400});
  faults.event = "page-faults";
  faults.damage.push_back("half a leaf");
  const auto deviations = run_deviations({faults}, &FakeSymbolizer::open, {.files = {"a.pct"}});
  ASSERT_EQ(deviations->doubts.size(), 1u);
  EXPECT_EQ(deviations->doubts[0].profile, "a.pct");
  EXPECT_EQ(deviations->event, "page-faults");
}

TEST(Plan, KnowsTheFamilyOfTheComparison) {
  const Profile run = with_paths(run_of({0, 100, 300, 200}));
  const auto deviations = run_deviations({run, run}, &FakeSymbolizer::open, {});
  const Diff diff = diff_of({run, run}, {run, run});
  EXPECT_EQ(deviations->family.rows, 3u);
  EXPECT_EQ(deviations->family.totals, 1u) << "f1 calls the others";
  for (const Judged judged : {Judged::kWhole, Judged::kRow, Judged::kTotal})
    EXPECT_EQ(deviations->family.level_of(judged), diff.family.level_of(judged));
  EXPECT_DOUBLE_EQ(diff.family.level_of(Judged::kWhole), 0.05 / 2);
  EXPECT_DOUBLE_EQ(diff.family.level_of(Judged::kRow), 0.05 / 4 / 3);
}

TEST(Plan, RowsThatDiffDoesNotTestWeighNothing) {
  const Profile run = with_paths(run_of({0, 2, 300, 4, 2, 5}));
  const auto deviations = run_deviations({run}, &FakeSymbolizer::open, {});
  const Diff diff = diff_of({run}, {run});
  EXPECT_EQ(deviations->family.rows, 2u) << "f2, and f5 with ten ticks on both sides";
  EXPECT_EQ(deviations->family.rows, diff.family.rows);
  EXPECT_EQ(deviations->family.totals, diff.family.totals);
}

TEST(Plan, AgreesWithWhatDiffSaysItSees) {
  const std::vector<Profile> ten = {
      run_of({0, 20000, 2300}), run_of({0, 22000, 1900}), run_of({0, 21000, 2000}), run_of({0, 19000, 2100}),
      run_of({0, 18000, 1700}), run_of({0, 20500, 2200}), run_of({0, 21500, 2050}), run_of({0, 19500, 1950}),
      run_of({0, 18500, 1800}), run_of({0, 20000, 2000})};
  for (const size_t count : {2, 3, 5, 10}) {
    const std::vector<Profile> runs(ten.begin(), ten.begin() + static_cast<ptrdiff_t>(count));
    const Diff diff = diff_of(runs, runs);
    const auto deviations = run_deviations(runs, &FakeSymbolizer::open, {});
    const double level = deviations->family.level_of(Judged::kRow);
    for (const RowDeviation& row : deviations->rows) {
      if (row.name == "total") continue;
      const double seen = visible_change(diff, row_of(diff, row.name)) / row.amount;
      EXPECT_EQ(runs_needed(row, {.relative = seen * 1.001, .level = level}), count) << row.name;
      EXPECT_EQ(runs_needed(row, {.relative = seen * 0.999, .level = level}), count + 1) << row.name;
    }
  }
}

/// Of one run a side what is just large enough has 4.2 standard errors, and less than that is decided.
TEST(Plan, AChangeThatDiffSaysItSeesIsSeen) {
  for (uint64_t ticks : {30, 100, 900, 3000, 100000}) {
    const std::vector<uint64_t> old(10, ticks);
    const Diff nothing = diff_of({run_of(old)}, {run_of(old)});
    const double visible = visible_change(nothing, row_of(nothing, "f3"));
    std::vector<uint64_t> more = old;
    more[3] += static_cast<uint64_t>(std::ceil(visible));
    EXPECT_EQ(row_of(diff_of({run_of(old)}, {run_of(more)}), "f3").verdict, Verdict::kMore) << ticks;
    more[3] = ticks + static_cast<uint64_t>(0.5 * visible);
    EXPECT_EQ(row_of(diff_of({run_of(old)}, {run_of(more)}), "f3").verdict, Verdict::kUndecided) << ticks;
  }
}

struct Runs {
  size_t before, after;
};

/// The part of so many comparisons in which f3 is more, if ten functions deviate for themselves.
double seen_in(int comparisons, Runs runs, double ticks, double deviation, double change) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> speed(1, deviation);
  const auto side_of = [&](size_t count, double ratio) {
    std::vector<Profile> side;
    for (size_t run = 0; run < count; ++run) {
      std::vector<uint64_t> counts;
      for (int function = 0; function < 10; ++function) {
        const double mean = ticks * std::max(0.1, speed(random)) * (function == 3 ? ratio : 1);
        counts.push_back(std::poisson_distribution<uint64_t>(mean)(random));
      }
      side.push_back(run_of(counts));
    }
    return side;
  };
  int seen = 0;
  for (int comparison = 0; comparison < comparisons; ++comparison) {
    const auto before = side_of(runs.before, 1), after = side_of(runs.after, 1 + change);
    seen += row_of(diff_of(before, after), "f3").verdict == Verdict::kMore;
  }
  return static_cast<double>(seen) / comparisons;
}

/// False alarms of the test: at 80 % fewer than 75 % of 1000 comparisons come once in 25,000 times (binomial,
/// z = 4.0), and one run fewer is seen in fewer than 85 %, for 80 % again z = 4.
TEST(Plan, TheRunsThatItAsksForShowTheChange) {
  struct Case {
    double ticks, deviation, change;
  };
  std::vector<Case> cases = {{10000, 0.05, 0.2}, {10000, 0.1, 0.2}, {400, 0.03, 0.3}};
  if (kSanitized) cases.resize(1);  // for its memory alone: a thousand comparisons take a minute
  const int comparisons = kSanitized ? 20 : 1000;
  for (const auto& [ticks, deviation, change] : cases) {
    const double counting = std::sqrt(ticks);
    const RowDeviation row{.name = "f3",
                           .amount = ticks,
                           .deviation = std::hypot(ticks * deviation, counting),
                           .counting = counting};
    const double level = Family{.rows = 10}.level_of(Judged::kRow);
    const size_t runs = runs_needed(row, {.relative = change, .level = level});
    const double seen = seen_in(comparisons, {runs, runs}, ticks, deviation, change),
                 by_one_fewer = seen_in(comparisons, {runs - 1, runs - 1}, ticks, deviation, change);
    if (kSanitized) continue;
    EXPECT_GT(seen, 0.75) << runs << " runs of " << ticks << " ticks";
    EXPECT_LT(by_one_fewer, 0.85) << runs << " runs of " << ticks << " ticks";
  }
}

/// Runs of f3 that deviate from each other by exactly this much, counting included.
std::vector<Profile> runs_that_show(size_t count, double ticks, double deviation) {
  const double all = std::hypot(ticks * deviation, std::sqrt(ticks)), n = static_cast<double>(count);
  std::vector<Profile> side;
  for (size_t run = 0; run < count; ++run) {
    const double place = count % 2 == 1 && run + 1 == count ? 0 : run % 2 == 0 ? 1 : -1;
    const double step = all * std::sqrt((n - 1) / (n - static_cast<double>(count % 2)));
    std::vector<uint64_t> counts(10, static_cast<uint64_t>(ticks));
    counts[3] = static_cast<uint64_t>(ticks + (count > 1 ? place * step : 0));
    side.push_back(run_of(counts));
  }
  return side;
}

/// Its random numbers are always the same: no false alarms. The probability is 80 %; 300 comparisons have a
/// standard deviation of 2.3 points, and the power of so few runs is off by some points.
TEST(Plan, WhatDiffSaysItSeesIsSeenOfSeveralRuns) {
  struct Case {
    Runs runs;
    double ticks, deviation;
  };
  std::vector<Case> cases = {{{2, 2}, 10000, 0.05}, {{2, 2}, 400, 0.05},    {{3, 3}, 10000, 0.05},
                             {{5, 5}, 400, 0.03},   {{10, 10}, 10000, 0.1}, {{2, 4}, 10000, 0.1},
                             {{1, 5}, 10000, 0.1},  {{5, 1}, 400, 0.05},    {{1, 12}, 10000, 0.1},
                             {{2, 20}, 10000, 0.1}};
  if (kSanitized) cases.resize(1);
  for (const auto& [runs, ticks, deviation] : cases) {
    const Diff nothing =
        diff_of(runs_that_show(runs.before, ticks, deviation), runs_that_show(runs.after, ticks, deviation));
    const DiffRow& row = row_of(nothing, "f3");
    const double change = visible_change(nothing, row) / row.amount.before;
    const double seen = seen_in(kSanitized ? 20 : 300, runs, ticks, deviation, change);
    EXPECT_GT(seen, 0.70) << runs.before << " + " << runs.after << " runs of " << ticks << " ticks";
    EXPECT_LT(seen, kSanitized ? 1.01 : 0.95)
        << runs.before << " + " << runs.after << " runs of " << ticks << " ticks";
  }
}

}  // namespace
}  // namespace pctally
