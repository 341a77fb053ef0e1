#include "report/paths/callers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "report/paths/edges_for_test.h"
#include "report/paths/path_profile_for_test.h"

namespace pctally {
namespace {

std::string rows(const std::vector<CallerRow>& list) {
  std::string text;
  for (const CallerRow& row : list)
    text += fmt::format("{}:{} {}, ", row.frame.function, row.frame.line, row.ticks);
  return text;
}

TEST(Callers, OfAFunctionWithTheLinesOfTheCalls) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110);
  paths.add(paths.add(main, 0x210), 0x300, 6);
  paths.add(main, 0x300, 3);
  paths.add(paths.add(main, 0x310), 0x400, 1);
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
  const std::vector<StackFrame> found = find_functions(named, "f3");
  ASSERT_EQ(found.size(), 1u);
  const Callers callers = callers_of(paths.profile, named, found[0]);
  EXPECT_EQ(callers.ticks, 10u);
  EXPECT_EQ(rows(callers.callers), "f2:33 6, f1:17 4, ");
  EXPECT_EQ(rows(callers.callees), "(itself):0 9, f4:0 1, ");
}

TEST(Callers, AsJsonSayHowManyRowsTheLimitLeftOut) {
  PathProfile paths;
  for (uint64_t i = 1; i <= 5; ++i) paths.add(paths.add(0, 0x1000 + 0x100 * i), 0x300, i);
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
  const Callers callers = callers_of(paths.profile, named, find_functions(named, "f3").at(0));
  const auto json = [&](uint64_t limit) {
    return nlohmann::json::parse(callers_json(paths.profile, callers, limit));
  };
  EXPECT_EQ(json(0)["callers"].size(), 5u);
  EXPECT_EQ(json(0)["hidden_callers"], 0);
  EXPECT_EQ(json(2)["callers"].size(), 2u);
  EXPECT_EQ(json(2)["callers"][1]["ticks"], 4);
  EXPECT_EQ(json(2)["hidden_callers"], 3);
  EXPECT_EQ(json(2)["hidden_callees"], 0);
}

TEST(Callers, AnInlinedFunctionIsACallerOfItsOwn) {
  PathProfile paths;
  paths.add(paths.add(0, 0x211), 0x300, 6);  // at odd positions the fake inlines a function
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
  const Callers callers = callers_of(paths.profile, named, find_functions(named, "f3").at(0));
  EXPECT_EQ(rows(callers.callers), "inlined:7 6, ");
  ASSERT_EQ(callers.callers[0].outer.size(), 1u);
  EXPECT_EQ(callers.callers[0].outer[0].function, "f2");
}

/// f1 calls f2 (10) and f3 calls f2 (4); 9 of f2's ticks lie in what is inlined into it, as odd positions
/// say.
PathProfile with_inlined_code() {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x200, 10);
  paths.add(paths.add(0, 0x310), 0x200, 4);
  paths.profile.positions = {{0, 0x200, 5}, {0, 0x205, 2}, {0, 0x207, 7}};
  return paths;
}

TEST(Callers, OfInlinedCodeHaveTheTicksInItselfToo) {
  const PathProfile paths = with_inlined_code();
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kInlinedCode);
  const Callers inlined = callers_of(paths.profile, named, find_functions(named, "inlined").at(0));
  EXPECT_EQ(inlined.ticks, 9u);
  EXPECT_EQ(inlined.unplaced, 0u);
  EXPECT_EQ(rows(inlined.callers), "f2:32 9, ");
  EXPECT_EQ(rows(inlined.callees), "(itself):0 9, ");
  const Callers around = callers_of(paths.profile, named, find_functions(named, "f2").at(0));
  EXPECT_EQ(around.ticks, 14u);
  EXPECT_EQ(rows(around.callees), "inlined:0 9, (itself):0 5, ");
}

