#include "report/account/warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/runs.h"
#include "report/account/warnings_for_test.h"

namespace pctally {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Warnings, AGoodRecordingHasNone) { EXPECT_THAT(warnings(trusty()), IsEmpty()); }

TEST(Warnings, GperftoolsBelowTheKernelsTick) {
  Profile profile = trusty();
  profile.engine = "gperftools";
  profile.period_asked_ns = 10'000'000;  // its default
  EXPECT_THAT(warnings(profile), IsEmpty());
  profile.period_asked_ns = 1'000'000;
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kWarning, "seconds may be too few")));
}

TEST(Warnings, FewTicks) {
  Profile profile = trusty();
  profile.ledger.weight_squares = 20'000;
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kWarning, "only 50 effective samples")));
  profile.ledger = {.counted = 1, .samples = 1, .weight_squares = 25};
  profile.cpu_user_ns = 1'000'000;
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kWarning, "no effective sample: the shares say")));
  profile.ledger = {};
  profile.cpu_user_ns = 0;
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kWarning, "no ticks")));
}

/// The time was there, and was not sampled: another warning says why.
TEST(Warnings, FewTicksOfMuchTimeAreNotForALongerRun) {
  Profile profile = trusty();
  profile.ledger = {.counted = 20, .samples = 20, .weight_squares = 20};
  const auto advice = is(Severity::kWarning, "the shares are rough; record for longer");
  profile.cpu_user_ns = 22 * profile.period_ns;
  profile.cpu_system_ns = 0;
  EXPECT_THAT(warnings(profile), testing::Contains(advice));
  profile.cpu_user_ns = 1000 * profile.period_ns;
  EXPECT_THAT(warnings(profile), Not(testing::Contains(advice)));
  EXPECT_THAT(warnings(profile), testing::Contains(is(Severity::kWarning, "the shares are rough")));
}

TEST(Warnings, AStartHasNoTicks) {
  Profile profile = trusty();
  profile.ledger = {};
  profile.period_asked_ns = 1'000'000;
  profile.cpu_user_ns = 3'900'000;
  EXPECT_THAT(warnings(profile)[0],
              is(Severity::kWarning, "as much as a start and an end take (one period is 1 ms); try"));
}

TEST(Warnings, WhereNothingWasObservedAndNobodyIsNamedTheEnginesBlindSpotsAre) {
  Profile profile = trusty();
  profile.engine = "timer";
  profile.command = {"sh"};
  profile.processes[0].engine = "timer";
  profile.ledger = {};
  profile.cpu_user_ns = 100'000'000;
  EXPECT_THAT(
      warnings(profile),
      ElementsAre(is(Severity::kWarning,
                     "no ticks, although sh used 0.10 s of CPU time: timer sees no static, setuid or "
                     "env -i program; try -e ring"),
                  is(Severity::kWarning,
                     "not sampled: what is short, static or blocks signals; as root, -e bpf samples more")));
  profile.engine = "ring";
  EXPECT_THAT(warnings(profile), testing::Contains(is(Severity::kWarning, "none of it was observed")));
  profile.processes[0].unseen_start_ns = 90'000'000;
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kWarning, "of CPU time: the next warning says why"),
                                             is(Severity::kWarning, "threads with an unseen start")));
}

TEST(Warnings, WhatTheHostTookIsTold) {
  Profile profile = trusty();
  profile.stolen_ns = 10'000'000;
  EXPECT_THAT(warnings(profile), IsEmpty());
  profile.stolen_ns = 30'000'000;
  EXPECT_THAT(warnings(profile),
              ElementsAre(is(Severity::kNote, "the host took CPU time away (3 % of what was used)")));
  profile.cpu_user_ns = 10'000'000'000;
  profile.ledger = {.counted = 10000, .samples = 10000, .weight_squares = 10000};
  EXPECT_THAT(warnings(profile), IsEmpty()) << "0.3 %";
  profile.ledger = {.counted = 1000, .samples = 1000, .weight_squares = 1000};
  profile.cpu_user_ns = 2'000'000'000;
  profile.stolen_ns = 100'000'000;
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kWarning, "or CPU time that the host took"),
                                             is(Severity::kNote, "(5 % of what was used)")));
}

