// Totals, with all that a function calls, where a part of the paths is not known.
#include <gmock/gmock.h>

#include "report/diff/diff_for_test.h"
#include "report/diff/limit.h"
#include "report/diff/output.h"

namespace pctally {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// f1 has 10 ticks, as many in f2, which it calls, and 900 in the kernel; f3 has 500.
Profile run_with_kernel_paths() {
  Profile profile = run_of({0, 10, 10, 500});
  profile.kernel_observed = true;
  profile.executables.push_back({ExecutableKind::kKernel, "[kernel]", {2}, 0});
  profile.positions.push_back({1, 0x908, 900});
  profile.ledger.counted += 900;
  profile.ledger.samples += 900;
  profile.paths.recorded = true;
  const auto code = [](uint32_t parent, uint64_t position, uint64_t self, uint32_t executable = 0) {
    return PathTreeNode{.parent = parent,
                        .kind = PathNodeKind::kCode,
                        .executable = executable,
                        .position = position,
                        .self = self};
  };
  profile.paths.context = {{.kind = PathNodeKind::kScope},
                           code(0, 0x108, 10),
                           code(1, 0x208, 10),
                           code(1, 0x908, 900, 1),
                           code(0, 0x308, 500)};
  profile.paths.plane = {{.kind = PathNodeKind::kScope},
                         code(0, 0x100, 920),
                         code(0, 0x200, 10),
                         code(0, 0x300, 500),
                         code(0, 0x900, 900, 1)};
  return profile;
}

Profile run_without_kernel() {
  Profile profile = without_kernel_code(run_with_kernel_paths());
  profile.kernel_observed = false;
  return profile;
}

TEST(Diff, ATotalHasNoKernelCodeWhereItIsLeftOut) {
  const Diff diff = diff_of({run_with_kernel_paths()}, {run_without_kernel()});
  EXPECT_FALSE(diff.blind_to_kernel.empty());
  EXPECT_FALSE(diff.totals_left_out);
  const DiffRow& row = row_of(diff, "f1");
  EXPECT_DOUBLE_EQ(row.total->before, 20);
  EXPECT_DOUBLE_EQ(row.total->difference, 0);
  EXPECT_EQ(diff.decided_totals, 0u);
}

TEST(Diff, TotalsAreLeftOutWhereFoldedPathsMayHoldKernelCode) {
  Profile folded = run_with_kernel_paths();
  folded.paths.context[1].folded = folded.paths.context[3].self;
  folded.paths.context[3].self = 0;
  const Diff diff = diff_of({folded}, {run_without_kernel()}, {.files = {"a.pct", "b.pct"}});
  EXPECT_TRUE(diff.totals_left_out);
  EXPECT_FALSE(row_of(diff, "f1").total);
  const auto said =
      HasSubstr("b.pct does not see all kernel code. Totals are left out: folded paths may hold some.");
  EXPECT_THAT(diff_text(diff, {}), said);
  EXPECT_THAT(diff_markdown(diff, {}, 0), said);
  EXPECT_THAT(diff_json(diff, {}), HasSubstr("\"totals_left_out\": true"));
}

/// f1 calls f2, which has `whole` ticks with a complete path and `cut` with one that is cut above it.
Profile run_with_cuts(uint64_t whole, uint64_t cut) {
  Profile profile = with_paths(run_of({0, 0, whole + cut}));
  profile.paths.context[2].self = whole;
  profile.paths.context.push_back(
      {.parent = 0, .kind = PathNodeKind::kCut, .position = static_cast<uint64_t>(PathEnd::kShortDump)});
  profile.paths.context.push_back({.parent = 3, .kind = PathNodeKind::kCode, .position = 0x208, .self = cut});
  return profile;
}

TEST(Diff, ATotalIsNotLessWhereItsPathsAreCut) {
  const Diff diff = diff_of({run_with_cuts(1000, 0)}, {run_with_cuts(400, 600)});
  EXPECT_EQ(row_of(diff, "f1").total_verdict, Verdict::kUndecided);
  EXPECT_TRUE(row_of(diff, "f1").total_in_doubt);
  const auto said =
      HasSubstr("1 total is undecided: more call paths are, or may be, cut, folded or not kept on one side.");
  EXPECT_THAT(diff_text(diff, {}), said);
  EXPECT_THAT(diff_markdown(diff, {}, 0), said);
  EXPECT_THAT(diff_json(diff, {}), HasSubstr("\"total_in_doubt\": true"));
}

Result<LimitResult> checked(const Diff& diff, const char* limit) {
  return check_limit(diff, *parse_limit(limit));
}

TEST(Limit, OfATotalIsOfAFunctionWithAllItCalls) {
  const Diff diff = diff_of({with_paths(run_of({0, 0, 400, 300}))}, {with_paths(run_of({0, 0, 400, 3000}))});
  EXPECT_EQ(checked(diff, "total(f1) > +10%")->outcome, LimitResult::Outcome::kFail);
  EXPECT_DOUBLE_EQ(checked(diff, "total(f1) > +10%")->measured, 100 * 2700.0 / 700);
  EXPECT_EQ(checked(diff, "total(f1) > 10s")->outcome, LimitResult::Outcome::kPass);
  EXPECT_EQ(checked(diff, "total(f2) > +300ms")->outcome, LimitResult::Outcome::kPass) << "it calls nothing";
  EXPECT_THAT(checked(diff, "share(f1) > +1pp").error().text,
              HasSubstr("total(f1) limits it with all it calls"));
  EXPECT_THAT(checked(diff, "total(f9) > +1%").error().text, HasSubstr("neither side has a row"));
  EXPECT_THAT(checked(diff_of({run_of({0, 5})}, {run_of({0, 5})}), "total(f1) > +1%").error().text,
              HasSubstr("no total without call paths"));
  EXPECT_FALSE(parse_limit("total(f1) > +2pp"));
}

// Such rows are on no call path.
TEST(Limit, OfATotalOfLostTicksIsOfTheTicks) {
  Profile profile = with_paths(run_of({0, 0, 400}));
  profile.ledger.lost = 400;
  const Diff diff = diff_of({profile}, {profile});
  const DiffRow& lost = row_of(diff, "[lost]");
  EXPECT_FALSE(lost.has_callees());
  EXPECT_DOUBLE_EQ(lost.total->before, 400);
  EXPECT_EQ(checked(diff, "total([lost]) > 10ms")->outcome, LimitResult::Outcome::kFail);
}

TEST(Limit, OfATotalMeansAFunctionThatEachSideNamesInItsOwnWay) {
  Diff diff = diff_of({with_paths(run_of({0, 0, 400}))}, {with_paths(run_of({0, 0, 900}))});
  DiffRow old_row = row_of(diff, "f1"), new_row = old_row;
  const auto rename = [](DiffRow* row, const char* name) { row->name = name, row->short_name = "f"; };
  rename(&old_row, "f(int)");
  rename(&new_row, "f(long)");
  old_row.new_on_path = new_row.old_on_path = {};
  old_row.total->after = new_row.total->before = 0;
  diff.rows = {old_row, new_row};
  EXPECT_DOUBLE_EQ(checked(diff, "total(f) > +10%")->measured, 125);
  diff.rows[0].new_on_path.ticks = 5;
  EXPECT_THAT(checked(diff, "total(f) > +10%").error().text, HasSubstr("whose totals do not add up"));
}

/// A limit passes, or fails, if it would also with all paths that are not known.
TEST(Limit, OfATotalAllowsForPathsThatAreNotKnown) {
  const Diff diff = diff_of({run_with_cuts(1000, 0)}, {run_with_cuts(400, 600)});
  EXPECT_TRUE(checked(diff, "total(f1) > -20%")->in_doubt) << "-60 %, or as many as before";
  EXPECT_EQ(checked(diff, "total(f1) > -20%")->outcome, LimitResult::Outcome::kUndecided);
  EXPECT_TRUE(checked(diff, "total(f1) > 800ms")->in_doubt);
  EXPECT_EQ(checked(diff, "total(f1) > 3s")->outcome, LimitResult::Outcome::kPass);
  EXPECT_EQ(checked(diff, "total(f1) > +200%")->outcome, LimitResult::Outcome::kPass);
  const LimitResult amount = *checked(diff, "total(f1) > 3s");
  ASSERT_LT(amount.interval.high, 800);
  EXPECT_TRUE(checked(diff, "total(f1) > 900ms")->in_doubt) << "400 ms, or 1 s";
}

/// An amount may have all paths that are cut, a change only what the sides differ by in them.
TEST(Limit, OfAChangeOfATotalAllowsForTheDifferenceOfThePathsThatAreCut) {
  const Diff diff = diff_of({run_with_cuts(1000, 600)}, {run_with_cuts(1000, 600)});
  EXPECT_FALSE(checked(diff, "total(f1) > +100%")->in_doubt);
  EXPECT_EQ(checked(diff, "total(f1) > +100%")->outcome, LimitResult::Outcome::kPass);
  EXPECT_TRUE(checked(diff, "total(f1) > 1500ms")->in_doubt);
}

// perf's frame pointers lose callers in libraries that have none.
TEST(Diff, ATotalIsNotLessWhereAnotherToolDoesNotSayWhichPathsAreComplete) {
  const Profile ours = run_with_cuts(1000, 0);
  Profile theirs = with_paths(run_of({0, 0, 1000}));
  theirs.paths.ends_known = false;
  theirs.paths.context[2].parent = 0;
  EXPECT_TRUE(row_of(diff_of({ours}, {theirs}), "f1").total_in_doubt);
  Profile more = with_paths(run_of({0, 0, 3000}));
  more.paths.ends_known = false;
  EXPECT_EQ(row_of(diff_of({theirs}, {more}), "f1").total_verdict, Verdict::kNew) << "both sides are alike";
}

/// f1 calls f2, and the paths of `no_room` of its ticks found no room.
Profile run_without_room(uint64_t ticks, uint64_t no_room) {
  Profile profile = with_paths(run_of({0, 0, ticks}));
  profile.paths.context[2].self -= no_room;
  profile.paths.no_room = no_room;
  return profile;
}

TEST(Diff, ATotalIsNotLessWherePathsFoundNoRoom) {
  const Diff diff = diff_of({run_without_room(1000, 0)}, {run_without_room(1000, 600)});
  EXPECT_TRUE(row_of(diff, "f1").total_in_doubt);
}

/// What a short run does not know is a part of it: of as much as the longest run has.
TEST(Diff, UnknownPathsOfAShortRunAreAsManyInALongOne) {
  EXPECT_TRUE(row_of(diff_of({run_with_cuts(1000, 0)}, {run_with_cuts(100, 300)}), "f1").total_in_doubt);
  EXPECT_TRUE(row_of(diff_of({run_with_cuts(100, 300)}, {run_with_cuts(1000, 0)}), "f1").total_in_doubt);
}

/// Kernel code that calls others is on all paths that are cut in user code.
TEST(Diff, ATotalOfKernelCodeThatOneSideAloneHasIsDecided) {
  Profile before = run_with_kernel_paths(), after = run_with_cuts(1000, 800);
  before.paths.context.push_back(
      {.parent = 3, .kind = PathNodeKind::kCode, .executable = 1, .position = 0xa08});
  std::swap(before.paths.context.back().self, before.paths.context[3].self);
  before.positions.back().position = 0xa08;
  before.paths.plane.clear();
  after.kernel_observed = true;
  const DiffRow& row = row_of(diff_of({before}, {after}), "f9");
  ASSERT_TRUE(row.has_callees());
  EXPECT_FALSE(row.total_in_doubt);
  EXPECT_EQ(row.total_verdict, Verdict::kGone);
}

TEST(Diff, ATotalIsNotGoneWhereAllItsPathsAreCut) {
  EXPECT_EQ(row_of(diff_of({run_with_cuts(1000, 0)}, {run_with_cuts(0, 1000)}), "f1").total_verdict,
            Verdict::kUndecided);
}

/// All paths are cut in f1: they have its callee f2, and f1, on them.
Profile run_cut_inside(uint64_t ticks, uint64_t rest) {
  Profile profile = with_paths(run_of({0, rest, ticks}));
  profile.paths.context = {
      {.kind = PathNodeKind::kScope},
      {.parent = 0, .kind = PathNodeKind::kCut, .position = static_cast<uint64_t>(PathEnd::kShortDump)},
      {.parent = 1, .kind = PathNodeKind::kCode, .position = 0x108},
      {.parent = 2, .kind = PathNodeKind::kCode, .position = 0x308, .self = ticks},
      {.parent = 1, .kind = PathNodeKind::kCode, .position = 0x208, .self = rest}};
  return profile;
}

TEST(Diff, ATotalThatChangedInsideOfPathsThatAreAllCutOnBothSidesIsDecided) {
  const Diff diff = diff_of({run_cut_inside(100, 1000)}, {run_cut_inside(900, 200)});
  for (const DiffRow& row : diff.rows) EXPECT_FALSE(row.total_in_doubt) << row.name;
  EXPECT_THAT(diff_text(diff, {}), Not(HasSubstr("more call paths")));
}

TEST(Diff, ATotalThatChangedBesideAsManyCutPathsIsDecided) {
  const Diff less = diff_of({run_with_cuts(1000, 300)}, {run_with_cuts(300, 310)}),
             more = diff_of({run_with_cuts(300, 0)}, {run_with_cuts(1000, 300)});
  EXPECT_EQ(row_of(less, "f1").total_verdict, Verdict::kLess);
  EXPECT_EQ(row_of(more, "f1").total_verdict, Verdict::kMore);
  EXPECT_THAT(diff_text(less, {}), Not(HasSubstr("undecided: more call paths")));
}

/// Two static functions have one name: neither calls the other.
TEST(Diff, TotalsOfNamesakesAddUp) {
  const Diff diff = diff_of({with_paths(run_of({0, 9000, 0, 0, 20000, 0}, {1}, "/bin/cxx"))},
                            {with_paths(run_of({0, 9000, 0, 0, 10000, 10000}, {2}, "/bin/cxx"))});
  const DiffRow& row = row_of(diff, "help");
  EXPECT_DOUBLE_EQ(row.total->difference, 0);
  EXPECT_EQ(row.total_verdict, Verdict::kUndecided);
  EXPECT_FALSE(row.has_callees());
  EXPECT_THAT(diff_text(diff, {}), HasSubstr("0 of 2 rows and 0 of 1 totals changed"));
}

/// The paths of some of their ticks found no room; a forged file has more on paths than there are.
TEST(Diff, TheTotalOfNamesakesIsNeitherLessThanTheirTicksNorMoreThanAll) {
  Profile run = with_paths(run_of({0, 9000, 0, 0, 2000, 1000}, {1}, "/bin/cxx"));
  run.paths.context[2].self -= 1500;
  run.paths.no_room = 1500;
  EXPECT_EQ(row_of(diff_of({run}, {run}), "help").old_on_path.ticks, 3000u);
  run.paths.context[2].self = 100000;
  EXPECT_EQ(row_of(diff_of({run}, {run}), "help").old_on_path.ticks, 12000u);
}

/// ns::log, of 100 ticks, calls its cold part, of 50, and put() calls that, too, where it has 30.
TEST(Diff, ATickOfAFunctionAndItsCloneCountsOnceForItsTotal) {
  Profile profile = run_of({0, 1000, 0, 0, 0, 0, 0, 100, 80}, {1}, "/bin/cxx");
  profile.paths.recorded = true;
  const auto code = [](uint32_t parent, uint64_t position, uint64_t self) {
    return PathTreeNode{.parent = parent, .kind = PathNodeKind::kCode, .position = position, .self = self};
  };
  profile.paths.context = {{.kind = PathNodeKind::kScope},
                           code(0, 0x108, 1000),
                           code(1, 0x708, 100),
                           code(2, 0x808, 50),
                           code(1, 0x808, 30)};
  const Diff diff = diff_of({profile}, {profile});
  const DiffRow& row = row_of(diff, "ns::log(int, char const*)");
  EXPECT_EQ(row.old_side.ticks, 180u);
  EXPECT_EQ(row.old_on_path.ticks, 180u);
}

/// f1 calls f2, which has `noise` ticks, and f3, which calls 60 functions: each has `ticks` and up to 10 more
/// or fewer, all together 60 times `ticks`.
Profile run_of_small_functions(uint64_t run, uint64_t noise, uint64_t ticks) {
  std::vector<uint64_t> all = {0, 0, noise, 0};
  for (uint64_t i = 0; i < 60; ++i) all.push_back(ticks + 5 * ((i + run) % 5) - 10);
  Profile profile = with_paths(run_of(all));
  PathTree& tree = profile.paths.context;
  tree.resize(2);
  tree.push_back({.parent = 1, .kind = PathNodeKind::kCode, .position = 0x208, .self = noise});
  tree.push_back({.parent = 1, .kind = PathNodeKind::kCode, .position = 0x308});
  for (size_t i = 4; i < all.size(); ++i)
    tree.push_back({.parent = 3, .kind = PathNodeKind::kCode, .position = 0x100 * i + 8, .self = all[i]});
  return profile;
}

TEST(Diff, ATotalThatChangedIsADifferenceAndNamed) {
  std::vector<Profile> before, after;
  const uint64_t noise[] = {3000, 9000, 5000, 7000, 6000};
  for (uint64_t run = 0; run < 5; ++run) {
    before.push_back(run_of_small_functions(run, noise[run], 30));
    after.push_back(run_of_small_functions(run, noise[4 - run], 37));
  }
  const Diff diff = diff_of(before, after);
  ASSERT_EQ(diff.decided, 0u);
  ASSERT_EQ(diff.decided_totals, 1u);
  EXPECT_EQ(row_of(diff, "f3").total_verdict, Verdict::kMore);
  const std::string text = diff_text(diff, {});
  EXPECT_THAT(text, HasSubstr("CPU time as a whole: undecided"));
  EXPECT_THAT(text, HasSubstr("\nChanged: f3 with all it calls, more by 420 ms.\n"));
  EXPECT_THAT(text, Not(HasSubstr("would have to rise")));
  EXPECT_THAT(diff_json(diff, {}), Not(HasSubstr("No difference")));
}

TEST(Diff, ATotalThatChangedTheOtherWayIsNoCause) {
  Diff diff = diff_of({with_paths(run_of({0, 500, 300}))}, {with_paths(run_of({0, 500, 2000}))});
  diff.decided = 0;
  DiffRow larger = row_of(diff, "f1");
  larger.name = larger.short_name = "larger";
  larger.total->difference = -3000;
  larger.total_verdict = Verdict::kLess;
  diff.rows.push_back(larger);
  EXPECT_EQ(cause_sentence(diff), "Main cause: f1 with all it calls, more by 1.70 s.");
}

TEST(Diff, OfTotalsThatHoldEachOtherTheInnermostIsNamed) {
  std::vector<Profile> before, after;
  for (uint64_t run = 0; run < 5; ++run) {
    before.push_back(run_of_small_functions(run, 500, 30));
    after.push_back(run_of_small_functions(run, 500, 37));
  }
  const Diff diff = diff_of(before, after);
  ASSERT_EQ(diff.decided, 0u);
  ASSERT_EQ(diff.decided_totals, 2u);
  EXPECT_EQ(cause_sentence(diff), "Main cause: f3 with all it calls, more by 420 ms.");
}

}  // namespace
}  // namespace pctally