TEST(Callers, OfInlinedCodeThatCallsCountNoTickTwice) {
  PathProfile paths = with_inlined_code();
  paths.add(paths.add(0, 0x211), 0x200, 3);  // f2 calls itself from what is inlined into it
  paths.profile.positions = {{0, 0x200, 5}, {0, 0x205, 12}};
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kInlinedCode);
  const Callers inlined = callers_of(paths.profile, named, find_functions(named, "inlined").at(0));
  EXPECT_EQ(inlined.ticks, 12u);    // all 3 may be of the 12
  EXPECT_EQ(inlined.unplaced, 3u);  // or none
  EXPECT_EQ(callers_of(paths.profile, named, find_functions(named, "f2").at(0)).unplaced, 0u);
}

/// What is inlined into f2 calls f3 (5), and 9 ticks are in it itself: no tick is both.
TEST(Callers, CallsFromInlinedCodeAndTicksInItAddUp) {
  PathProfile paths = with_inlined_code();
  paths.add(paths.add(0, 0x211), 0x300, 5);
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kInlinedCode);
  const Callers around = callers_of(paths.profile, named, find_functions(named, "f2").at(0));
  EXPECT_EQ(rows(around.callees), "inlined:0 14, (itself):0 5, ");
  expect_edges_of_callers(paths.profile, named);
}

/// Folded paths may end in any function, also in the one that has inlined code.
TEST(Callers, OfInlinedCodeMayBeAmongFoldedPaths) {
  PathProfile paths = with_inlined_code();
  const uint32_t call = paths.add(0, 0x211);
  paths.profile.paths.context[call].folded = 20;
  paths.profile.positions = {{0, 0x200, 5}, {0, 0x205, 29}};
  paths.profile.ledger.counted = 34;
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kInlinedCode);
  const Callers inlined = callers_of(paths.profile, named, find_functions(named, "inlined").at(0));
  EXPECT_EQ(inlined.ticks, 29u);  // all 20 may be of the 29
  EXPECT_EQ(inlined.ticks + inlined.folded + inlined.unplaced, 34u);
}

TEST(Callers, OfInlinedCodeInAChoiceOfPathsAreARange) {
  const PathProfile paths = with_inlined_code();
  const Chosen chosen(paths.profile, "f1", nullptr, nullptr);
  ObjectNames names(chosen.result, &FakeSymbolizer::open);
  const NamedPaths named(chosen.result, names, NamedPaths::Detail::kInlinedCode);
  const Callers inlined = callers_of(chosen.result, named, find_functions(named, "inlined").at(0));
  EXPECT_EQ(inlined.ticks, 5u);     // all that are not inlined, 5 of 14, may be among the 10
  EXPECT_EQ(inlined.unplaced, 4u);  // or 4 of them below f3
  const Callers around = callers_of(chosen.result, named, find_functions(named, "f2").at(0));
  EXPECT_EQ(rows(around.callees), "inlined:0 5, (itself):0 1, ");
}

/// Of f2's 14 ticks 10 are in inlined code: none of the 4 below f3 need be there, and none need be its own.
TEST(Callers, InAChoiceRowsMayHaveNoCertainTick) {
  PathProfile paths = with_inlined_code();
  paths.profile.positions = {{0, 0x200, 4}, {0, 0x205, 10}};
  const Chosen chosen(paths.profile, "f3", nullptr, nullptr);
  ObjectNames names(chosen.result, &FakeSymbolizer::open);
  const NamedPaths named(chosen.result, names, NamedPaths::Detail::kInlinedCode);
  expect_edges_of_callers(chosen.result, named);
  const Callers callers = callers_of(chosen.result, named, find_functions(named, "f2").at(0));
  ASSERT_EQ(callers.callees.size(), 2u);
  for (const CallerRow& row : callers.callees) {
    EXPECT_EQ(row.ticks, 0u) << row.frame.function;
    EXPECT_EQ(row.high, 4u) << row.frame.function;
  }
  EXPECT_THAT(callers_text(chosen.result, callers, {}), testing::HasSubstr("(itself)"));
}