TEST(Warnings, OfAnEventSpeakOfIt) {
  Profile profile = trusty();
  profile.event = "page-faults";
  profile.period_ns = 1;
  profile.cpu_user_ns = 7'000'000'000;  // nothing that page faults could cover
  EXPECT_THAT(warnings(profile), IsEmpty());
  profile.ledger = {.counted = 50, .lost = 50, .samples = 50, .weight_squares = 50};
  profile.throttled = 1;
  EXPECT_THAT(warnings(profile),
              ElementsAre(is(Severity::kIncomplete, "counted; use a higher -c"),
                          is(Severity::kWarning, "the shares are rough; record for longer"),
                          is(Severity::kWarning, "shares of busy code are too low; use a higher -c")));
  EXPECT_EQ(warnings(profile)[1].text.find("-c"), std::string::npos);
  profile.engine = "ring";
  profile.paths.recorded = true;
  EXPECT_THAT(warnings(profile)[0], is(Severity::kIncomplete, "counted; use a higher -c, or -e bpf as root"));
  profile.paths.recorded = false;
  profile.period_ns = 10;
  profile.ledger.lost = 0;
  EXPECT_THAT(warnings(profile)[0], is(Severity::kWarning, "longer or use a lower -c"));
  profile.ledger = {};
  profile.throttled = 0;
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kWarning,
                                                "had fewer page-faults than make one tick, "
                                                "or none was observed")));
  profile.kernel_observed = false;
  EXPECT_THAT(warnings(profile),
              ElementsAre(is(Severity::kWarning, "observed (those in kernel mode need root)")));
}

TEST(Warnings, LossAboveOnePercentIsIncomplete) {
  Profile profile = trusty();
  profile.ledger.lost = 10;
  EXPECT_THAT(warnings(profile), IsEmpty());
  profile.ledger.lost = 20;
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kIncomplete, "2.0 % of the ticks were lost")));
  profile.engine = "trap";
  EXPECT_THAT(warnings(profile),
              testing::Contains(
                  is(Severity::kIncomplete, "2.0 % of the ticks had to wait where signals are blocked")));
}

TEST(Warnings, AGapThatChanceExplainsIsNone) {
  Profile profile = trusty();
  profile.ledger = {.counted = 90, .samples = 900, .weight_squares = 900};
  profile.period_ns = 10'000'000;
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kWarning, "only 9"),
                                             is(Severity::kWarning, "10.0 % of the CPU time was not")));
  profile.machine_cpus = 2;
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kWarning, "only 9")));
}

/// Two CPUs for 1 s. A program ran for 100 ms. They were neither idle nor sampled for 100 ms, which is less
/// than a sixteenth of the idle time, or for 150 ms.
TEST(Warnings, AnIdleMachineWorksAWhileForNobody) {
  for (const uint64_t rest_ms : {100u, 150u}) {
    Profile profile = trusty();
    profile.command = {"@machine"};
    profile.machine_cpus = 2;
    profile.ledger = {.counted = 100, .samples = 100, .weight_squares = 100};
    profile.duration_ns = 1'000'000'000;
    profile.cpu_user_ns = 100'000'000 + rest_ms * 1'000'000;
    profile.cpu_system_ns = 0;
    const Severity severity = rest_ms == 100 ? Severity::kNote : Severity::kWarning;
    EXPECT_THAT(warnings(profile), testing::Contains(is(severity, "of the CPU time was not sampled")))
        << rest_ms;
  }
}

TEST(Warnings, AFullFile) {
  Profile profile = trusty();
  profile.ledger.full = 1;
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kNote, "1 tick (0.1 %) found no room")));
  profile.ledger.full = 30;
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kIncomplete, "30 ticks (2.9 %) found no room")));
}

