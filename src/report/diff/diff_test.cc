#include "report/diff/diff.h"

#include <gmock/gmock.h>

#include <gtest/gtest.h>
#include <sstream>

#include <cmath>

#include "report/diff/diff_for_test.h"
#include "report/diff/measured_run.h"
#include "report/diff/output.h"
#include "report/names/short_name.h"

namespace pctally {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

LimitResult passed() {
  return {.limit = *parse_limit("total > +3%"), .outcome = LimitResult::Outcome::kPass};
}

/// An export shows where each of several functions of a name starts: elsewhere in another build.
TEST(Diff, FunctionsThatAnExportNamesByTheirAddressAreTheSameInAnotherBuild) {
  const auto key = [](const char* function) {
    Row row;
    row.function = function;
    row.object = "a.out";
    return key_of(row, Grouping::kFunction, {});
  };
  EXPECT_EQ(key("work [0x114b]"), key("work [0x116c]"));
  EXPECT_EQ(key("work.isra.0 [0x114b]"), key("work"));
  EXPECT_NE(key("work [0x114b]"), key("help [0x114b]"));
}

TEST(Diff, NamesWhatGrewAndLeavesTheRestUndecided) {
  Diff diff = diff_of({run_of({0, 500, 300, 0})}, {run_of({0, 500, 900, 200})});
  EXPECT_EQ(row_of(diff, "f2").verdict, Verdict::kMore);
  EXPECT_EQ(row_of(diff, "f3").verdict, Verdict::kNew);
  EXPECT_EQ(row_of(diff, "f1").verdict, Verdict::kUndecided);  // in ms: its share fell because the whole grew
  EXPECT_EQ(diff.rows[0].name, "f2");
  EXPECT_EQ(diff.decided, 2u);
  EXPECT_THAT(cause_sentence(diff), HasSubstr("f2 and f3, more by"));
}

TEST(Diff, AFunctionWithoutTicksOfItsOwnHasATotalAndNoRow) {
  Diff diff = diff_of({with_paths(run_of({0, 0, 300}))}, {with_paths(run_of({0, 0, 2000}))});
  EXPECT_EQ(row_of(diff, "f1").total_verdict, Verdict::kMore);
  EXPECT_EQ(diff.rows.size(), 2u);
  EXPECT_EQ(diff.rows_with_ticks, 1u);
  const std::string text = diff_text(diff, {});
  EXPECT_THAT(text, HasSubstr("1 of 1 rows and 1 of 1 totals changed"));
  EXPECT_THAT(text.substr(0, text.find("function with all it calls")), Not(HasSubstr("  f1  ")));
  EXPECT_THAT(diff_markdown(diff, {}, 0), Not(HasSubstr("undecided</summary>")));
}

TEST(Diff, ATotalIsJudgedWhereAFunctionCallsOthers) {
  Diff diff = diff_of({with_paths(run_of({0, 500, 300}))}, {with_paths(run_of({0, 500, 2000}))});
  const DiffRow& caller = row_of(diff, "f1");
  EXPECT_EQ(caller.verdict, Verdict::kUndecided);  // it does itself what it did
  EXPECT_EQ(caller.total_verdict, Verdict::kMore);
  EXPECT_DOUBLE_EQ(caller.total->difference, 1700);
  EXPECT_FALSE(row_of(diff, "f2").has_callees());
  EXPECT_EQ(diff.decided_totals, 1u);
  EXPECT_THAT(diff_json(diff, {}), Not(HasSubstr("\"total_verdict\": \"undecided\"")))
      << "that of f2 is its own";
  const std::string text = diff_text(diff, {});
  EXPECT_THAT(text, HasSubstr("function with all it calls\n"));
  EXPECT_THAT(text, HasSubstr("1 of 2 rows and 1 of 1 totals changed"));
  EXPECT_THAT(diff_markdown(diff, {}, 0),
              HasSubstr("| function with all it calls | |\n|--:|--:|--:|--:|--:|:--|:--|\n| +1.7 |"));
}

TEST(Diff, WithoutPathsThereAreNoTotals) {
  const std::string text = diff_text(diff_of({run_of({0, 500, 300})}, {run_of({0, 500, 2000})}), {});
  EXPECT_THAT(text, Not(HasSubstr("all it calls")));
  EXPECT_THAT(text, HasSubstr("1 of 2 rows changed"));
}

Profile run_with_command(Profile profile, std::vector<std::string> command) {
  profile.command = std::move(command);
  return profile;
}

TEST(Diff, TheProgramMayHaveAnotherName) {
  const Profile before =
      run_with_command(run_of({0, 500, 300}, {1}, "/x/old"), {"taskset", "1", "./old", "in"});
  const Profile after =
      run_with_command(run_of({0, 500, 300}, {2}, "/y/new"), {"taskset", "1", "./new", "in"});
  Diff diff = diff_of({before}, {after});
  EXPECT_EQ(diff.rows.size(), 2u);
  EXPECT_EQ(row_of(diff, "f1").object, "new");
  EXPECT_EQ(row_of(diff, "f1").old_side.ticks, 500u);
  EXPECT_THAT(diff_text(diff, {}), HasSubstr("\nCompared as one object: old and new.\n"));
  EXPECT_THAT(diff_markdown(diff, {}, 0), HasSubstr("old and new"));
  EXPECT_THAT(diff_json(diff, {}), HasSubstr("\"old\": \"new\""));
  Diff objects = diff_of({before}, {after}, {.by = Grouping::kObject});
  ASSERT_EQ(objects.rows.size(), 1u);
  EXPECT_EQ(objects.rows[0].name, "new");
  EXPECT_EQ(objects.rows[0].verdict, Verdict::kUndecided);
}

TEST(Diff, AProgramThatOneOfTheRunsAloneNamesIsAnotherOne) {
  const Profile named = run_with_command(run_of({0, 500}, {1}, "/x/old"), {"./old"}),
                unnamed = run_with_command(named, {"./wrapper"}),
                after = run_with_command(run_of({0, 500}, {2}, "/y/new"), {"./new"});
  EXPECT_FALSE(diff_of({named, named}, {after}).objects.renamed.empty());
  EXPECT_TRUE(diff_of({named, unnamed}, {after}).objects.renamed.empty());
}

TEST(Diff, AProgramAtAnotherPlaceOfTheCommandIsAnotherOne) {
  Diff diff = diff_of({run_with_command(run_of({0, 500}, {1}, "/x/old"), {"./old"})},
                      {run_with_command(run_of({0, 500}, {2}, "/y/new"), {"nice", "./new"})});
  EXPECT_EQ(diff.rows.size(), 2u);
  EXPECT_TRUE(diff.objects.renamed.empty());
}

TEST(Diff, AnotherVersionOfALibraryIsTheSameObject) {
  Diff diff =
      diff_of({run_of({0, 500}, {1}, "/lib/libz.so.1.2.13")}, {run_of({0, 500}, {2}, "/lib/libz.so.1.3")});
  ASSERT_EQ(diff.rows.size(), 1u);
  EXPECT_EQ(diff.rows[0].object, "libz.so.1.3");
}

TEST(Diff, OfTwoVersionsOnOneSideNobodyKnowsWhichIsMeant) {
  Profile both = run_of({0, 500}, {2}, "/lib/libz.so.1.3");
  both.executables.push_back({ExecutableKind::kFile, "/lib/libz.so.2", {3}, 0});
  both.positions.push_back({1, 0x108, 100});
  both.ledger.counted += 100;
  EXPECT_TRUE(diff_of({run_of({0, 500}, {1}, "/lib/libz.so.1.2.13")}, {both}).objects.renamed.empty());
}

TEST(Diff, BothOrdersAgree) {
  Diff forth = diff_of({run_of({0, 500, 300, 0})}, {run_of({0, 500, 900, 200})});
  Diff back = diff_of({run_of({0, 500, 900, 200})}, {run_of({0, 500, 300, 0})});
  EXPECT_EQ(row_of(back, "f2").verdict, Verdict::kLess);
  EXPECT_EQ(row_of(back, "f3").verdict, Verdict::kGone);
  EXPECT_EQ(forth.decided, back.decided);
  EXPECT_DOUBLE_EQ(row_of(forth, "f2").amount.difference, -row_of(back, "f2").amount.difference);
}

TEST(Diff, TheSameProfileTwiceIsNoDifference) {
  Diff diff = diff_of({run_of({0, 500, 300, 20})}, {run_of({0, 500, 300, 20})});
  EXPECT_EQ(diff.decided, 0u);
  EXPECT_THAT(verdict_sentence(diff),
              MatchesRegex("No difference found: .*, \\+0.* % \\(-.* to \\+.* %\\); .*"));
  EXPECT_THAT(power_sentence(diff), HasSubstr("would have to rise by"));
}

TEST(Diff, TheWholeIsUndecidedWhereItsIntervalHoldsNoChange) {
  std::vector<Profile> before, after;
  for (uint64_t noise : {100, 9000, 1500, 7800, 2200, 200, 8900, 1600, 7700, 2300})
    before.push_back(run_of({0, noise, 500, 500, 500, 500}));
  for (uint64_t noise : {100, 9000, 1700, 7600, 2200, 300, 8800, 1700, 7600, 2400})
    after.push_back(run_of({0, noise, 50, 50, 50, 50}));
  const Diff diff = diff_of(before, after);
  EXPECT_EQ(diff.decided, 4u);
  EXPECT_LT(diff.total.amount.interval.low, 0);
  EXPECT_GT(diff.total.amount.interval.high, 0);
  EXPECT_EQ(diff.total.verdict, Verdict::kUndecided);
  EXPECT_THAT(verdict_sentence(diff), HasSubstr("CPU time as a whole: undecided"));
  EXPECT_THAT(cause_sentence(diff), StartsWith("Changed: f2, f3 and f4, less by"));
}

/// From the least that it fell by to the most.
TEST(Diff, TheWholeFellFromTheSmallerToTheLargerEnd) {
  const std::vector<Profile> before(10, run_of({0, 5000})), after(10, run_of({0, 4000}));
  const std::string sentence = verdict_sentence(diff_of(before, after));
  double low = 0, high = 0;
  ASSERT_EQ(sscanf(sentence.c_str(), "CPU time fell by 20.0 %% (%lf to %lf %%)", &low, &high), 2) << sentence;
  EXPECT_LT(low, 20);
  EXPECT_GT(high, 20);
}

TEST(Diff, AmountsArePerUnitOfWork) {
  Diff diff = diff_of({run_of({0, 500})}, {run_of({0, 500})}, {.work = 10});
  EXPECT_DOUBLE_EQ(row_of(diff, "f1").amount.before, 50);
}

TEST(Diff, TheNewSideMayDoOtherWork) {
  Diff diff = diff_of({run_of({0, 5000})}, {run_of({0, 10000})}, {.work = 10, .new_work = 20});
  EXPECT_DOUBLE_EQ(row_of(diff, "f1").amount.before, 500);
  EXPECT_DOUBLE_EQ(row_of(diff, "f1").amount.after, 500);
  EXPECT_DOUBLE_EQ(diff.total.amount.difference, 0);
}

TEST(Diff, AmountsHaveTheUnitThatShowsThem) {
  const auto text = [](double work) {
    return diff_text(diff_of({run_of({0, 500})}, {run_of({0, 1000})}, {.work = work}), {});
  };
  EXPECT_THAT(text(1), AllOf(HasSubstr("change ms"), HasSubstr("+500 "), HasSubstr("500 ms to 1.00 s")));
  EXPECT_THAT(text(100), AllOf(HasSubstr("change ms"), HasSubstr("+5.0 ")));
  EXPECT_THAT(text(2e6),
              AllOf(HasSubstr("change ns"), HasSubstr("+250.0 "), HasSubstr("250 ns a unit of work")));
  EXPECT_THAT(text(2e4), AllOf(HasSubstr("change us"), HasSubstr("+25.0 "), HasSubstr("to 50.0 us a unit")));
  EXPECT_THAT(diff_markdown(diff_of({run_of({0, 500})}, {run_of({0, 1000})}, {.work = 2e6}), {}, 0),
              AllOf(HasSubstr("| change ns |"), HasSubstr("| +250 |")));
}

/// The columns at which the words of a line end.
std::vector<size_t> ends_of_words(const std::string& line) {
  std::vector<size_t> ends;
  for (size_t i = 1; i <= line.size(); ++i)
    if (line[i - 1] != ' ' && (i == line.size() || line[i] == ' ')) ends.push_back(i);
  return ends;
}

TEST(DiffOutput, ColumnsOfLargeFiguresStandBelowTheirHeads) {
  std::vector<Profile> before = {run_of({0, 400000000000, 3})}, after = {run_of({0, 900000000000, 4})};
  before[0].event = after[0].event = "instructions";
  std::istringstream text(diff_text(diff_of(before, after), {}));
  std::string head, row, small;
  while (std::getline(text, head) && !head.contains("change")) continue;
  std::getline(text, row) && std::getline(text, small);
  const std::vector<size_t> ends = ends_of_words(head), row_ends = ends_of_words(row),
                            small_ends = ends_of_words(small);
  ASSERT_GE(std::min(row_ends.size(), small_ends.size()), 5u) << text.str();
  for (size_t i : {0, 1, 2, 3, 4}) EXPECT_EQ(row_ends[i], small_ends[i]) << text.str();
  EXPECT_EQ(ends[5] - 1, row_ends[4]) << text.str();  // ± has two bytes
}

TEST(DiffOutput, TinyAmountsHaveThreeFigures) {
  const Diff diff = diff_of({run_of({0, 500})}, {run_of({0, 2500})}, {.work = 1e12});
  EXPECT_THAT(verdict_sentence(diff), HasSubstr(": 0.0005 ns a unit of work to 0.0025 ns a unit of work;"));
  EXPECT_THAT(diff_text(diff, {}), HasSubstr("+0.00200 "));
}

TEST(Diff, SharesStandBesideAmountsWhereNoNameIsCutForThem) {
  const Diff diff = diff_of({run_of({0, 500, 500})}, {run_of({0, 1500, 500})});
  EXPECT_THAT(diff_text(diff, {.width = 80}), AllOf(HasSubstr("share pp"), HasSubstr("     +25.0  f1")));
  EXPECT_THAT(diff_text(diff, {.width = 60}), Not(HasSubstr("share pp")));
  EXPECT_THAT(diff_markdown(diff, {}, 0), HasSubstr("| +25.0 | `f1` |"));
}

TEST(Diff, TicksOfEveryRowAddUpToTheRuns) {
  Diff diff = diff_of({run_of({0, 5, 7, 11}), run_of({0, 6, 8, 12})}, {run_of({0, 500, 1, 3})});
  uint64_t before = 0, after = 0;
  for (const DiffRow& row : diff.rows) before += row.old_side.ticks, after += row.new_side.ticks;
  EXPECT_EQ(before, 49u);
  EXPECT_EQ(after, 504u);
}

TEST(Diff, NamelessCodeIsMatchedByAddressWithinOneBuildOnly) {
  Diff same = diff_of({run_of({0, 90}, {1}, "/lib/stripped.so")}, {run_of({0, 90}, {1}, "/lib/stripped.so")});
  EXPECT_EQ(same.rows[0].name, "[stripped.so+0x100]");
  Diff rebuilt =
      diff_of({run_of({0, 90}, {1}, "/lib/stripped.so")}, {run_of({0, 90}, {2}, "/lib/stripped.so")});
  EXPECT_EQ(rebuilt.rows[0].name, "[stripped.so]");
}

/// The functions of a side that was stripped, or has no debug info, are not gone.
TEST(Diff, AnObjectThatHasNoNamesOnOneSideIsNotCompared) {
  const Profile named = run_of({0, 500, 300}), stripped = run_of({0, 500, 300}, {2}, "/lib/stripped.so");
  Profile old_stripped = run_of({0, 500, 300}, {1}, "/old/stripped.so");
  const Diff diff = diff_of({old_stripped}, {stripped}, {.files = {"old.pct", "new.pct"}});
  EXPECT_EQ(diff.decided, 0u);
  ASSERT_EQ(diff.doubts.size(), 1u);
  EXPECT_EQ(diff.doubts[0].text(),
            "new.pct: 100 % of stripped.so there has no name, so rows of stripped.so cannot be compared");
  EXPECT_EQ(diff_of({stripped}, {old_stripped}, {.files = {"old.pct", "new.pct"}}).doubts[0].profile,
            "old.pct");
  EXPECT_TRUE(diff_of({stripped}, {stripped}).doubts.empty());
  EXPECT_TRUE(diff_of({named}, {named}).doubts.empty());
  EXPECT_TRUE(diff_of({old_stripped}, {stripped}, {.by = Grouping::kObject}).doubts.empty());
  const Profile same_build = run_of({0, 500, 300}, {2}, "/old/stripped.so");
  EXPECT_EQ(diff_of({same_build}, {stripped}).doubts.size(), 1u) << "its debug file was there";
  EXPECT_EQ(diff_of({old_stripped}, {stripped, stripped}, {.files = {"old.pct", "1.pct", "2.pct"}})
                .doubts[0]
                .profile,
            "1.pct");
}

/// Adds an object with 400 ticks.
Profile with_namesake(Profile profile, const char* path) {
  const auto object = static_cast<uint32_t>(profile.executables.size());
  profile.executables.push_back({ExecutableKind::kFile, path, {7}, 0});
  profile.positions.push_back({object, 0x108, 400});
  profile.ledger.counted += 400;
  profile.ledger.samples += 400;
  return profile;
}

/// A report names two objects of one file name by their paths.
TEST(Diff, AnObjectIsTheSameBesideANamesake) {
  const Profile alone = run_of({0, 500}), both = with_namesake(run_of({0, 500}), "/z/y");
  const Diff diff = diff_of({alone}, {both}, {.by = Grouping::kObject});
  ASSERT_EQ(diff.rows.size(), 1u);
  EXPECT_EQ(diff.rows[0].name, "y");
  EXPECT_EQ(diff.rows[0].old_side.ticks, 500u);
  EXPECT_EQ(diff.rows[0].new_side.ticks, 900u);
  EXPECT_EQ(diff.objects.renamed, (std::map<std::string, std::string>{{"/x/y", "y"}, {"/z/y", "y"}}));
  EXPECT_EQ(diff_of({both}, {both}, {.by = Grouping::kObject}).rows.size(), 2u);
}

/// Folded stacks have no objects, nor has the text of perf script -F without dso.
TEST(Diff, AFunctionWithoutAnObjectIsThatOfTheOnlyObjectThatHasIt) {
  const Profile folded = run_of({0, 500, 300}, {}, kNoObject);
  for (const bool paths : {false, true}) {
    const Profile before = paths ? with_paths(folded) : folded,
                  after = paths ? with_paths(run_of({0, 500, 300})) : run_of({0, 500, 300});
    const Diff diff = diff_of({before}, {after});
    ASSERT_EQ(diff.rows.size(), 2u);
    EXPECT_EQ(row_of(diff, "f1").object, "y");
    EXPECT_EQ(row_of(diff, "f1").old_side.ticks, 500u);
    EXPECT_EQ(row_of(diff, "f1").new_side.ticks, 500u);
    EXPECT_EQ(diff.decided + diff.decided_totals, 0u);
  }
  const Profile two = with_namesake(run_of({0, 500}), "/x/z");
  EXPECT_EQ(diff_of({run_of({0, 900}, {}, kNoObject)}, {two}).rows.size(), 3u) << "which is not known";
}

TEST(Diff, ClonesOfAFunctionAreTheFunction) {
  EXPECT_EQ(without_clone_suffix("f.isra.0"), "f");
  EXPECT_EQ(without_clone_suffix("f.part.12.constprop.3"), "f");
  EXPECT_EQ(without_clone_suffix("f.cold"), "f");
  EXPECT_EQ(without_clone_suffix("f(int) [clone .isra.0] [clone .cold]"), "f(int)");
  EXPECT_EQ(without_clone_suffix("f.llvm.8675309"), "f");
  EXPECT_EQ(without_clone_suffix("main.main.func1"), "main.main.func1");
  EXPECT_EQ(without_clone_suffix("v1.2"), "v1.2");
}

/// Half of the interval of a share, in percent points.
double share_half_width(const std::vector<Profile>& before, const std::vector<Profile>& after,
                        const char* name) {
  const Interval interval = row_of(diff_of(before, after), name).share.interval;
  return (interval.high - interval.low) / 2;
}

TEST(Diff, AShareOfNearlyAllVariesLittle) {
  const auto one_run = [](uint64_t row, uint64_t rest) {
    return share_half_width({run_of({0, row, rest})}, {run_of({0, row, rest})}, "f1");
  };
  const double z = 1.96, both = std::sqrt(2.0);
  const auto expected = [&](double share, double ticks, double relative) {
    return 100 * z * both * std::sqrt(share * (1 - share) / ticks + squared(relative * share));
  };
  EXPECT_NEAR(one_run(500, 9500), expected(0.05, 10000, 0.15), 0.01);
  EXPECT_NEAR(one_run(5000, 5000), expected(0.5, 10000, 0.15 * both * 0.5), 0.02);
  EXPECT_NEAR(one_run(9900, 100), expected(0.99, 10000, 0.15 * both * 0.01), 0.02);
  EXPECT_LT(one_run(10000, 0), 0.1);
  EXPECT_GT(one_run(10000, 0), 0) << "as if one tick had been elsewhere";
  EXPECT_NEAR(one_run(9900, 100), one_run(100, 9900), 0.5) << "what one row has, the others do not";
  const std::vector<Profile> runs(5, run_of({0, 9900, 100}));
  EXPECT_NEAR(share_half_width(runs, runs, "f1"),
              2.306 * std::sqrt(2.0 / 5) * 100 * std::sqrt(0.0099 / 10000), 0.01);
}

TEST(Diff, RefusesToCompareUnlikeThings) {
  Profile faults = run_of({0, 5});
  faults.event = "page-faults";
  auto diff = make_diff({run_of({0, 5})}, {faults}, &FakeSymbolizer::open, {});
  ASSERT_FALSE(diff);
  EXPECT_STREQ(diff.error().text,
               "one profile counts CPU time, another page-faults: they cannot be compared");
}

/// "heap" in bytes, and a number of them. What has no unit is a number.
TEST(Diff, RefusesEventsOfUnlikeUnits) {
  Profile bytes = run_of({0, 1000}), number = bytes, none = bytes;
  bytes.event = number.event = none.event = "heap";
  bytes.event_unit = "bytes";
  number.event_unit = "count";
  const auto refused = make_diff({bytes}, {number}, &FakeSymbolizer::open, {});
  ASSERT_FALSE(refused);
  EXPECT_STREQ(refused.error().text,
               "one profile has heap in bytes, another in count: they cannot be compared");
  EXPECT_FALSE(make_diff({none}, {bytes}, &FakeSymbolizer::open, {}));
  EXPECT_TRUE(make_diff({none}, {number}, &FakeSymbolizer::open, {}));
}

TEST(Diff, DoubtsAreNamed) {
  Profile damaged = run_of({0, 5});
  damaged.damage.push_back("half a leaf");
  const Diff diff = diff_of({run_of({0, 5})}, {damaged}, {.files = {"a.pct", "b.pct"}});
  for (const std::string& text :
       {diff_text(diff, {}), diff_markdown(diff, {}, 20), diff_json(diff, {}), diff_junit(diff, {passed()})})
    EXPECT_THAT(text, HasSubstr("b.pct: the file is damaged: half a leaf"));
  EXPECT_EQ(diff_of({run_of({0, 5})}, {damaged}).doubts.at(0).profile, "new run 1");
}

TEST(DiffOutput, JunitCallsAPassInDoubtAnError) {
  Profile cut = run_of({0, 500});
  cut.closed = false;
  const std::string sure = diff_junit(diff_of({run_of({0, 500})}, {run_of({0, 500})}), {passed()}),
                    doubted = diff_junit(diff_of({run_of({0, 500})}, {cut}), {passed()});
  EXPECT_THAT(sure, AllOf(HasSubstr("failures=\"0\" errors=\"0\""), Not(HasSubstr("<error"))));
  EXPECT_THAT(doubted,
              AllOf(HasSubstr("failures=\"0\" errors=\"1\""), HasSubstr("<error type=\"UNRELIABLE\" "),
                    HasSubstr("message=\"new run 1: the recording was cut off")));
}

/// The same with a function of the kernel, which a run of another engine does not see.
Profile with_kernel(Profile profile, uint64_t ticks) {
  profile.kernel_observed = true;
  profile.executables.push_back({ExecutableKind::kKernel, "[kernel]", {2}, 0});
  profile.positions.push_back({1, 0x908, ticks});
  profile.ledger.counted += ticks;
  profile.ledger.samples += ticks;
  return profile;
}

TEST(Diff, SaysThatTicksFollowTheKernelsClock) {
  const Profile free = run_of({0, 500, 300});
  Profile in_step = run_of({0, 0, 800});
  in_step.clock_tick_ns = 4'000'000;
  const Diff diff = diff_of({free}, {in_step}, {.files = {"a.pct", "b.pct"}});
  const auto said = HasSubstr("Ticks of b.pct follow the kernel's 4 ms clock: what runs in step with it may");
  EXPECT_THAT(diff_text(diff, {}), said);
  EXPECT_THAT(diff_markdown(diff, {}, 20), said);
  EXPECT_THAT(diff_json(diff, {}), HasSubstr("\"clock_tick_ms\": 4.0"));
  EXPECT_THAT(diff_text(diff_of({free}, {free}), {}), Not(HasSubstr("follow the kernel's")));
}

TEST(Diff, KernelCodeIsNotGoneWhereItIsNotSeen) {
  const Profile seen = with_kernel(run_of({0, 500, 300}), 2000), unseen = run_of({0, 500, 300});
  const Diff diff = diff_of({seen}, {unseen}, {.files = {"a.pct", "b.pct"}});
  EXPECT_EQ(diff.decided, 0u);
  EXPECT_EQ(diff.rows.size(), 2u);
  EXPECT_DOUBLE_EQ(row_of(diff, "f1").share.before, 62.5);
  EXPECT_TRUE(diff.doubts.empty());
  EXPECT_THAT(diff_text(diff, {}),
              HasSubstr("\nUser code alone is compared: b.pct does not see all kernel code.\n"));
  EXPECT_EQ(diff_of({seen}, {seen}).rows.size(), 3u);
  const auto limit = check_limit(diff, *parse_limit("seconds(f9) > +10%"));
  ASSERT_FALSE(limit);
  EXPECT_THAT(limit.error().text, HasSubstr("kernel code is left out"));
}

TEST(DiffOutput, SaysWhatIsAssumedAndHowSureItIs) {
  const Diff diff =
      diff_of({run_of(std::vector<uint64_t>(25, 100))}, {run_of(std::vector<uint64_t>(25, 100))});
  const std::string markdown = diff_markdown(diff, {}, 20), json = diff_json(diff, {});
  EXPECT_THAT(markdown,
              AllOf(HasSubstr("25 rows undecided, the first 20 of them"), HasSubstr("of 15 % is assumed"),
                    HasSubstr("at most 5 % of such calls are wrong"), HasSubstr("95 % interval")));
  EXPECT_THAT(diff_markdown(diff, {}, 0), HasSubstr("25 rows undecided<"));
  EXPECT_THAT(json, AllOf(HasSubstr("of 15 % is assumed"), HasSubstr("\"error_rate_percent\": 5")));
  EXPECT_THAT(diff_text(diff, {}), HasSubstr("\n± is the 95 % interval of a row alone."));
}

TEST(DiffOutput, HostileNamesSteerNothing) {
  Diff diff = diff_of({run_of({0, 500}, {1}, "/bin/evil")}, {run_of({0, 5}, {1}, "/bin/evil")});
  for (const std::string& text : {diff_text(diff, {}), diff_markdown(diff, {}, 20), diff_junit(diff, {})})
    EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(diff_json(diff, {}), Not(HasSubstr("\033")));
}

TEST(DiffOutput, NoNumberOfMarkdownHasAnExponent) {
  Profile before = run_of({0, 50000}), after = run_of({0, 90000});
  before.event = after.event = "page-faults";
  before.period_ns = after.period_ns = 1;
  EXPECT_THAT(diff_markdown(diff_of({before}, {after}), {}, 20),
              AllOf(HasSubstr("| +40000 | "), HasSubstr(" | 50000 | 90000 | ")));
}

TEST(DiffOutput, MarkdownKeepsItsTable) {
  Diff diff = diff_of({run_of({0, 500})}, {run_of({0, 5})});
  diff.rows[0].short_name = "operator|(a, `b`)";
  EXPECT_THAT(diff_markdown(diff, {}, 20), AllOf(HasSubstr("| `` operator\\|(a, `b`) `` | less |"),
                                                 HasSubstr("cause: operator\\|(a, \\`b\\`), less")));
}

TEST(Diff, NamesAreShortUnlessAsked) {
  const std::vector<Profile> runs = {run_of({9, 8, 7, 6, 0, 0, 5, 40, 50}, {1}, "/bin/cxx")};
  Diff diff = diff_of(runs, runs);
  EXPECT_THAT(diff_text(diff, {.limit = 0}), AllOf(HasSubstr("  ns::log "), HasSubstr("  put(int) ")));
  EXPECT_EQ(row_of(diff, "ns::log(int, char const*)").old_side.ticks, 90u);  // with its clone
  EXPECT_THAT(diff_markdown(diff, {}, 0), HasSubstr("`std::map::operator[]`"));
  EXPECT_THAT(diff_json(diff, {}),
              AllOf(HasSubstr("\"name\": \"void put<int>(int)\""), HasSubstr("\"short\": \"put(int)\"")));
  diff = diff_of(runs, runs, {.names = NameStyle::kFull});
  EXPECT_THAT(diff_text(diff, {.limit = 0}), HasSubstr("  void put<int>(int) "));
  diff = diff_of(runs, runs, {.names = NameStyle::kLinkage});
  EXPECT_THAT(diff_text(diff, {.limit = 0}), HasSubstr("  _Zputi "));
}

}  // namespace
}  // namespace pctally