/// As `report --program A --callers F`, where only B has ticks in a library.
TEST(Callers, OfAChoiceThatLeavesAnExecutableOut) {
  PathProfile paths = with_inlined_code();
  paths.profile.executables.push_back({.path = "/lib/other", .build_id = {}});
  paths.profile.paths.context.push_back({.kind = PathNodeKind::kCode, .executable = 1, .self = 3});
  paths.profile.positions.push_back({1, 5, 3});
  paths.profile.ledger.counted += 3;
  const Chosen chosen(paths.profile, "f1", nullptr, nullptr);
  ObjectNames names(chosen.result, &FakeSymbolizer::open);
  const NamedPaths named(chosen.result, names, NamedPaths::Detail::kInlinedCode);
  EXPECT_EQ(callers_of(chosen.result, named, find_functions(named, "inlined").at(0)).ticks, 5u);
}

TEST(Callers, UnderRecursionNoPartIsLargerThanTheWhole) {
  PathProfile paths;
  paths.add(paths.add(paths.add(paths.add(0, 0x110), 0x210), 0x210), 0x200, 5);
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
  const Callers callers = callers_of(paths.profile, named, find_functions(named, "f2").at(0));
  EXPECT_EQ(callers.ticks, 5u);
  for (const auto* part : {&callers.callers, &callers.callees})
    for (const CallerRow& row : *part) EXPECT_LE(row.ticks, 5u);
}

TEST(FindFunctions, AnExactNameWinsElseAllThatContainIt) {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x1100, 5);  // f1, f11
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kFunctions);
  EXPECT_EQ(find_functions(named, "f1").size(), 1u);
  EXPECT_EQ(find_functions(named, "f").size(), 2u);
  EXPECT_TRUE(find_functions(named, "none").empty());
}

TEST(FindFunctions, NamesThatTablesShowAreFound) {
  PathProfile paths;
  paths.profile.executables[0].path = "/bin/cxx";
  paths.add(paths.add(paths.add(0, 0x110), 0x210), 0x710, 5);
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kFunctions);
  const auto found = [&](const char* text) {
    std::string functions;
    for (const StackFrame& frame : find_functions(named, text)) functions += frame.function + ";";
    return functions;
  };
  EXPECT_EQ(found("put(int)"), "void put<int>(int);");
  EXPECT_EQ(found("put<long>"), "void put<long>(long);");
  EXPECT_EQ(found("_Zputl"), "void put<long>(long);");
  EXPECT_EQ(found("put"), "void put<int>(int);void put<long>(long);");
  EXPECT_EQ(found("log"), "ns::log(int, char const*);");  // a member, before names that contain the word
}

/// A table has no inlined functions: a clone has the name of its function there, unless that has a row, too.
TEST(FindFunctions, ANameOfTheTableIsOfItsRowAndOfAnInlinedFunction) {
  class Clones : public FakeSymbolizer {
   public:
    using FakeSymbolizer::FakeSymbolizer;
    std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
      std::vector<NamedRange> ranges = FakeSymbolizer::find_names(positions);
      for (NamedRange& range : ranges)
        if (range.function == "f2") range.function = "inlined.isra.0";
      return ranges;
    }
  };
  const OpenSymbolizer open = [](const ExecutableIdentity& identity) {
    return std::make_unique<Clones>(identity);
  };
  PathProfile paths;
  paths.add(paths.add(paths.add(0, 0x110), 0x211), 0x300, 5);  // f1, the clone, what is inlined into it, f3
  const std::vector<Row> rows = make_report(paths.profile, open, {}).rows;
  EXPECT_NE(std::ranges::find(rows, "inlined", &Row::short_function), rows.end());
  ObjectNames names(paths.profile, open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
  std::set<std::string> found;
  for (const StackFrame& frame : find_functions(named, "inlined")) found.insert(frame.function);
  EXPECT_THAT(found, testing::ElementsAre("inlined", "inlined.isra.0"));
  for (const char* listed : {"inlined (prog)", "inlined.isra.0 (prog)"})
    EXPECT_EQ(find_functions(named, listed).size(), 1u) << listed;
}

/// f2 of two objects, the outer calls the inner.
PathProfile two_objects() {
  PathProfile paths;
  paths.profile.executables.push_back({.path = "/lib/c.so", .build_id = {}});
  const uint32_t inner = paths.add(paths.add(paths.add(0, 0x110), 0x210), 0x200, 10);
  paths.profile.paths.context[inner].executable = 1;
  paths.profile.positions.back().executable = 1;
  return paths;
}

