#include "report/diff/limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "report/diff/diff_for_test.h"
#include "report/diff/output.h"
#include "report/statistics/ratio.h"

namespace pctally {
namespace {

Diff diff_with(const char* name, double before, double after, double half) {
  Diff diff;
  diff.old_runs = diff.new_runs = 5;
  Change change;
  change.before = before;
  change.after = after;
  change.difference = after - before;
  change.interval = {change.difference - half, change.difference + half};
  change.after_interval = {after - half, after + half};
  DiffRow row;
  row.name = name;
  row.amount = row.share = change;
  row.old_side.ticks = static_cast<uint64_t>(before);
  row.new_side.ticks = static_cast<uint64_t>(after);
  diff.total.amount = change;
  diff.rows.push_back(row);
  return diff;
}

LimitResult::Outcome outcome_of(const Diff& diff, const char* text) {
  auto limit = parse_limit(text);
  EXPECT_TRUE(limit) << limit.error().text;
  auto result = check_limit(diff, *limit);
  EXPECT_TRUE(result) << result.error().text;
  return result->outcome;
}

using Outcome = LimitResult::Outcome;

TEST(Limit, FailsPassesOrIsUndecided) {
  Diff diff = diff_with("f", 100, 120, 5);
  EXPECT_EQ(outcome_of(diff, "seconds(f) > +10%"), Outcome::kFail);
  EXPECT_EQ(outcome_of(diff, "seconds(f) > +30%"), Outcome::kPass);
  EXPECT_EQ(outcome_of(diff, "seconds(f) > +22ms"), Outcome::kUndecided);
  EXPECT_EQ(outcome_of(diff, "share(f) > +2pp"), Outcome::kFail);
  EXPECT_EQ(outcome_of(diff, "seconds(f) > 130ms"), Outcome::kPass);
  EXPECT_EQ(outcome_of(diff, "total > +10%"), Outcome::kFail);
  EXPECT_EQ(outcome_of(diff, " total>0.2s "), Outcome::kPass);
}

TEST(Limit, TheLimitItselfIsNotAboveIt) {
  const Diff diff = diff_with("f", 100, 120, 5);
  EXPECT_EQ(outcome_of(diff, "seconds(f) > +25ms"), Outcome::kPass) << "15 to 25 ms";
  EXPECT_EQ(outcome_of(diff, "seconds(f) > +15ms"), Outcome::kUndecided);
}

/// Of the same function in two objects.
TEST(Limit, OfSeveralRowsDoesNotDependOnTheirOrder) {
  Diff diff = diff_with("f", 100, 150, 30);
  diff.rows.push_back(diff_with("f", 200, 210, 20).rows[0]);
  diff.rows[0].object = "x", diff.rows[1].object = "y";
  diff.rows[0].amount.degrees = diff.rows[0].amount.before_degrees = 3;
  diff.rows[0].amount.before_part = diff.rows[1].amount.before_part = 0.5;
  const auto interval = [&diff] { return check_limit(diff, *parse_limit("seconds(f) > +10%"))->interval; };
  const Interval forth = interval();
  std::swap(diff.rows[0], diff.rows[1]);
  EXPECT_DOUBLE_EQ(interval().low, forth.low);
  EXPECT_DOUBLE_EQ(interval().high, forth.high);
}

TEST(Limit, InPercentOfTwoRowsIsOfTheirSum) {
  const auto run = [](uint64_t large, uint64_t small) {
    Profile profile = run_of({0, large});
    profile.executables.push_back({ExecutableKind::kFile, "/x/z", {7}, 0});
    profile.positions.push_back({1, 0x108, small});
    profile.ledger.counted += small;
    profile.ledger.samples += small;
    return profile;
  };
  const Diff diff = diff_of({run(10000, 20)}, {run(40000, 20)});
  const LimitResult result = *check_limit(diff, *parse_limit("seconds(f1) > +50%"));
  EXPECT_EQ(result.outcome, Outcome::kFail);
  EXPECT_LT(result.interval.low, result.measured);
  EXPECT_GT(result.interval.high, result.measured);
}

TEST(Limit, InPercentIsOfAnOldAmountThatIsNotKnownExactly) {
  const auto outcome = [](double after, double half, double before_part, const char* limit) {
    Diff diff = diff_with("f", 100, after, half);
    diff.rows[0].amount.before_part = before_part;
    return outcome_of(diff, limit);
  };
  EXPECT_EQ(outcome(117.2, 7, 0, "seconds(f) > +10%"), Outcome::kFail);
  EXPECT_EQ(outcome(117.2, 7, 0.5, "seconds(f) > +10%"), Outcome::kUndecided);
  EXPECT_EQ(outcome(117.2, 7, 0.5, "seconds(f) > +10ms"), Outcome::kFail);
  EXPECT_EQ(outcome(190, 8, 0.5, "seconds(f) > +100%"), Outcome::kUndecided);
  EXPECT_EQ(outcome(40, 11, 0.5, "seconds(f) > -50%"), Outcome::kPass);
}

TEST(Limit, InPercentKnowsTheOldSidesPartOfTheVariance) {
  const std::vector<Profile> runs(100, run_of({0, 1000}));
  const Diff diff = diff_of(runs, runs);
  EXPECT_DOUBLE_EQ(row_of(diff, "f1").amount.before_part, 0.5);
  const Change& amount = row_of(diff, "f1").amount;
  EXPECT_NEAR(half_width_at(amount, 2) / half_width_at(amount, 1), std::sqrt(2.5), 0.01);
}

/// The verdict, the sentence and the limit say the same of one run a side, in both directions.
TEST(Limit, OfOneRunASideAgreesWithTheVerdict) {
  for (uint64_t ticks = 9000; ticks <= 11000; ticks += 50) {
    const Diff rise = diff_of({run_of({0, 6000})}, {run_of({0, ticks - 1000})}),
               fall = diff_of({run_of({0, ticks - 1000})}, {run_of({0, 6000})});
    EXPECT_EQ(rise.total.verdict != Verdict::kUndecided, outcome_of(rise, "total > +0%") == Outcome::kFail);
    EXPECT_EQ(fall.total.verdict != Verdict::kUndecided, outcome_of(fall, "total > -0%") == Outcome::kPass);
    EXPECT_EQ(rise.total.verdict, row_of(rise, "f1").verdict);
  }
  const Diff less = diff_of({run_of({0, 9000})}, {run_of({0, 6000})});
  EXPECT_EQ(less.total.verdict == Verdict::kUndecided,
            outcome_of(less, "total > -10%") == Outcome::kUndecided);
  EXPECT_EQ(outcome_of(diff_of({run_of({0, 9000})}, {run_of({0})}), "total > -99%"), Outcome::kPass);
}

/// Two old runs and ten new ones: at +100 % nearly all of the variance is the old ones'.
TEST(Limit, InPercentKnowsHowFewRunsTheOldVarianceIsOf) {
  Diff diff = diff_with("f", 100, 190, 8);
  Change& amount = diff.rows[0].amount;
  amount.before_part = 0.5, amount.before_degrees = 1, amount.after_degrees = 9, amount.degrees = 3.6;
  EXPECT_NEAR(half_width_at(amount, 2) / half_width_at(amount, 1),
              std::sqrt(2.5) * t_quantile(0.05, 25 / (16 + 1.0 / 9)) / t_quantile(0.05, 3.6), 0.001);
}

// A function that only calls others: its share of own ticks could never rise.
TEST(Limit, OfAFunctionWithoutTicksOfItsOwnIsRefused) {
  auto result = check_limit(diff_with("main", 0, 0, 1), *parse_limit("share(main) > +2pp"));
  ASSERT_FALSE(result);
  EXPECT_STREQ(result.error().text,
               "'main' has no ticks of its own on either side; total(main) limits it with all it calls");
}

TEST(Limit, SaysHowManyRunsWouldDecide) {
  auto result = check_limit(diff_with("f", 100, 120, 5), *parse_limit("seconds(f) > +22ms"));
  EXPECT_EQ(result->runs_needed, 33u);  // 5 runs * (5 / 2)^2, and one more
}

DiffRow row_with(const DiffRow& like, const char* name, const char* linkage, const char* short_name) {
  DiffRow row = like;
  row.name = name;
  row.linkage = linkage;
  row.short_name = short_name;
  return row;
}

TEST(Limit, NamesARowInFullOrShort) {
  Diff diff = diff_with("main", 100, 120, 5);
  const DiffRow like = diff.rows[0];
  diff.rows.push_back(row_with(like, "ns::put(int)", "_Zputi", "ns::put(int)"));
  diff.rows.push_back(row_with(like, "ns::put(long)", "_Zputl", "ns::put(long)"));
  diff.rows.push_back(row_with(like, "ns::log(int, char const*)", "_Zlogi", "ns::log"));
  auto measured = [&diff](const char* text) {
    auto result = check_limit(diff, *parse_limit(text));
    return result ? result->measured : -1;
  };
  EXPECT_EQ(measured("seconds(ns::log) > +1ms"), 20);
  EXPECT_EQ(measured("seconds(ns::log(int, char const*)) > +1ms"), 20);
  EXPECT_EQ(measured("seconds(_Zlogi) > +1ms"), 20);
  EXPECT_EQ(measured("seconds(ns::put(int)) > +1ms"), 20);
  EXPECT_EQ(measured("seconds(ns::put) > +1ms"), 40) << "the short name of two means both";
  EXPECT_EQ(measured("seconds(main.isra.0) > +1ms"), 20);
  EXPECT_EQ(measured("seconds(put) > +1ms"), -1);
  EXPECT_EQ(measured("seconds(mai) > +1ms"), -1) << "a part of a name means nothing";
}

/// A comparison whose rows have these amounts, old and new.
Diff diff_of_rows(std::initializer_list<std::tuple<const char*, const char*, double, double>> rows) {
  Diff diff;
  for (const auto& [name, linkage, before, after] : rows) {
    const Diff one = diff_with(name, before, after, 3);
    diff.old_runs = diff.new_runs = 5;
    diff.rows.push_back(row_with(one.rows[0], name, linkage, name));
  }
  return diff;
}

// C compiled as C++; Rust's legacy names against those of v0.
TEST(Limit, MeansAFunctionThatEachSideNamesInItsOwnWay) {
  const Diff cpp = diff_of_rows({{"f", "", 20, 0}, {"f(int)", "_Z1fi", 0, 30}});
  EXPECT_EQ(outcome_of(cpp, "share(f) > 1%"), Outcome::kFail);
  EXPECT_EQ(outcome_of(cpp, "share(f) > +2pp"), Outcome::kFail);
  EXPECT_EQ(outcome_of(cpp, "seconds(f) > +100%"), Outcome::kPass);
  const Diff back = diff_of_rows({{"f(int)", "_Z1fi", 20, 0}, {"f", "", 0, 30}});
  EXPECT_EQ(outcome_of(back, "seconds(f) > +10%"), Outcome::kFail);
  const Diff rust = diff_of_rows({{"r::gen", "_ZN1r3gen17h0123456789abcdefE", 100, 0},
                                  {"r::gen::<u32>", "_RINvC1r3genmE", 0, 80},
                                  {"r::gen::<u8>", "_RINvC1r3genhE", 0, 70}});
  EXPECT_EQ(check_limit(rust, *parse_limit("seconds(r::gen) > +10%"))->measured, 50);
}

TEST(Limit, MeansALineByTheEndOfItsPath) {
  Diff diff = diff_of_rows({{"/src/a/parts.cc:10", "", 100, 120},
                            {"/src/a/parts.cc:10", "", 10, 20},
                            {"/src/b/parts.cc:10", "", 50, 51},
                            {"/src/b/parts.cc:110", "", 50, 52},
                            {"a.c:7", "", 30, 33},
                            {"/src/a.c:7", "", 30, 34}});
  for (DiffRow& row : diff.rows) row.is_line = true;
  const auto measured = [&diff](const char* text) { return check_limit(diff, *parse_limit(text))->measured; };
  EXPECT_EQ(measured("seconds(a/parts.cc:10) > +1ms"), 30) << "two functions there";
  EXPECT_EQ(measured("seconds(parts.cc:110) > +1ms"), 2);
  EXPECT_EQ(measured("seconds(./b/parts.cc:10) > +1ms"), 1);
  EXPECT_EQ(measured("seconds(a.c:7) > +1ms"), 3) << "the whole name of a row";
  const auto several = check_limit(diff, *parse_limit("share(parts.cc:10) > +2pp"));
  ASSERT_FALSE(several);
  EXPECT_STREQ(several.error().text,
               "'parts.cc:10' may be '/src/a/parts.cc:10', '/src/b/parts.cc:10'; write one of these names");
  EXPECT_FALSE(check_limit(diff, *parse_limit("share(arts.cc:110) > +2pp"))) << "a part of a name";
  EXPECT_FALSE(check_limit(diff, *parse_limit("share(10) > +2pp")));
}

TEST(Limit, NamesTheLineThatItMeans) {
  Diff diff =
      diff_of_rows({{"/new/x.c:6", "", 100, 120}, {"/old/x.c:7", "", 9, 0}, {"/new/x.c:8", "", 0, 9}});
  for (DiffRow& row : diff.rows) row.is_line = true;
  diff.rows[0].old_place = "/old/x.c:5";  // a build in another directory: the file is one
  const auto result = check_limit(diff, *parse_limit("seconds(x.c:6) > +50ms"));
  ASSERT_TRUE(result) << result.error().text;
  EXPECT_EQ(limits_text({*result}, false), "PASS       seconds(x.c:6) > +50ms: +20 ± 3 ms; of /new/x.c:6\n");
  for (const std::string& text : {diff_json(diff, {*result}), diff_markdown(diff, {*result}, 0)})
    EXPECT_NE(text.find("/new/x.c:6"), std::string::npos);
  EXPECT_EQ(check_limit(diff, *parse_limit("seconds(/new/x.c:6) > +50ms"))->line, "") << "it says so itself";
}

TEST(Limit, OfAFunctionThatIsGoneSaysSo) {
  const Diff diff = diff_of_rows({{"parse", "", 50, 0}, {"other", "", 10, 10}, {"fresh", "", 0, 10}});
  const auto result = check_limit(diff, *parse_limit("share(parse) > +2pp"));
  EXPECT_EQ(result->outcome, Outcome::kPass);
  EXPECT_TRUE(result->gone);
  EXPECT_NE(limits_text({*result}, false).find("; the new side has none of it: was it renamed or inlined?"),
            std::string::npos);
  EXPECT_FALSE(check_limit(diff, *parse_limit("share(other) > +50pp"))->gone);
  EXPECT_FALSE(check_limit(diff, *parse_limit("share(fresh) > +90pp"))->gone);
}

TEST(Limit, AnExactNameOnBothSidesMeansNoOther) {
  const Diff diff = diff_of_rows({{"f", "", 20, 20}, {"f(int)", "_Z1fi", 0, 30}});
  EXPECT_EQ(outcome_of(diff, "seconds(f) > +50%"), Outcome::kPass);
  Diff caller = diff_of_rows({{"f", "", 0, 0}, {"f(int)", "_Z1fi", 20, 30}});
  EXPECT_FALSE(check_limit(caller, *parse_limit("seconds(f) > +90%"))) << "f only calls others";
}

TEST(Limit, OfAFunctionWhoseSignatureWasEditedIsUndecided) {
  const Diff diff = diff_of_rows(
      {{"parse(int)", "_Z5parsei", 50, 0}, {"parse(long)", "_Z5parsel", 0, 150}, {"other", "", 10, 10}});
  const auto result = check_limit(diff, *parse_limit("seconds(parse(int)) > +10%"));
  EXPECT_EQ(result->outcome, Outcome::kUndecided);
  EXPECT_EQ(result->other_name, "the new side has parse(long) instead; 'parse' means both");
  EXPECT_NE(limits_text({*result}, false).find(result->other_name), std::string::npos);
  EXPECT_EQ(outcome_of(diff, "share(parse(int)) > 1%"), Outcome::kUndecided);
  EXPECT_EQ(check_limit(diff, *parse_limit("share(parse(long)) > +2pp"))->other_name,
            "the old side has parse(int) instead; 'parse' means both");
  EXPECT_EQ(outcome_of(diff, "share(parse(long)) > 1%"), Outcome::kFail) << "its new amount alone";
  EXPECT_EQ(outcome_of(diff, "seconds(parse) > +10%"), Outcome::kFail);
  const Diff several = diff_of_rows({{"parse(int)", "_Z5parsei", 50, 0},
                                     {"parse(long)", "_Z5parsel", 0, 150},
                                     {"parse(char)", "_Z5parsec", 0, 30}});
  EXPECT_EQ(check_limit(several, *parse_limit("seconds(parse(int)) > +10%"))->other_name,
            "the new side has parse(long) instead; 'parse' means both")
      << "the larger one";
}

TEST(Limit, OfAFunctionThatIsGonePassesBesideOverloadsThatBothSidesHave) {
  const Diff diff = diff_of_rows({{"put(int)", "_Z3puti", 50, 0}, {"put(long)", "_Z3putl", 40, 41}});
  EXPECT_EQ(outcome_of(diff, "seconds(put(int)) > +10%"), Outcome::kPass);
}

TEST(Limit, OnNothingNeverPasses) {
  EXPECT_FALSE(check_limit(diff_with("f", 100, 120, 5), *parse_limit("share(g) > +2pp")));
}

/// Nothing, of a few ticks that might have been.
TEST(Limit, InPercentOfWhatTheOldSideLacksFailsWhereEvenTheLeastRiseExceedsIt) {
  const Diff one = diff_of({run_of({0, 900})}, {run_of({0, 900, 300})}),
             three = diff_of({run_of({0, 900}), run_of({0, 950}), run_of({0, 920})},
                             {run_of({0, 900, 300}), run_of({0, 910, 280}), run_of({0, 930, 310})}),
             few = diff_of({run_of({0, 900})}, {run_of({0, 900, 12})});
  for (const Diff* diff : {&one, &three}) {
    const auto result = check_limit(*diff, *parse_limit("seconds(f2) > +10%"));
    ASSERT_TRUE(result) << result.error().text;
    EXPECT_EQ(result->outcome, Outcome::kFail);
    EXPECT_GT(result->interval.low, 1000);
    EXPECT_LT(result->interval.low, 30000);
    EXPECT_THAT(limits_text({*result}, false), testing::HasSubstr("the old side has none of it: +"));
    EXPECT_EQ(outcome_of(*diff, "share(f2) > +30000%"), Outcome::kUndecided);
  }
  EXPECT_EQ(outcome_of(few, "seconds(f2) > +900%"), Outcome::kUndecided);
}

TEST(Limit, AWrongOneSaysWhatIsWrong) {
  for (const char* text : {"",
                           "total",
                           "total > ",
                           "total > x%",
                           "size(f) > +1%",
                           "share() > +2pp",
                           "share(f > +2pp",
                           "share(f) > +2ms",
                           "total > +2pp",
                           "seconds(f) > 3%",
                           "total > +3",
                           "total > +nan%",
                           "total > inf s",
                           "total > 1e999s",
                           "total > 1e308s",
                           "total > +0x10%",
                           "total > +-3%",
                           "total > + 3%",
                           "share(f) > 100%",
                           "share(f) > +200pp"})
    EXPECT_FALSE(parse_limit(text)) << text;
  EXPECT_TRUE(parse_limit("share(std::vector<int>::at(unsigned long)) > +2pp"));
  EXPECT_FALSE(parse_limit(std::string_view("total > +3%\0 or so", 17))) << "text behind a NUL byte";
  EXPECT_EQ(parse_limit("total > -2.5e1 %")->value, -25);
  EXPECT_EQ(parse_limit("total > .5s")->value, 500);
}

TEST(Limit, OfTimeIsNoneOfEvents) {
  Diff diff = diff_with("f", 100, 120, 5);
  diff.event = "page-faults";
  for (const char* text : {"seconds(f) > +5ms", "seconds(f) > 5s", "total > 5s"}) {
    const auto result = check_limit(diff, *parse_limit(text));
    ASSERT_FALSE(result) << text;
    EXPECT_NE(std::string(result.error().text).find("the profiles count page-faults, not time"),
              std::string::npos);
  }
  EXPECT_EQ(outcome_of(diff, "seconds(f) > +10%"), Outcome::kFail);
  EXPECT_EQ(outcome_of(diff, "share(f) > +2pp"), Outcome::kFail);
  diff.event = "ms";  // an event that somebody called so
  EXPECT_FALSE(check_limit(diff, *parse_limit("total > 5s")));
}

TEST(Limit, OfCodeThatHasNoNamesOnOneSideIsUndecided) {
  Diff diff = diff_with("f", 100, 0, 5);
  diff.rows[0].object = "stripped";
  EXPECT_EQ(outcome_of(diff, "seconds(f) > +10%"), Outcome::kPass);
  diff.doubts.push_back({"new.pct", "98 % has no name", "other"});
  EXPECT_EQ(outcome_of(diff, "seconds(f) > +10%"), Outcome::kPass);
  diff.doubts.push_back({"new.pct", "98 % has no name", "stripped"});
  EXPECT_EQ(outcome_of(diff, "seconds(f) > +10%"), Outcome::kUndecided);
  EXPECT_EQ(outcome_of(diff, "seconds(f) > 1ms"), Outcome::kUndecided);
  EXPECT_EQ(outcome_of(diff, "total > +10%"), Outcome::kPass);
  EXPECT_FALSE(diff.is_in_doubt());
}

TEST(Limit, InPercentOfCodeThatTheOldSideDoesNotNameIsUndecided) {
  Diff diff = diff_with("f", 0, 120, 5);
  diff.rows[0].object = "stripped";
  diff.doubts.push_back({"old.pct", "98 % has no name", "stripped"});
  const auto result = check_limit(diff, *parse_limit("seconds(f) > +10%"));
  ASSERT_TRUE(result) << result.error().text;
  EXPECT_EQ(result->outcome, Outcome::kUndecided);
  EXPECT_EQ(limits_text({*result}, false), "UNDECIDED  seconds(f) > +10%: the old side has none of it\n");
  EXPECT_NE(diff_json(diff, {*result}).find("\"measured\": null"), std::string::npos);
  const Diff edited =
      diff_of_rows({{"parse(int)", "_Z5parsei", 50, 0}, {"parse(long)", "_Z5parsel", 0, 150}});
  EXPECT_EQ(outcome_of(edited, "seconds(parse(long)) > +10%"), Outcome::kUndecided);
}

TEST(Limit, AnExampleIsOfTheSameMetric) {
  const auto error_of = [](const char* text) { return std::string(parse_limit(text).error().text); };
  EXPECT_EQ(error_of("share(f) > 5"),
            "limit 'share(f) > 5': the unit of a share is pp or %; for example 'share(main) > +2pp'");
  EXPECT_NE(error_of("seconds(f) > 5").find("'seconds(main) > +10%'"), std::string::npos);
}

TEST(Limit, AnAmountHasNoSign) {
  const Diff diff = diff_with("f", 100, 120, 5);
  EXPECT_EQ(measured_text(*check_limit(diff, *parse_limit("seconds(f) > 200ms"))), "120 ± 5 ms");
  EXPECT_EQ(measured_text(*check_limit(diff, *parse_limit("seconds(f) > +20ms"))), "+20 ± 5 ms");
}

/// The interval is that of the first sentence, whatever the limit is.
TEST(Limit, InPercentHasOneInterval) {
  const std::vector<std::vector<Profile>> before = {{run_of({0, 700})}, {run_of({0, 700}), run_of({0, 900})}},
                                          after = {{run_of({0, 990})}, {run_of({0, 990}), run_of({0, 999})}};
  for (size_t i = 0; i < before.size(); ++i) {
    const Diff diff = diff_of(before[i], after[i]);
    ASSERT_EQ(diff.total.verdict, Verdict::kUndecided);
    std::vector<LimitResult> results;
    for (const char* text : {"total > +500%", "total > +50%", "total > +0%"})
      results.push_back(*check_limit(diff, *parse_limit(text)));
    for (const LimitResult& result : results) {
      EXPECT_DOUBLE_EQ(result.interval.low, rises_of(diff.total.amount).low);
      EXPECT_DOUBLE_EQ(result.interval.high, rises_of(diff.total.amount).high);
      EXPECT_NE(verdict_sentence(diff).find(", " + measured_text(result) + ";"), std::string::npos)
          << measured_text(result);
      EXPECT_FALSE(half_width(result)) << "it reaches further up than down";
    }
    const std::string measured = measured_text(results[0]), json = diff_json(diff, results);
    EXPECT_NE(limits_text(results, false).find("total > +500%: " + measured), std::string::npos);
    EXPECT_NE(diff_junit(diff, results).find("message=\"" + measured), std::string::npos);
    EXPECT_NE(json.find("\"low\": "), std::string::npos);
    EXPECT_EQ(json.find("half_width"), std::string::npos);
  }
}

TEST(Limit, InPercentOfNearlyNothingHasNoUpperEnd) {
  Diff diff = diff_with("f", 1, 30, 40);
  diff.rows[0].amount.before_part = 0.9;
  const LimitResult result = *check_limit(diff, *parse_limit("seconds(f) > +10%"));
  EXPECT_EQ(result.outcome, Outcome::kUndecided);
  EXPECT_EQ(measured_text(result), "+2900.0 % (-30.3 % to any rise)");
  EXPECT_NE(diff_json(diff, {result}).find("\"high\": null"), std::string::npos);
}

TEST(Limit, AnAmountNearNothingHasBothEnds) {
  const Diff diff = diff_with("f", 100, 3, 5);
  const LimitResult result = *check_limit(diff, *parse_limit("seconds(f) > 20ms"));
  EXPECT_EQ(measured_text(result), "3 ms (0 to 8 ms)");
  EXPECT_FALSE(half_width(result));
  EXPECT_EQ(half_width(*check_limit(diff, *parse_limit("seconds(f) > +20ms"))), 5);
}

TEST(Limit, WhatIsMeasuredHasNoExponent) {
  const Diff diff = diff_with("f", 1000, 2751, 1234);
  EXPECT_EQ(measured_text(*check_limit(diff, *parse_limit("seconds(f) > 1s"))), "2751 ± 1234 ms");
  EXPECT_EQ(measured_text(*check_limit(diff, *parse_limit("seconds(f) > +1s"))), "+1751 ± 1234 ms");
}

TEST(Limit, ABudgetIsOneALine) {
  auto limits = parse_limits("# hot path\nshare(f) > +2pp   # of all\n\n total > +3%");
  ASSERT_TRUE(limits);
  ASSERT_EQ(limits->size(), 2u);
  EXPECT_EQ((*limits)[0].text, "share(f) > +2pp");
  const auto lambda = parse_limits("seconds(main::{lambda#1}::operator()) > 2s\t# why (f) > 1");
  ASSERT_TRUE(lambda);
  EXPECT_EQ(lambda->at(0).function, "main::{lambda#1}::operator()");
  EXPECT_EQ(parse_limits("\xef\xbb\xbftotal > +3%\r\n")->at(0).text, "total > +3%")
      << "as some editors write";
  auto wrong = parse_limits("total > +3%\nnonsense\n");
  ASSERT_FALSE(wrong);
  EXPECT_NE(std::string(wrong.error().text).find("line 2: "), std::string::npos);
}

}  // namespace
}  // namespace pctally
