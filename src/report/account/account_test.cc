#include "report/account/account.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/time_ns.h"

namespace pctally {
namespace {

TEST(Account, AddsUpExactly) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 10'000; ++round) {
    Profile profile;
    profile.period_ns = random() % 2 ? random() % 10'000'000 : random();
    profile.cpu_known = true;
    profile.cpu_user_ns = random() >> random() % 64;
    profile.cpu_system_ns = random() >> random() % 64;
    profile.ledger = {.counted = random() >> (4 + random() % 60),
                      .outside = random() % 100,
                      .full = random() % 9,
                      .lost = random() % 9};
    Account account = account_of(profile);
    EXPECT_EQ(account.cpu_ns, account.sampled_ns + account.lost_ns + account.unsampled_ns);
  }
}

TEST(Account, OfAnEventHasNoTimeButTheCpus) {
  Profile profile;
  profile.event = "page-faults";
  profile.period_asked_ns = profile.period_ns = 3;
  profile.cpu_known = true;
  profile.cpu_user_ns = 2'000'000'000;
  profile.duration_ns = 3'000'000'000;
  profile.machine_cpus = 2;
  profile.ledger = {.counted = 10, .outside = 1, .full = 1, .lost = 2, .samples = 12};
  Account account = account_of(profile);
  EXPECT_EQ(account.sampled_events, 36);
  EXPECT_EQ(account.lost_events, 6);
  EXPECT_EQ(account.cpu_ns, 2'000'000'000);
  EXPECT_EQ(account.delivered_hz, 6);
  EXPECT_EQ(account.asked_hz, 0);
  for (int64_t time : {account.sampled_ns, account.lost_ns, account.unsampled_ns, account.chance_ns})
    EXPECT_EQ(time, 0);
  EXPECT_EQ(unsampled_share(account), 0);
}

TEST(Account, MayBeSlightlyNegative) {
  Profile profile;
  profile.period_ns = 1'000'000;
  profile.cpu_known = true;
  profile.cpu_user_ns = 9'500'000;
  profile.ledger.counted = 10;
  EXPECT_EQ(account_of(profile).unsampled_ns, -500'000);
}

TEST(Account, ChanceIsTheBinomials) {
  Profile profile;
  profile.period_ns = 1'000'000;
  profile.duration_ns = 10'000'000'000;
  profile.cpu_known = true;
  profile.cpu_user_ns = 5'000'000'000;
  profile.ledger.counted = 5'100;
  EXPECT_EQ(account_of(profile).chance_ns, 0);
  profile.machine_cpus = 2;
  Account account = account_of(profile);
  double sd = std::sqrt(0.75 * 5100 + 2);  // the program had a quarter of 20 CPU seconds
  EXPECT_NEAR(static_cast<double>(account.chance_ns), 1.96e6 * sd, 1e5);
  EXPECT_DOUBLE_EQ(unsampled_beyond_chance(account), 0);
  profile.ledger.counted = 6'000;
  account = account_of(profile);
  EXPECT_NEAR(unsampled_beyond_chance(account), -0.2 + static_cast<double>(account.chance_ns) / 5e9, 1e-9);
}

/// The first and the last tick of each CPU.
TEST(Account, ChanceOfNoTickIsThatOfTheCpus) {
  Profile profile;
  profile.period_ns = 1'000'000;
  profile.duration_ns = 10'000'000'000;
  profile.machine_cpus = 4;
  EXPECT_NEAR(static_cast<double>(account_of(profile).chance_ns), 1.96e6 * 2, 1e3);
}

TEST(Account, ATimeThatNobodyCanHaveIsTheLongest) {
  EXPECT_EQ(duration_of(uint64_t{1} << 40, uint64_t{1} << 40), static_cast<int64_t>(kLongestTimeNs));
  EXPECT_EQ(duration_of(3, 1'000'000), 3'000'000);
}

/// A tick at the start and one at the end: of the kernel's clock where ticks follow it.
TEST(Account, RoundingIsOfTwoTicksAndOfEachRun) {
  Profile profile;
  profile.period_ns = 1'000'000;
  EXPECT_EQ(account_of(profile).rounding_ns, 2'000'000);
  profile.clock_tick_ns = 4'000'000;
  EXPECT_EQ(account_of(profile).rounding_ns, 8'000'000);
  profile.runs.assign(3, profile);
  EXPECT_NEAR(static_cast<double>(account_of(profile).rounding_ns), 8e6 * std::sqrt(3), 1)
      << "independent of one another";
}

/// 750 ms of 750 samples beside 250 that were read off a clock, and 1000 ms of 100 samples.
TEST(Account, RunsCountByTheTimeThatTheySampled) {
  Profile sum;
  sum.period_ns = 1;
  sum.runs.resize(2);
  sum.runs[0].period_ns = 1'000'000;
  sum.runs[0].measured_ticks = 250;
  sum.runs[0].ledger = {.counted = 1000, .samples = 750, .weight_squares = 750};
  sum.runs[1].period_ns = 10'000'000;
  sum.runs[1].ledger = {.counted = 100, .samples = 100, .weight_squares = 100};
  EXPECT_NEAR(account_of(sum).effective_samples, 1750.0 * 1750 / (750 + 1000 * 1000 / 100.0), 1e-6);
}

TEST(Account, EveryReasonForUnsampledTimeIsAPart) {
  Profile profile;
  profile.processes.resize(2);
  for (ProfileProcess& process : profile.processes) {
    process.blocked_ns = 1;
    process.small_stack_ns = 20;
    process.timerless_ns = 300;
    process.unseen_start_ns = 4000;
  }
  std::vector<int64_t> parts;
  for (const UnsampledPart& part : unsampled_parts(profile)) parts.push_back(part.ns);
  EXPECT_EQ(parts, (std::vector<int64_t>{2, 40, 600, 8000}));
}

TEST(Account, RatesAreDeliveriesPerCpuSecond) {
  Profile profile;
  profile.period_asked_ns = 1'000'000;
  profile.period_ns = 1'000'000;
  profile.ledger = {.counted = 4000, .samples = 1000, .weight_squares = 16'000};
  Account account = account_of(profile);
  EXPECT_DOUBLE_EQ(account.asked_hz, 1000);
  EXPECT_DOUBLE_EQ(account.delivered_hz, 250);
  EXPECT_DOUBLE_EQ(account.effective_samples, 1000);
  profile.cpu_known = true;
  profile.cpu_user_ns = 5'000'000'000;
  EXPECT_DOUBLE_EQ(account_of(profile).delivered_hz, 200);
}

/// 250 ticks of the start of a process, counted at once, and 750 deliveries.
TEST(Account, TimeReadOffAClockIsNoSample) {
  Profile profile;
  profile.executables = {{ExecutableKind::kStart, "[process start]", {}, 0},
                         {ExecutableKind::kFile, "/bin/a", {}, 0}};
  profile.positions = {{0, 0, 250}, {1, 0x10, 750}};
  profile.ledger = {.counted = 1000, .samples = 750, .weight_squares = 750};
  EXPECT_DOUBLE_EQ(account_of(profile).effective_samples, 750);
  profile.ledger.weight_squares = 3 * 750;
  EXPECT_DOUBLE_EQ(account_of(profile).effective_samples, 250);
}

TEST(Account, ASumOfRunsOfOtherPeriodsHasTimesOrEventsForTicks) {
  Profile profile;
  EXPECT_EQ(counted_ticks(profile, 1), "1 tick");
  profile.period_ns = 1;
  EXPECT_EQ(counted_ticks(profile, 1'500'000), "1.5 ms") << "of another tool";
  profile.event = "page-faults";
  EXPECT_EQ(counted_ticks(profile, 1), "1 tick") << "of record -c 1";
  profile.event.clear();
  profile.runs.resize(2);
  EXPECT_EQ(counted_ticks(profile, 996'722'841), "996.7 ms");
  EXPECT_EQ(counted_ticks(profile, 12'345'000'000), "12.35 s");
  EXPECT_EQ(tick_figure(profile, 1'500'000), "1.5 ms");
  EXPECT_EQ(tick_title(profile), "time");
  EXPECT_EQ(part_of_ticks(profile, 990'888'627, 1'023'000'000), "990.9 of 1023.0 ms");
  EXPECT_EQ(part_of_ticks(profile, 9'500'000'000, 12'000'000'000), "9.50 of 12.00 s");
  profile.event = "page-faults";
  EXPECT_EQ(counted_ticks(profile, 1203), "1,203 events");
  EXPECT_EQ(part_of_ticks(profile, 1000, 1203), "1,000 of 1,203 events");
  profile.period_ns = 1'000'000;
  EXPECT_EQ(counted_ticks(profile, 1203), "1,203 ticks");
}

TEST(Account, OfRunsWhoseTicksAreNanosecondsTheSamplesAreCounted) {
  Profile profile;
  profile.period_ns = 1'000'000;
  profile.ledger = {.counted = 10, .lost = 2, .samples = 5};
  EXPECT_EQ(recorded(profile).number, 12u);
  EXPECT_STREQ(recorded(profile).word, "tick");
  profile.period_ns = 1;
  EXPECT_EQ(recorded(profile).number, 5u);
  EXPECT_STREQ(recorded(profile).word, "sample");
  profile.runs.resize(2);  // a sum of periods 3 and 7
  for (ProfileRun& run : profile.runs) run.ledger = {.counted = 4, .samples = 4};
  profile.runs[0].period_ns = 3;
  profile.runs[1].period_ns = 7;
  EXPECT_EQ(recorded(profile).number, 8u);
  EXPECT_STREQ(recorded(profile).word, "tick");
  profile.runs[1].period_ns = 1;  // of another tool, with samples of unlike times
  profile.runs[1].ledger = {.counted = 3'412'000'000, .samples = 341};
  EXPECT_EQ(recorded(profile).number, 345u);
  EXPECT_STREQ(recorded(profile).word, "sample");
}

// 150 runs of 3 ms, each of which lacks one of its ticks.
TEST(Account, WhatManyShortRunsLackIsNoRounding) {
  Profile sum;
  ProfileRun run;
  run.cpu_known = true;
  run.period_ns = 1'000'000;
  run.cpu_user_ns = 3'000'000;
  run.ledger = {.counted = 2, .samples = 2, .weight_squares = 2};
  sum.runs.assign(150, run);
  static_cast<ProfileRun&>(sum) = run;
  sum.cpu_user_ns = 450'000'000;
  sum.ledger = {.counted = 300, .samples = 300, .weight_squares = 300};
  EXPECT_NEAR(unsampled_beyond_chance(account_of(sum)), (0.150 - 0.002 * std::sqrt(150)) / 0.450, 1e-6);
  sum.runs.clear();
  EXPECT_NEAR(unsampled_beyond_chance(account_of(sum)), (0.150 - 0.002) / 0.450, 1e-6) << "one recording";
}

TEST(Account, AnEmptyProfileHasNoRates) {
  Account account = account_of({});
  EXPECT_EQ(account.asked_hz, 0);
  EXPECT_EQ(account.delivered_hz, 0);
  EXPECT_EQ(unsampled_share(account), 0);
}

}  // namespace
}  // namespace pctally