TEST(FindFunctions, EveryListedNameIsAcceptedAndAnObjectNarrowsTheChoice) {
  for (const PathProfile& paths : {two_objects(), two_ways()}) {
    ObjectNames names(paths.profile, &FakeSymbolizer::open);
    const NamedPaths named(paths.profile, names, NamedPaths::Detail::kFunctions);
    for (const StackFrame& frame : find_functions(named, "f")) {
      const std::vector<StackFrame> found = find_functions(named, listed_name(frame));
      ASSERT_EQ(found.size(), 1u) << listed_name(frame);
      EXPECT_EQ(function_of(found[0]), function_of(frame));
    }
  }
  const PathProfile paths = two_objects();
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
  EXPECT_EQ(find_functions(named, "f2").size(), 2u);
  const NamePattern object = *NamePattern::compile("^c[.]so$");
  const std::vector<StackFrame> found = find_functions(named, "f2", &object);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].object, "c.so");
  EXPECT_THAT(callers_text(paths.profile, callers_of(paths.profile, named, found[0]), {}),
              testing::HasSubstr("  f2 (prog)  prog.c:33 "));
}

TEST(Callers, OfACutHaveNoObjectAndThoseThatAreNotKnownHaveNoRowOfNothing) {
  PathProfile paths;
  const uint32_t cut = paths.add_cut(PathEnd::kNoUnwindTable);
  paths.profile.paths.context[cut].folded = 2;
  paths.add(cut, 0x300, 5);
  paths.add(paths.add(0, 0x110), 0x200, 5000);
  for (const uint64_t function : {0x300, 0x100, 0x200})
    paths.add_plane(function, function == 0x300 ? 7 : 5000);
  const auto plane =
      static_cast<uint32_t>(paths.profile.paths.plane.size());  // f2 is called by f2, and by f1
  for (const uint64_t caller : {0x110, 0x210}) {
    paths.add_plane(caller, 5000);
    paths.profile.paths.plane.back().parent = plane - 1;
  }
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
  const auto text = [&](const char* function) {
    return callers_text(paths.profile,
                        callers_of(paths.profile, named, find_functions(named, function).at(0)), {});
  };
  EXPECT_THAT(text("[path cut"), testing::StartsWith("[path cut at code without unwind table]   0.1 % "));
  EXPECT_THAT(text("f3"), testing::HasSubstr("  [path cut at code without unwind table]"));
  EXPECT_THAT(text("f2"), testing::Not(testing::HasSubstr("[path cut")));
}

TEST(Callers, ThatFoundNoRoomAreSaidToBeMissing) {
  for (const uint64_t without_entry : {0, 3}) {
    PathProfile paths;
    paths.add(paths.add(0, 0x110), 0x200, 5);
    paths.profile.paths.context[0].folded = 3;
    for (const uint64_t function : {0x100, 0x200}) paths.add_plane(function, 5);
    paths.profile.paths.plane[0].folded = without_entry;
    ObjectNames names(paths.profile, &FakeSymbolizer::open);
    const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
    const Callers callers = callers_of(paths.profile, named, find_functions(named, "f2").at(0));
    EXPECT_EQ(callers.has_all_calls, without_entry == 0);
    if (without_entry == 0) {
      EXPECT_EQ(rows(callers.callers), "f1:17 5, ") << "they are all its calls";
    }
    EXPECT_EQ(callers_text(paths.profile, callers, {}).find("some calls found no room") != std::string::npos,
              without_entry != 0);
  }
}

