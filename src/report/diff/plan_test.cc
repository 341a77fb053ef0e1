#include <gtest/gtest.h>

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
  const PlannedChange twentieth{.relative = 0.05, .rows = 3}, tenth{.relative = 0.1, .rows = 3};
  EXPECT_GT(runs_needed(rows[1], twentieth), 3 * runs_needed(rows[1], tenth));
  EXPECT_GT(runs_needed(rows[2], tenth), runs_needed(rows[1], tenth));
  EXPECT_EQ(runs_needed({.name = "f", .deviation = 1}, tenth), 0u);
}

TEST(Plan, MorePowerTakesMoreRuns) {
  const RowDeviation row{.name = "f", .amount = 100, .deviation = 10};
  // 2 * ((2.037 + 0.8416) * 10 / 10)^2 = 16.6, with Student's t of 32 degrees; with 1.6449 for 95 %: 27
  EXPECT_EQ(runs_needed(row, {.relative = 0.1}), 17u);
  EXPECT_EQ(runs_needed(row, {.relative = 0.1, .power = 0.95}), 27u);
}

TEST(Plan, OneRunASideShowsOnlyWhatExceedsItsAssumedDeviation) {
  const RowDeviation steady{.name = "f", .amount = 100, .deviation = 1, .counting = 1};
  // 2 * ((4.303 + 0.8416) * 1 / 5)^2 = 2.1, and for three runs 2 * ((2.776 + 0.8416) * 1 / 5)^2 = 1.05
  EXPECT_EQ(runs_needed(steady, {.relative = 0.05}), 3u);
  EXPECT_EQ(runs_needed(steady, {.relative = 0.5}), 2u);
  EXPECT_EQ(runs_needed(steady, {.relative = 0.6}), 1u);
}

TEST(Plan, LongerRunsHelpAgainstCountingNoiseAlone) {
  const RowDeviation noisy{.name = "f", .amount = 100, .deviation = 10, .counting = 10},
      varying{.name = "f", .amount = 100, .deviation = 10, .counting = 6};
  const PlannedChange change{.relative = 0.1};
  EXPECT_NEAR(length_needed(noisy, change, 5), 19.8 / 5, 0.05);  // t of 8 degrees is 2.306
  EXPECT_EQ(length_needed(varying, change, 5), 0) << "runs themselves deviate by 8";
  EXPECT_GT(length_needed(varying, change, 20), 0);
}

TEST(Plan, OneRunASideIsAssumedToDeviateHoweverLongItIs) {
  const RowDeviation noisy{.name = "f", .amount = 100, .deviation = 10, .counting = 10};
  const double smallest = smallest_of_one_run({});
  EXPECT_NEAR(smallest, 0.15 * 1.4142 * 2.8016, 1e-3);
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

/// Both take Student's t and the total among the rows.
TEST(Plan, AgreesWithWhatDiffSaysItSees) {
  const std::vector<Profile> runs = {run_of({0, 20000, 2300}), run_of({0, 22000, 1900}),
                                     run_of({0, 21000, 2000}), run_of({0, 19000, 2100}),
                                     run_of({0, 18000, 1700})};
  const Diff diff = diff_of(runs, runs);
  const auto deviations = run_deviations(runs, &FakeSymbolizer::open, {});
  for (const RowDeviation& row : deviations->rows) {
    if (row.name == "total") continue;
    const double seen = visible_change(diff, row_of(diff, row.name)) / row.amount;
    const size_t rows = deviations->rows.size();
    EXPECT_EQ(runs_needed(row, {.relative = seen * 1.001, .rows = rows}), 5u) << row.name;
    EXPECT_EQ(runs_needed(row, {.relative = seen * 0.98, .rows = rows}), 6u) << row.name;
  }
}

}  // namespace
}  // namespace pctally
