#include "report/diff/doubt.h"

#include <gtest/gtest.h>

#include <span>

namespace pctally {
namespace {

/// A run that used one second; its ticks stand for `sampled_ms` of it.
Profile run_with(uint64_t sampled_ms) {
  Profile profile;
  profile.engine = "ring";
  profile.period_ns = profile.period_asked_ns = 1000000;
  profile.closed = profile.kernel_observed = profile.cpu_known = true;
  profile.cpu_user_ns = 1000000000;
  profile.executables.push_back({ExecutableKind::kFile, "/x/y", {1}, 0});
  profile.executables.push_back({ExecutableKind::kKernel, "[kernel]", {2}, 0});
  profile.positions.push_back({0, 8, sampled_ms});
  profile.ledger.counted = profile.ledger.samples = sampled_ms;
  return profile;
}

Profile blind(Profile profile, const char* engine = "trap") {
  profile.engine = engine;
  profile.kernel_observed = false;
  return profile;
}

std::vector<std::string> texts_of(const Profile& before, const Profile& after,
                                  Grouping by = Grouping::kFunction) {
  const std::vector<ComparedProfile> both = {{&before, "a"}, {&after, "b"}};
  std::vector<std::string> texts;
  for (const Doubt& doubt : doubts_of(std::span(both).first(1), std::span(both).subspan(1), by))
    texts.push_back(doubt.text().substr(0, 40));
  return texts;
}

using Texts = std::vector<std::string>;

TEST(Doubt, NamesTheProfileOnce) {
  EXPECT_EQ(texts_of(run_with(1000), run_with(1000)), Texts{});
  Profile cut = run_with(1000);
  cut.closed = false;
  cut.damage = {"half a leaf", "another"};
  EXPECT_EQ(texts_of(run_with(1000), cut), Texts{"b: the recording was cut off after 0.00 "});
}

// Its recording went on: the CPU time up to then is no run's.
TEST(Doubt, IsASnapshot) {
  Profile copy = run_with(1000);
  copy.snapshot = true;
  EXPECT_EQ(texts_of(run_with(1000), copy), Texts{"b: a snapshot of the first 0.00 s of a r"});
}

TEST(Doubt, IsAThrottledProfile) {
  Profile throttled = run_with(1000);
  throttled.throttled = 3;
  EXPECT_EQ(texts_of(throttled, run_with(1000)), Texts{"a: the kernel throttled sampling 3 times"});
}

// It says the period that was asked for; ticks may come more rarely.
TEST(Doubt, IsGperftoolsBelowTheKernelsTickBesideAnother) {
  Profile fast = run_with(1000), slow = fast, timer = fast;
  timer.engine = "timer";  // kernel code is in the same rows
  fast.engine = slow.engine = "gperftools";
  slow.period_ns = slow.period_asked_ns = 10000000;
  EXPECT_EQ(texts_of(fast, timer), Texts{"a: gperftools gets at most one tick a ke"});
  EXPECT_EQ(texts_of(slow, fast), Texts{"b: gperftools gets at most one tick a ke"});
  EXPECT_EQ(texts_of(fast, fast), Texts{});
}

TEST(Doubt, IsMissingTimeUnlessBothSidesLackIt) {
  EXPECT_EQ(texts_of(run_with(490), run_with(1000)), Texts{"a: 51.0 % of the CPU time was not sample"});
  EXPECT_EQ(texts_of(run_with(490), run_with(510)), Texts{});
  EXPECT_EQ(texts_of(run_with(970), run_with(1000)), Texts{}) << "as much as a report bears";
}

/// What an engine lacks that does not see the kernel is more by kernel code.
TEST(Doubt, IsNoMissingTimeThatBothSidesLackBesideKernelCode) {
  Profile unseen = blind(run_with(290));
  unseen.cpu_user_ns = 800000000;
  unseen.cpu_system_ns = 200000000;
  EXPECT_EQ(texts_of(run_with(490), unseen), Texts{}) << "51 %, and 51 % and the kernel's 20 %";
  EXPECT_EQ(texts_of(run_with(1000), unseen), Texts{"b: 71.0 % of the CPU time was not sample"});
}

TEST(Doubt, IsNoKernelCodeThatIsLeftOut) {
  Profile unseen = blind(run_with(300));
  unseen.cpu_user_ns = 300000000;
  unseen.cpu_system_ns = 700000000;
  EXPECT_EQ(texts_of(run_with(1000), unseen), Texts{});
  const std::vector<std::string> said = texts_of(run_with(1000), unseen, Grouping::kProcess);
  EXPECT_EQ(said, Texts{"b: it does not see kernel code, a has ro"});
}

TEST(Doubt, IsKernelCodeInTheRowsOfItsCallers) {
  Profile caller = run_with(1000);
  caller.engine = "timer";
  EXPECT_EQ(texts_of(run_with(1000), caller), Texts{"b: it has kernel code in the rows of its"});
  EXPECT_EQ(texts_of(caller, caller), Texts{});
}

/// Another tool's.
Profile imported(const char* engine) {
  Profile profile = run_with(1000);
  profile.engine = engine;
  profile.period_ns = profile.period_asked_ns = 10000000;
  profile.cpu_known = false;
  return profile;
}

TEST(Doubt, IsKernelCodeThatGperftoolsHasInTheRowsOfItsCallers) {
  Profile timer = run_with(1000);
  timer.engine = "timer";
  const Profile gperftools = imported("gperftools"), ring = run_with(1000), trap = blind(run_with(1000));
  EXPECT_EQ(texts_of(ring, gperftools), Texts{"b: it has kernel code in the rows of its"});
  EXPECT_EQ(texts_of(gperftools, trap), Texts{"b: it does not see kernel code, a has ke"});
  EXPECT_EQ(texts_of(timer, gperftools), Texts{});
  EXPECT_EQ(texts_of(gperftools, gperftools), Texts{});
}

/// With ticks of kernel code.
Profile with_kernel(Profile profile) {
  profile.positions.push_back({1, 8, 1});
  ++profile.ledger.counted;
  return profile;
}

TEST(Doubt, IsAnotherToolsProfileThatDoesNotSayWhereItsKernelCodeIs) {
  const Profile ring = run_with(1000), trap = blind(run_with(1000)), gperftools = imported("gperftools");
  for (const char* engine : {"pprof", "folded"}) {
    const Profile unknown = imported(engine);
    for (const Profile* other : {&ring, &trap, &gperftools})
      EXPECT_EQ(texts_of(*other, unknown), Texts{"b: it does not say where its kernel code"}) << engine;
    EXPECT_EQ(texts_of(unknown, unknown), Texts{}) << engine;
    EXPECT_EQ(texts_of(ring, with_kernel(unknown)), Texts{}) << engine;
  }
  EXPECT_EQ(texts_of(imported("pprof"), imported("folded")), Texts{});
  EXPECT_EQ(texts_of(imported("perf"), ring), Texts{}) << "its events say it";
}

/// Its header sums up what its runs are.
Profile runs_added(const std::vector<Profile>& profiles) {
  Profile sum = profiles[0];
  sum.engine = "several";
  for (const Profile& profile : profiles) {
    sum.runs.push_back(profile);
    sum.kernel_observed = sum.kernel_observed && profile.kernel_observed;
  }
  return sum;
}

TEST(Doubt, IsASumOfRunsThatHaveKernelCodeInDifferentRows) {
  const Profile ring = run_with(1000);
  Profile timer = run_with(1000);
  timer.engine = "timer";
  const Profile mixed = runs_added({timer, ring});
  EXPECT_EQ(kernel_code_of(mixed), KernelCode::kMixed);
  EXPECT_EQ(kernel_code_of(runs_added({timer, timer})), KernelCode::kInCaller);
  EXPECT_EQ(kernel_code_of(runs_added({ring, ring})), KernelCode::kApart);
  EXPECT_EQ(kernel_code_of(runs_added({imported("pprof"), imported("pprof")})), KernelCode::kUnknown);
  EXPECT_EQ(kernel_code_of(runs_added({imported("pprof"), with_kernel(ring)})), KernelCode::kMixed);
  EXPECT_EQ(texts_of(ring, mixed), Texts{"b: it sums up runs that have kernel code"});
  EXPECT_EQ(texts_of(timer, mixed), Texts{"b: it sums up runs that have kernel code"});
  EXPECT_EQ(texts_of(mixed, mixed), Texts{"b: it sums up runs that have kernel code"});
  EXPECT_EQ(texts_of(runs_added({ring, ring}), ring), Texts{});
}

TEST(Doubt, IsNoSumOfWhichKernelCodeIsLeftOut) {
  const Profile ring = run_with(1000), trap = blind(run_with(1000)), sum = runs_added({trap, ring});
  EXPECT_EQ(kernel_code_of(sum), KernelCode::kPartly);
  EXPECT_EQ(texts_of(trap, sum), Texts{});
  EXPECT_EQ(texts_of(ring, sum), Texts{});
  EXPECT_EQ(texts_of(sum, sum, Grouping::kProcess), Texts{"b: it sums up runs that see kernel code "});
  for (const Profile* other : {&ring, &trap, &sum}) {
    const std::vector<ComparedProfile> both = {{other, "other"}, {&sum, "sum"}};
    EXPECT_NE(blind_to_kernel(both, Grouping::kFunction), "");
  }
}

TEST(ComparedProfile, UserCodeAloneIsLeftWithoutTheKernel) {
  Profile profile = run_with(600);
  profile.positions.push_back({1, 8, 400});
  profile.ledger.counted = profile.ledger.samples = 1000;
  profile.ledger.weight_squares = 4000;
  profile.ledger.lost = 5;
  profile.paths.recorded = true;
  profile.paths.context = {{.kind = PathNodeKind::kScope},
                           {.parent = 0, .kind = PathNodeKind::kCode, .position = 8, .self = 600},
                           {.parent = 1, .kind = PathNodeKind::kCode, .executable = 1, .self = 400}};
  profile.runs.push_back(profile);
  const Profile user = without_kernel_code(profile);
  ASSERT_EQ(user.positions.size(), 1u);
  EXPECT_DOUBLE_EQ(user.ledger.weight_squares, 2400);
  EXPECT_EQ(user.runs[0].ledger.counted, 600u);
  EXPECT_EQ(user.ledger.counted, 600u);
  EXPECT_EQ(user.ledger.samples, 600u);
  EXPECT_EQ(user.ledger.lost, 5u);
  EXPECT_EQ(user.paths.context[1].self, 600u);
  EXPECT_EQ(user.paths.context[2].self, 0u);
}

TEST(ComparedProfile, OneThatClaimsFewerTicksThanItHasInTheKernelKeepsItsLedger) {
  Profile forged = with_kernel(run_with(600));
  forged.positions.back().ticks = 5000;
  EXPECT_EQ(without_kernel_code(forged).ledger.counted, forged.ledger.counted);
}

TEST(ComparedProfile, OneThatIsBlindToTheKernelIsNamed) {
  const Profile all = run_with(1000), user = blind(run_with(1000));
  const std::vector<ComparedProfile> mixed = {{&all, "a"}, {&user, "b"}},
                                     alike = {{&user, "a"}, {&user, "b"}};
  EXPECT_EQ(blind_to_kernel(mixed, Grouping::kFunction), "b");
  EXPECT_EQ(blind_to_kernel(mixed, Grouping::kProcess), "");
  EXPECT_EQ(blind_to_kernel(alike, Grouping::kFunction), "");
}

std::vector<std::string> texts_of_sides(const std::vector<Profile>& before,
                                        const std::vector<Profile>& after) {
  std::vector<ComparedProfile> all;
  for (const Profile& profile : before) all.push_back({&profile, "old." + std::to_string(all.size())});
  for (const Profile& profile : after) all.push_back({&profile, "new." + std::to_string(all.size())});
  std::vector<std::string> texts;
  const std::span sides(all);
  for (const Doubt& doubt :
       doubts_of(sides.first(before.size()), sides.subspan(before.size()), Grouping::kFunction))
    texts.push_back(doubt.text());
  return texts;
}

// The kernel divides the time of a short run by its own tick of 4 ms: more runs must not decide less.
TEST(Doubt, OfManyShortRunsTheSidesAreCompared) {
  std::vector<Profile> runs;
  for (const uint64_t system_ms : {0, 80, 8, 72, 40, 20, 60}) {
    Profile run = blind(run_with(1000));
    run.cpu_user_ns = (1040 - system_ms) * 1'000'000;
    run.cpu_system_ns = system_ms * 1'000'000;
    runs.push_back(run);
    if (system_ms == 0) runs.back().ledger.counted = runs.back().ledger.samples = 940;
  }
  EXPECT_EQ(texts_of_sides(runs, runs), Texts{});
  std::vector<Profile> lacking = runs;
  for (Profile& run : lacking) run.cpu_user_ns += 150'000'000;
  EXPECT_NE(texts_of_sides(runs, lacking), Texts{}) << "one side lacks much more";
}

TEST(Doubt, AProgramThatFailedOnItsWay) {
  Profile well = run_with(1000), aborted = well;
  aborted.exit_status = 6;
  EXPECT_EQ(texts_of_sides({well, well}, {aborted, well}),
            Texts{"new.2: its program ended by signal 6, that of old.0 ended well"});
  EXPECT_EQ(texts_of_sides({aborted}, {aborted}), Texts{}) << "all did";
  well.exit_status = 2 << 8;
  EXPECT_EQ(texts_of_sides({well}, {aborted}),
            Texts{"old.0: its program ended with status 2, that of new.1 ended by signal 6"});
}

TEST(Doubt, AMuchHigherRateOfTicks) {
  Profile often = run_with(1000), seldom = often;
  often.period_asked_ns = 100'000;
  seldom.period_asked_ns = 1'000'000;
  EXPECT_EQ(texts_of_sides({seldom}, {often}),
            Texts{"new.1: it has 10000 ticks a second, old.0 1000: that alone costs time"});
  often.period_asked_ns = 800'000;
  EXPECT_EQ(texts_of_sides({seldom}, {often}), Texts{});
}

TEST(Doubt, ARunThatTookMuchLongerThanMostOfItsSide) {
  Profile run = run_with(1000), disturbed = run_with(2400);
  disturbed.cpu_user_ns = 2'400'000'000;
  EXPECT_EQ(texts_of_sides({run, run, run, run}, {run, disturbed, run}),
            Texts{"new.5: it used 2.4 times the CPU time of most runs of its side; record it again"});
  EXPECT_EQ(texts_of_sides({run, run}, {run, disturbed}), Texts{}) << "of two nobody knows";
  disturbed.command = {"another"};
  EXPECT_EQ(texts_of_sides({run, run, run}, {run, disturbed, run}), Texts{}) << "another program";
}

TEST(Doubt, OfManyTheFirstAreShown) {
  std::vector<Doubt> doubts(10, Doubt{"a.pct", "it was throttled"});
  EXPECT_EQ(first_texts(doubts), std::vector<std::string>(10, "a.pct: it was throttled"));
  doubts.resize(120, doubts[0]);
  EXPECT_EQ(first_texts(doubts).size(), 10u);
  EXPECT_EQ(first_texts(doubts).back(), "and 111 more, see --json");
}

/// strip keeps the build id, and the names of what the object exports.
TEST(Doubt, AnObjectOfOneBuildIsComparedIfItsNamesAreThereOnBothSides) {
  MeasuredRun named, stripped, elsewhere;
  named.ticks = {{{"work", "a.out"}, 900}, {{"sin@plt", "a.out"}, 100}, {{"other", "b.so"}, 900}};
  named.named["a.out"] = {.all = 1000, .nameless = 0};
  stripped.ticks = {{{"[a.out+0x1139]", "a.out"}, 900}, {{"sin@plt", "a.out"}, 100}};
  elsewhere.ticks = {{{"[a.out+0x2000]", "a.out"}, 900}, {{"work", "a.out"}, 90}, {{"sin@plt", "a.out"}, 10}};
  stripped.named["a.out"] = {.all = 1000, .nameless = 900};
  elsewhere.named["a.out"] = {.all = 1000, .nameless = 900};
  const MatchingObjects one_build{.renamed = {}, .same_build = {"a.out"}};
  const auto doubts = [&](const MeasuredRun& before, const MeasuredRun& after) {
    return doubts_of_names({before}, {after}, one_build, {}, Grouping::kFunction).size();
  };
  EXPECT_EQ(doubts(named, stripped), 1u);
  EXPECT_EQ(doubts(stripped, named), 1u);
  EXPECT_EQ(doubts(named, elsewhere), 0u) << "what has no name ran";
  EXPECT_EQ(doubts(elsewhere, named), 0u);
}

}  // namespace
}  // namespace pctally