/// f1 > f2 > inlined > f6 has 11 ticks, 10 of them folded in f1; f5 and f6 are one entry of the unwind table.
TEST(Callers, OfInlinedCodeThatCallsIntoASharedEntryHoldTheFoldedTicks) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110, 0, 10);
  paths.add(paths.add(main, 0x211), 0x600, 1);
  paths.add(main, 0x500, 1);
  paths.add_plane(0x100, 12);
  paths.add_plane(0x200, 11);
  paths.add_plane(0x500, 12);
  const auto call = [&](uint32_t entry, uint64_t position, uint64_t ticks) {
    paths.profile.paths.plane.push_back(
        {.parent = entry, .kind = PathNodeKind::kCode, .position = position, .self = ticks});
  };
  call(2, 0x110, 11);
  call(3, 0x211, 11);
  call(3, 0x110, 1);
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
  const Callers callers = callers_of(paths.profile, named, find_functions(named, "inlined").at(0));
  EXPECT_GE(callers.ticks + callers.folded, 11u);
}

/// f2 has 9 to 13 ticks; f3 calls it 3 to 7 times.
TEST(Callers, AShareOfARangeIsOfTheLargerWholeAtLeastAndOfTheSmallerAtMost) {
  PathProfile paths;
  paths.add(paths.add(0, 0x110, 0, 4), 0x200, 6);
  paths.add(paths.add(0, 0x310), 0x200, 3);
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
  const Callers callers = callers_of(paths.profile, named, find_functions(named, "f2").at(0));
  const double samples = 9;
  ASSERT_EQ(rows(callers.callers), "f1:17 6, f3:49 3, ");
  EXPECT_NEAR(callers.callers[1].interval.low, wilson_interval(3.0 / 13, samples).low, 1e-9);
  EXPECT_NEAR(callers.callers[1].interval.high, wilson_interval(7.0 / 9, samples).high, 1e-9);
}

TEST(CallersLine, SaysRangesAsRangesAndWhatItLeavesOut) {
  std::vector<CallerRow> rows;
  const auto add = [&](const char* function, uint64_t ticks, double share) {
    CallerRow& row = rows.emplace_back();
    row.frame.function = function;
    row.ticks = ticks;
    row.share = share;
  };
  EXPECT_EQ(callers_line(rows, NameStyle::kShort), "");
  add("a", 61, 0.61);
  add("b", 12, 0.12);
  rows[1].is_range = true;
  rows[1].interval = {0.12, 0.4};
  EXPECT_EQ(callers_line(rows, NameStyle::kShort), "61 % a, 12.0 to 40.0 % b");
  add("not known to have a tick", 0, 0);
  for (const char* name : {"c", "d", "e", "f"}) add(name, 1, 0.01);
  EXPECT_EQ(callers_line(rows, NameStyle::kShort), "61 % a, 12.0 to 40.0 % b, 1 % c, 1 % d, 2 more");
}

/// As of a recorder that was killed: the table has the function's own ticks, and no path has them.
TEST(Callers, TicksThatTheRecorderHasNotReadMayBelongToAnyFunction) {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x200, 5);
  const uint32_t cut = paths.add_cut(PathEnd::kInterrupted);
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const char* line = "the recorder has not read the stacks of 7 ticks, which may belong here";
  for (const uint64_t unread : {0, 7}) {
    paths.profile.paths.context[cut].self = unread;
    const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
    const Callers callers = callers_of(paths.profile, named, find_functions(named, "f2").at(0));
    EXPECT_EQ(callers.unread, unread);
    EXPECT_EQ(callers_text(paths.profile, callers, {}).find(line) != std::string::npos, unread != 0);
  }
  Profile part = paths.profile;  // of a program: the scope of what was not read is not known
  part.whole = std::make_shared<const Profile>(paths.profile);
  part.paths.context[cut].self = 0;
  const NamedPaths of_part(part, names, NamedPaths::Detail::kLines);
  EXPECT_EQ(callers_of(part, of_part, find_functions(of_part, "f2").at(0)).unread, 7u);
  paths.profile.paths.stackless = true;
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
  const Callers callers = callers_of(paths.profile, named, find_functions(named, "f2").at(0));
  EXPECT_THAT(callers_text(paths.profile, callers, {}),
              testing::HasSubstr("\n7 ticks without a stack may belong here\n"))
      << "of another tool";
  EXPECT_EQ(find_functions(named, "[no stack]").size(), 1u);
}

