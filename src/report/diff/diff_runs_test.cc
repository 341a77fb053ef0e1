// What the number of runs shows, and runs that are known as a sum alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/merge.h"
#include "report/diff/diff.h"
#include "report/diff/diff_for_test.h"
#include "report/diff/output.h"

namespace pctally {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

double half_of(const Change& change) { return (change.interval.high - change.interval.low) / 2; }

/// Every sample stands for four ticks: its variance is that of a quarter of them.
TEST(Diff, TicksThatComeSeveralAtATimeAreAsSureAsTheirSamples) {
  const Profile each = run_of({0, 5000, 3000});
  Profile four = each;
  four.ledger.samples = 2000;
  four.ledger.weight_squares = 2000 * 16;
  const std::vector<Profile> sure(10, each), unsure(10, four);
  const Diff one = diff_of(sure, sure), other = diff_of(unsure, unsure);
  EXPECT_NEAR(half_of(row_of(other, "f1").amount), 2 * half_of(row_of(one, "f1").amount), 1e-6);
  EXPECT_NEAR(half_of(row_of(other, "f1").share), 2 * half_of(row_of(one, "f1").share), 1e-6);
  EXPECT_NEAR(half_of(other.total.amount), 2 * half_of(one.total.amount), 1e-6);
}

Profile with_cpu_time(Profile profile, uint64_t ms) {
  profile.cpu_known = true;
  profile.cpu_user_ns = ms * 1'000'000;
  return profile;
}

TEST(Diff, CpuTimeIsComparedWhereBothSidesKnowIt) {
  const Profile known = with_cpu_time(run_of({0, 500}), 520), sampled = run_of({0, 500});
  EXPECT_DOUBLE_EQ(diff_of({known}, {known}).total.amount.before, 520);
  for (const Diff& diff : {diff_of({known}, {sampled}), diff_of({sampled}, {known}),
                           diff_of({known}, {with_cpu_time(sampled, 0)})}) {
    EXPECT_DOUBLE_EQ(diff.total.amount.before, 500);
    EXPECT_DOUBLE_EQ(diff.total.amount.after, 500);
  }
}

/// Clocks are read to a period: what agrees to the last digit may differ by one.
TEST(Diff, CpuTimesThatAgreeByChanceDifferByUpToAPeriod) {
  const std::vector<Profile> before(2, with_cpu_time(run_of({0, 500}), 500)),
      after(2, with_cpu_time(run_of({0, 501}), 501));
  const Change& total = diff_of(before, after).total.amount;
  EXPECT_LT(total.interval.low, 0);
  EXPECT_GT(total.p, 0.05);
}

/// Ten ticks in each run: how many runs the other side has says nothing.
TEST(Diff, ARowIsNewOrGoneByTheTicksOfARunOfItsOwnSide) {
  const Profile with = run_of({0, 5000, 40}), without = run_of({0, 5000}), few = run_of({0, 5000, 9});
  const std::vector<Profile> five(5, without), nines(5, few);
  EXPECT_EQ(row_of(diff_of(five, {with}), "f2").verdict, Verdict::kNew);
  EXPECT_EQ(row_of(diff_of({with}, five), "f2").verdict, Verdict::kGone);
  EXPECT_EQ(row_of(diff_of(five, nines), "f2").verdict, Verdict::kMore);
  EXPECT_EQ(row_of(diff_of(nines, five), "f2").verdict, Verdict::kLess);
}

TEST(Diff, NoDeviationIsAssumedOfSeveralRunsOnOneSide) {
  const Profile run = run_of({0, 500});
  EXPECT_TRUE(diff_of({run}, {run}).deviation_assumed);
  EXPECT_FALSE(diff_of({run}, {run, run}).deviation_assumed);
  EXPECT_FALSE(diff_of({run, run}, {run}).deviation_assumed);
}

/// Each pair of them shows it: more runs are no reason for less.
TEST(Diff, TwoRunsASideShowWhatOneDoes) {
  const std::vector<Profile> before = {run_of({0, 700, 0, 50}), run_of({0, 740, 0, 45})},
                             after = {run_of({0, 720, 2500, 52}), run_of({0, 690, 3050, 47})};
  for (const Diff& diff : {diff_of({before[0]}, {after[0]}), diff_of(before, after)}) {
    EXPECT_EQ(diff.total.verdict, Verdict::kMore);
    EXPECT_EQ(row_of(diff, "f2").verdict, Verdict::kNew);
    EXPECT_EQ(diff.decided, 1u);
  }
}

TEST(Diff, WhatMayWellHaveChangedIsNoDifferenceThatWasNotFound) {
  Diff diff = diff_of({run_of({0, 500})}, {run_of({0, 500})});
  diff.total.amount.interval = {10, 900};
  EXPECT_THAT(verdict_sentence(diff), StartsWith("CPU time as a whole: undecided: "));
}

/// The sum of runs as pctally merge makes it: of one period, so a tick stays one.
Profile sum_of(const std::vector<Profile>& runs) {
  Merger merger;
  for (size_t i = 0; i < runs.size(); ++i) {
    Profile run = runs[i];
    run.recording_id[0] = static_cast<uint8_t>(i + 1);
    EXPECT_TRUE(merger.add(std::move(run), "run"));
  }
  return merger.take();
}

/// A merged file has the sums of its runs and the totals of each.
TEST(Diff, AMergedFileIsTheMeanOfItsRuns) {
  const std::vector<Profile> runs = {run_of({0, 500, 300}), run_of({0, 520, 310}), run_of({0, 480, 290})};
  const Profile alone = run_of({0, 500, 300});
  for (const Diff& diff : {diff_of({sum_of(runs)}, {alone}), diff_of({sum_of(runs)}, {alone, alone})}) {
    EXPECT_EQ(diff.decided, 0u) << "three runs are no growth";
    EXPECT_DOUBLE_EQ(row_of(diff, "f1").amount.before, 500);
    EXPECT_DOUBLE_EQ(diff.total.amount.before, 800);
    EXPECT_EQ(diff.old_runs, 3u);
    EXPECT_EQ(diff.old_added, 3u);
    EXPECT_THAT(diff_text(diff, {}), HasSubstr("3 runs are added up in their files"));
    EXPECT_THAT(diff_json(diff, {}), HasSubstr("\"old_added\": 3"));
  }
  const Diff apart = diff_of(runs, {alone, alone}), one = diff_of({alone}, {alone});
  EXPECT_THAT(deviation_sentence(apart), StartsWith("Few runs: "));
  EXPECT_EQ(deviation_sentence(diff_of(std::vector(10, alone), std::vector(10, alone))), "");
  EXPECT_EQ(apart.old_added, 0u);
  EXPECT_THAT(deviation_sentence(one), HasSubstr("One run a side"));
}

/// The kernels of two boots are one, beside a file of one boot, too; and so are vdsos of two builds.
TEST(Diff, AMergedFileOfTwoBootsHasTheKernelOfOne) {
  const auto run_in_kernel = [](uint8_t boot) {
    Profile run = run_of({0, 500}, {}, "[kernel]");
    run.boot_id = {boot};
    run.executables[0].kind = ExecutableKind::kKernel;
    run.executables.push_back({ExecutableKind::kVdso, "[vdso]", {boot}, 0});
    run.positions.push_back({1, 0x208, 300});
    run.ledger.counted = run.ledger.samples = 800;
    return run;
  };
  const Diff diff = diff_of({sum_of({run_in_kernel(1), run_in_kernel(2)})}, {run_in_kernel(3)});
  ASSERT_EQ(diff.rows.size(), 2u);
  EXPECT_DOUBLE_EQ(row_of(diff, "f1").amount.before, row_of(diff, "f1").amount.after);
  EXPECT_EQ(row_of(diff, "f1").object, "[kernel]");
  EXPECT_DOUBLE_EQ(row_of(diff, "f2").amount.before, row_of(diff, "f2").amount.after);
}

/// Means vary less than runs do, so a sum sees more than one of its runs; the total's variance is measured.
TEST(Diff, AMergedFileIsSurerThanOneRun) {
  const std::vector<Profile> before = {run_of({0, 5000}), run_of({0, 5100}), run_of({0, 4900})},
                             after = {run_of({0, 6000}), run_of({0, 6100}), run_of({0, 5900})};
  const Diff sums = diff_of({sum_of(before)}, {sum_of(after)}), runs = diff_of(before, after),
             one = diff_of({before[0]}, {after[0]});
  const auto width = [](const Change& change) { return change.interval.high - change.interval.low; };
  EXPECT_LT(width(row_of(sums, "f1").amount), 0.6 * width(row_of(one, "f1").amount));
  EXPECT_GT(width(row_of(sums, "f1").amount), width(row_of(runs, "f1").amount)) << "15 % is more than 2 %";
  EXPECT_DOUBLE_EQ(width(sums.total.amount), width(runs.total.amount));
  EXPECT_EQ(sums.total.verdict, Verdict::kMore);
}

/// Ticks of a sum of runs with different periods are nanoseconds.
TEST(Diff, AMergedFileOfOtherPeriodsIsMeasuredInEffectiveTicks) {
  Profile slow = run_of({0, 250, 150});
  slow.period_ns = 2000000;
  const Profile sum = sum_of({run_of({0, 500, 300}), slow});
  ASSERT_EQ(sum.period_ns, 1u);
  const Diff diff = diff_of({sum}, {run_of({0, 500, 300, 200})});
  EXPECT_DOUBLE_EQ(row_of(diff, "f1").amount.before, 500);
  EXPECT_EQ(row_of(diff, "f3").verdict, Verdict::kNew);
}

/// One nameless tick a run is none, however many nanoseconds it stands for.
TEST(Diff, AMergedFileLacksNoNamesForFewTicks) {
  const auto stripped = [](uint64_t ticks) {
    Profile slow = run_of({0, ticks}, {2}, "/lib/stripped.so");
    slow.period_ns = 2000000;
    return sum_of({run_of({0, ticks}, {2}, "/lib/stripped.so"), slow});
  };
  const Profile named = run_of({0, 500, 300}, {1}, "/old/stripped.so");
  ASSERT_EQ(stripped(1).period_ns, 1u);
  EXPECT_TRUE(diff_of({stripped(1)}, {named}).doubts.empty());
  EXPECT_EQ(diff_of({stripped(500)}, {named}).doubts.size(), 1u);
}

// A period is drawn for each run: ticks at the same moments after each start find other code in each.
TEST(Diff, AChangeThatTicksInStepWithStartsCanMakeIsUndecided) {
  Profile before = run_of({800, 200}), after = run_of({200, 800});
  EXPECT_EQ(row_of(diff_of({before}, {after}), "f1").verdict, Verdict::kMore);
  before.starts_in_step = after.starts_in_step = 350;
  const Diff diff = diff_of({before}, {after});
  EXPECT_EQ(row_of(diff, "f1").verdict, Verdict::kUndecided) << "60 points; 35 on each side may be wrong";
  EXPECT_EQ(row_of(diff, "f0").verdict, Verdict::kUndecided);
  EXPECT_TRUE(diff.is_in_doubt());
  before.starts_in_step = after.starts_in_step = 250;
  EXPECT_EQ(row_of(diff_of({before}, {after}), "f1").verdict, Verdict::kMore);
  before.starts_in_step = after.starts_in_step = 350;
  const Diff totals = diff_of({with_paths(before)}, {with_paths(after)});
  EXPECT_EQ(totals.decided_totals, 0u);
}

TEST(Diff, RowsThatChangedByAsMuchAreInTheOrderOfTheirNames) {
  const std::vector<Profile> runs = {run_of(std::vector<uint64_t>(60, 100))};
  const Diff diff = diff_of(runs, runs);
  for (size_t i = 1; i < diff.rows.size(); ++i) EXPECT_LT(diff.rows[i - 1].name, diff.rows[i].name);
}

/// Half of the tests' weight is the whole's: enough to decide it at any p where many rows have changed.
TEST(Diff, RowsThatChangedDecideNoWholeThatMayBeTheSame) {
  std::vector<uint64_t> before, after;
  for (int row = 0; row < 40; ++row) {
    before.push_back(row % 2 == 0 ? 400 : 100);
    after.push_back(row % 2 == 0 ? 50 : 600);
  }
  const Diff diff = diff_of({run_of(before)}, {run_of(after)});
  EXPECT_EQ(diff.decided, 40u);
  EXPECT_GT(diff.total.amount.p, 0.05);
  EXPECT_EQ(diff.total.verdict, Verdict::kUndecided);
}

}  // namespace
}  // namespace pctally