TEST(Warnings, ARecorderThatDiedAndOneThatLives) {
  Profile profile = trusty();
  profile.closed = false;
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kIncomplete, "cut off after 1.50 s")));
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kIncomplete, "; everything up to then is here")));
  profile.command = {"a"};
  profile.engine = "timer";
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kIncomplete, "s; later ticks may be here, too")));
  profile.paths.recorded = true;
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kIncomplete, "here, too, without their paths")));
  profile.recorder_alive = true;
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kNote, "still recording")));
}

/// It used more than a period later on, or none of the events yet.
TEST(Warnings, WithoutTicksTheCutIsTheCause) {
  Profile profile = trusty();
  profile.ledger = {};
  profile.closed = profile.cpu_known = false;
  for (const char* event : {"", "page-faults"}) {
    profile.event = event;
    EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kIncomplete, "cut off after 1.50 s"),
                                               is(Severity::kWarning, "no ticks in the part that is here")));
  }
}

TEST(Warnings, OfTicksThatComeTooOftenTheRateIsTheReason) {
  Profile profile = trusty();
  profile.engine = "bpf";
  profile.cpu_system_ns = 200'000'000;
  profile.period_ns = 20'000;
  profile.ledger = {.counted = 40'000, .samples = 40'000, .weight_squares = 40'000};
  profile.processes[0].ticks = 40'000;
  EXPECT_THAT(warnings(profile),
              ElementsAre(is(Severity::kWarning,
                             "not sampled: more ticks than this machine delivers; use a lower -F")));
  profile.kernel_observed = false;
  profile.engine = "trap";
  EXPECT_THAT(warnings(profile),
              ElementsAre(is(Severity::kWarning,
                             "of kernel code, more ticks than this machine delivers; use a lower -F")))
      << "it is the kernel that brings the ticks";
  profile.engine = "timer";
  profile.clock_tick_ns = 4'000'000;
  EXPECT_THAT(warnings(profile), Not(testing::Contains(is(Severity::kWarning, "more ticks than this"))))
      << "its ticks come with the kernel's clock";
}

TEST(Warnings, WhoLosesTicksIsNotToAskForMore) {
  Profile profile = trusty();
  profile.ledger = {.lost = 1000};
  for (const Warning& warning : warnings(profile))
    EXPECT_EQ(warning.text.find("higher -F"), std::string::npos) << warning.text;
}

TEST(Warnings, OfLibrariesThatWereUnloaded) {
  Profile profile = trusty();
  profile.engine = "timer";
  profile.executables.push_back({ExecutableKind::kPrivate, "[code since unmapped]", {}, 0});
  const auto number = static_cast<uint32_t>(profile.executables.size() - 1);
  profile.positions.push_back({number, 0, 1000});
  profile.ledger.counted += 1000;
  EXPECT_THAT(warnings(profile),
              testing::Contains(is(Severity::kWarning, "unloaded before they could be named; use -e ring")));
}

/// A sum of the profile's runs, whose periods differ: its ticks stand for 1 ns.
Profile sum_of(Profile profile, std::initializer_list<std::pair<const char*, uint64_t>> engines_and_periods) {
  for (const auto& [engine, period_ns] : engines_and_periods) {
    ProfileRun run = profile;
    run.engine = engine;
    run.period_ns = run.period_asked_ns = period_ns;
    profile.runs.push_back(run);
  }
  profile.ledger.counted = 0;
  for (const ProfileRun& run : profile.runs) profile.ledger.counted += run.ledger.counted * run.period_ns;
  sum_up_runs(&profile);
  return profile;
}

TEST(Warnings, OfASumOfRunsJudgeThePeriodsOfTheRuns) {
  Profile profile = trusty();
  profile.command = {"dd"};
  profile.ledger.weight_squares = 50'000;
  profile.cpu_system_ns = 900'000'000;
  profile.kernel_observed = false;
  EXPECT_THAT(warnings(sum_of(profile, {{"trap", 999'000}, {"trap", 998'000}})),
              ElementsAre(is(Severity::kWarning, "record for longer or use a higher -F"),
                          is(Severity::kWarning, "kernel code took as much (as root, -e bpf samples it)")));
  EXPECT_THAT(warnings(sum_of(profile, {{"trap", 999'000}, {"trap", 20'000}})),
              testing::Contains(is(Severity::kWarning, "than this machine delivers; use a lower -F")));
  EXPECT_THAT(warnings(sum_of(profile, {{"bpf", 999'000}, {"ring", 998'000}})),
              testing::Contains(is(Severity::kWarning, "(needs root or perf_event_paranoid 1)")));
}

TEST(Warnings, RunsWithoutATickWereEachTooShort) {
  Profile profile = trusty();
  profile.command = {"true"};
  profile.ledger = {};
  profile.cpu_user_ns = 30'000'000;
  EXPECT_THAT(
      warnings(sum_of(profile, {{"timer", 50'000'000}, {"timer", 49'000'000}}))[0],
      is(Severity::kWarning, "no ticks: true used 0.06 s, each run less than one period (50 ms); try"));
  EXPECT_THAT(warnings(sum_of(profile, {{"timer", 1'000'000}, {"trap", 999'000}}))[0],
              is(Severity::kWarning, "of CPU time: its engines see no static, setuid or env -i program"));
}

TEST(Warnings, TicksBeyondTheCpuTime) {
  Profile profile = trusty();
  profile.cpu_user_ns = 800'000'000;
  EXPECT_THAT(warnings(profile),
              ElementsAre(is(Severity::kWarning, "25.0 % more than the measured CPU time")));
  for (const auto& [target, reason] : {std::pair{"@running", "lacks the ends of processes"},
                                       std::pair{"@cgroup", "lacks what ran after its last reading"}}) {
    profile.command = {target, "1:init"};
    EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kWarning, reason)));
  }
}

TEST(Warnings, ProcessesNobodySaw) {
  Profile profile = trusty();
  for (int i = 0; i < 5; ++i)
    profile.processes.push_back(
        {.pid = i, .comm = "p" + std::to_string(i), .engine = "", .note = "statically linked"});
  profile.processes.push_back({.pid = 9, .comm = "other", .engine = "", .note = "setuid"});
  EXPECT_THAT(warnings(profile),
              ElementsAre(is(Severity::kIncomplete, "1 process was not observed (other): setuid"),
                          is(Severity::kIncomplete,
                             "5 processes were not observed (p0, p1, p2, ...): statically linked")));
}

TEST(Warnings, OfProcessesNobodySawTellWhatThoseUsed) {
  Profile profile = trusty();
  profile.processes.push_back(
      {.pid = 2, .comm = "x", .engine = "", .note = "setuid", .cpu_ns = 1'000'000'000});
  profile.processes.push_back(
      {.pid = 3, .comm = "y", .engine = "", .note = "statically linked", .cpu_ns = 2'000'000'000});
  EXPECT_THAT(warnings(profile),
              ElementsAre(is(Severity::kIncomplete, "not observed (x, over 1.00 s): setuid"),
                          is(Severity::kIncomplete, "not observed (y, over 2.00 s): statically linked")));
}

/// Those that were sampled again lack what their note says and no more.
TEST(Warnings, OnlyProcessesThatWereInterruptedForGoodAreAReason) {
  Profile profile = trusty();
  profile.engine = profile.processes[0].engine = "timer";
  profile.processes[0].note = "took the signal";
  profile.cpu_system_ns = 200'000'000;
  const auto reason = testing::Contains(is(Severity::kWarning, "not sampled: the reason given above, "));
  EXPECT_THAT(warnings(profile), reason);
  profile.processes[0].sampled_again = true;
  EXPECT_THAT(warnings(profile), Not(reason));
}

TEST(Warnings, TheEnginesOwnLimits) {
  Profile profile = trusty();
  profile.clock_tick_ns = 4'000'000;
  profile.throttled = 3;
  profile.ledger.outside = 100;
  profile.damage = {"3 names"};
  profile.cpu_known = false;
  EXPECT_THAT(
      warnings(profile),
      ElementsAre(is(Severity::kIncomplete, "damaged: 3 names"),
                  is(Severity::kWarning, "throttled sampling 3 times"),
                  is(Severity::kWarning, "9.1 % of the ticks lie outside"),
                  is(Severity::kNote,
                     "kernel's 4 ms clock: shares are wrong where the program runs in step with it")));
}

// Where the recorder looks up in /proc what the library met, and there is something else to use.
TEST(Warnings, TicksOutsideInTheProgramHaveACauseAndAWayOut) {
  Profile profile = trusty();
  profile.ledger.outside = 100;
  profile.command = {"a"};
  profile.engine = "ring";
  EXPECT_THAT(warnings(profile), testing::Contains(is(Severity::kWarning, "outside all known code")));
  const auto way = is(Severity::kWarning, "load late; use -e ring");
  EXPECT_THAT(warnings(profile), Not(testing::Contains(way)));
  profile.engine = "timer";
  EXPECT_THAT(warnings(profile), testing::Contains(way));
  profile.command.clear();
  EXPECT_THAT(warnings(profile), Not(testing::Contains(way))) << "it recorded itself";
}

/// A tenth of the ticks are below 400 frames, the others below none.
Profile deep(const std::string& engine) {
  Profile profile = trusty();
  profile.engine = engine;
  PathTree& tree = profile.paths.context;
  tree.push_back({.kind = PathNodeKind::kScope});
  for (uint32_t i = 0; i < 400; ++i)
    tree.push_back({.parent = i, .kind = PathNodeKind::kCode, .position = i, .self = i == 0 ? 900u : 0u});
  tree.back().self = 100;
  return profile;
}

TEST(Warnings, DeepStacksAreSampledMoreRarely) {
  // n = 3: a sample there stands for 1 to 7 ticks, for 5 by weight; all together for 1.4. sqrt(5 / 1.4).
  EXPECT_THAT(warnings(deep("timer")),
              ElementsAre(is(Severity::kNote,
                             "10 % of the ticks are in stacks deeper than 128 frames, which are "
                             "sampled more rarely: the true ± there is up to 1.9 times the one shown")));
  EXPECT_THAT(warnings(deep("ring")), IsEmpty());
  EXPECT_THAT(warnings(deep("bpf")), IsEmpty()) << "at the full rate";
  Profile shallow = deep("timer");
  std::swap(shallow.paths.context[128].self, shallow.paths.context.back().self);
  EXPECT_THAT(warnings(shallow), IsEmpty()) << "a scope is no frame";
  // The rate is that of the deepest stack: n = 3, too, where 200 frames have all the ticks but one.
  Profile profile = deep("timer");
  profile.paths.context.back().self = 1;
  profile.paths.context[200].self = 99;
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kNote, "up to 1.9 times")));
}

// By bpf the samples' own weights tell: 25 of 4 ticks where the stacks are deep.
TEST(Warnings, DeepStacksByBpfWeighWhatTheyCarry) {
  Profile profile = deep("bpf");
  profile.ledger.samples = 925;
  profile.ledger.weight_squares = 900 + 25 * 16;
  EXPECT_THAT(warnings(profile),
              ElementsAre(is(Severity::kNote,
                             "10 % of the ticks are in stacks deeper than 128 frames, which are "
                             "sampled more rarely: the true ± there is up to 1.8 times the one shown")));
  // A sum whose runs' periods differ is in nanoseconds; the runs have ticks.
  profile.runs = {profile, profile};
  profile.ledger = {.counted = 2'000'000'000, .samples = 1850, .weight_squares = 2e15};
  EXPECT_THAT(warnings(profile), testing::Contains(is(Severity::kNote, "up to 1.8 times")));
  for (ProfileRun& run : profile.runs) run.ledger.samples = run.ledger.counted;
  for (ProfileRun& run : profile.runs) run.ledger.weight_squares = static_cast<double>(run.ledger.counted);
  EXPECT_THAT(warnings(profile), Not(testing::Contains(is(Severity::kNote, "deeper than"))));
}

}  // namespace
}  // namespace pctally