/// As after the recorder was killed: f1 and f2 ran more often than paths end in them.
PathProfile with_unread_paths() {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x200, 5);
  paths.profile.paths.context[paths.add_cut(PathEnd::kInterrupted)].self = 7;
  paths.profile.positions = {{0, 0x100, 3}, {0, 0x200, 9}};
  paths.profile.ledger.counted = paths.profile.ledger.samples = 12;
  return paths;
}

TEST(Callers, HaveTheFunctionsOwnTicksWithoutAPathToo) {
  const PathProfile paths = with_unread_paths();
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
  const Callers inner = callers_of(paths.profile, named, find_functions(named, "f2").at(0));
  EXPECT_EQ(inner.ticks, 9u);
  EXPECT_EQ(inner.unread, 3u);
  EXPECT_EQ(rows(inner.callers), "f1:17 5, [path not read by the recorder]:0 4, ");
  EXPECT_EQ(rows(inner.callees), "(itself):0 9, ");
  const Callers outer = callers_of(paths.profile, named, find_functions(named, "f1").at(0));
  EXPECT_EQ(outer.ticks, 8u);
  EXPECT_EQ(rows(outer.callers), "(outermost):0 5, [path not read by the recorder]:0 3, ");
  EXPECT_EQ(rows(outer.callees), "f2:0 5, (itself):0 3, ");
  const std::map<std::string, PathTotal> totals = paths.totals();
  EXPECT_EQ(totals.at("f1").low, 8u);
  EXPECT_EQ(totals.at("f2").low, 9u);
}

TEST(CallEdges, HaveTheFunctionsOwnTicksWithoutAPathToo) {
  const PathProfile paths = with_unread_paths();
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
  const CallEdges all = call_edges(named, [](const StackFrame& frame) {
    return frame.function == "f1" ? 1 : frame.function == "f2" ? 2 : 9;  // 9: the caller that is not known
  });
  EXPECT_EQ(all.on_stack.at(1).low, 8u);
  EXPECT_EQ(all.on_stack.at(2).low, 9u);
  std::string text;
  for (const CallEdge& edge : all.edges)
    if (!edge.is_sum) text += fmt::format("{}>{} {}; ", edge.caller, edge.callee, edge.ticks);
  EXPECT_EQ(text, "2>-1 9; -1>9 7; -1>1 5; 1>2 5; 9>2 4; 1>-1 3; 9>1 3; ");
}

TEST(CallEdges, AreWhatCallersOfFindsFunctionByFunction) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110, 0, 3), parse = paths.add(main, 0x211);
  paths.add(parse, 0x300, 6);
  paths.add(paths.add(parse, 0x210), 0x200, 5);  // f2 calls f2
  paths.add(main, 0x310, 4);
  paths.add(paths.add_cut(PathEnd::kNoUnwindTable), 0x300, 2);
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
  expect_edges_of_callers(paths.profile, named);
}

TEST(CallEdges, HaveTheTicksInInlinedCode) {
  const PathProfile paths = with_inlined_code();
  for (const Profile& profile : {paths.profile, Chosen(paths.profile, "f1", nullptr, nullptr).result}) {
    ObjectNames names(profile, &FakeSymbolizer::open);
    expect_edges_of_callers(profile, NamedPaths(profile, names, NamedPaths::Detail::kInlinedCode));
  }
}

TEST(CallEdges, CallsFromSeveralLinesAreOnePairThatCountsATickOnce) {
  PathProfile paths;
  const uint32_t first = paths.add(0, 0x110), second = paths.add(first, 0x120);  // f1 calls f1 from two lines
  paths.add(second, 0x100, 5);
  paths.add(paths.add(first, 0x110), 0x100, 2);
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
  expect_edges_of_callers(paths.profile, named);
  const CallEdges all = call_edges(named, [](const StackFrame&) { return 0; });
  std::string text;
  for (const CallEdge& edge : all.edges)
    if (edge.caller == 0 && edge.callee == 0)
      text += fmt::format("{}{} {}; ", edge.is_sum ? "sum " : "line ", edge.line, edge.ticks);
  EXPECT_EQ(text, "sum 0 7; line 17 7; line 18 5; ");
}

}  // namespace
}  // namespace pctally
