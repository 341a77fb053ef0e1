#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "report/fake_symbolizer_for_test.h"
#include "report/hot_path.h"
#include "report/path_choice.h"
#include "report/paths/call_edges.h"
#include "report/paths/call_tree.h"
#include "report/paths/callers.h"
#include "report/paths/flame_svg.h"
#include "report/text.h"

namespace pctally {
namespace {

/// Functions are a hundred bytes (hexadecimal) long: position 0x310 is a call in f3, 0x300 is f3 itself.
class PathProfile {
 public:
  PathProfile() {
    profile.executables.push_back({.path = "/bin/prog", .build_id = {}});
    profile.period_ns = 1000000;
    profile.closed = true;
    profile.paths.recorded = true;
    profile.paths.scopes.push_back({"/bin/prog", {}});
    profile.paths.context.push_back({.kind = PathNodeKind::kScope});
  }
  uint32_t add(uint32_t parent, uint64_t position, uint64_t self = 0, uint64_t folded = 0) {
    profile.paths.context.push_back({.parent = parent,
                                     .kind = PathNodeKind::kCode,
                                     .position = position,
                                     .self = self,
                                     .folded = folded});
    count(position, self + folded);
    return static_cast<uint32_t>(profile.paths.context.size() - 1);
  }
  uint32_t add_cut(PathEnd end) {
    profile.paths.context.push_back(
        {.parent = 0, .kind = PathNodeKind::kCut, .position = static_cast<uint64_t>(end)});
    return static_cast<uint32_t>(profile.paths.context.size() - 1);
  }
  void add_plane(uint64_t position, uint64_t self) {
    PathTree& plane = profile.paths.plane;
    if (plane.empty()) plane.push_back({.kind = PathNodeKind::kScope});
    plane.push_back({.parent = 0, .kind = PathNodeKind::kCode, .position = position, .self = self});
  }
  [[nodiscard]] std::map<std::string, PathTotal> totals() const {
    std::map<std::string, PathTotal> totals;
    for (const Row& row : make_report(profile, &FakeSymbolizer::open, {}).rows)
      totals[row.function] = row.total;
    return totals;
  }

  Profile profile;

 private:
  void count(uint64_t position, uint64_t ticks) {
    if (ticks == 0) return;
    profile.positions.push_back({0, position, ticks});
    profile.ledger.counted += ticks;
    profile.ledger.samples += ticks;
    profile.ledger.weight_squares += ticks;
  }
};

/// Ticks of the paths that were chosen.
uint64_t chosen_ticks(const Profile& chosen) {
  uint64_t ticks = 0;
  for (const PathTreeNode& node : chosen.paths.context)
    if (node.kind != PathNodeKind::kCode || chosen.executables[node.executable].path != kLeftOut)
      ticks += node.self + node.folded;
  return ticks;
}

struct Chosen {
  Chosen(const Profile& profile, const char* focus, const char* ignore, const char* hide) {
    std::optional<NamePattern> patterns[3];
    const char* texts[] = {focus, ignore, hide};
    for (int i = 0; i < 3; ++i)
      if (texts[i] != nullptr) patterns[i] = std::move(*NamePattern::compile(texts[i]));
    ObjectNames names(profile, &FakeSymbolizer::open);
    const auto pointer = [](auto& pattern) { return pattern ? &*pattern : nullptr; };
    result = chosen_paths(profile, names, {pointer(patterns[0]), pointer(patterns[1]), pointer(patterns[2])});
    for (const Row& row : make_report(result, &FakeSymbolizer::open, {}).rows) {
      self[row.object.starts_with('[') ? row.object : row.function] = row.ticks;
      total[row.function] = row.total.low;
    }
  }
  Profile result;
  std::map<std::string, uint64_t> self, total;
};

/// main f1 calls f2 (10) and f3 (20), f3 calls f2 (5) too; f4 is called by nobody (7).
PathProfile two_ways() {
  PathProfile it;
  const uint32_t main = it.add(0, 0x110), through = it.add(main, 0x310);
  it.add(main, 0x200, 10);
  it.add(main, 0x300, 20);
  it.add(through, 0x200, 5);
  it.add(0, 0x400, 7);
  it.profile.ledger.outside = 1;  // it has a node, too
  it.add(0, 0x500, 1);
  it.profile.ledger.counted -= 1;
  return it;
}

TEST(PathChoice, FocusKeepsThePathsThroughAFunctionAndNamesTheOthers) {
  Chosen chosen(two_ways().profile, "^f3$", nullptr, nullptr);
  EXPECT_EQ(chosen.self["f3"], 20u);
  EXPECT_EQ(chosen.self["f2"], 5u);
  EXPECT_EQ(chosen.total["f1"], 25u);
  EXPECT_EQ(chosen.self["[paths left out]"], 18u);
  EXPECT_EQ(chosen.result.ledger.ticks(), 43u) << "every tick is somewhere";
  EXPECT_EQ(chosen_ticks(chosen.result), 25u);
}

TEST(PathChoice, IgnoreIsTheOpposite) {
  Chosen chosen(two_ways().profile, nullptr, "^f3$", nullptr);
  EXPECT_EQ(chosen.self["f2"], 10u);
  EXPECT_FALSE(chosen.self.contains("f3"));
  EXPECT_EQ(chosen.self["[paths left out]"], 25u);
}

TEST(PathChoice, AHiddenFunctionsTicksAreItsCallers) {
  Chosen chosen(two_ways().profile, nullptr, nullptr, "^f3$");
  EXPECT_EQ(chosen.self["f1"], 20u);
  EXPECT_EQ(chosen.self["f2"], 15u);
  EXPECT_EQ(chosen.total["f1"], 35u);
  EXPECT_FALSE(chosen.self.contains("f3"));
  EXPECT_EQ(chosen.result.ledger.ticks(), 43u);
}

TEST(PathChoice, WhatWasFoldedHasARowOfItsOwn) {
  PathProfile it;
  it.add(it.add(0, 0x110), 0x310, 0, 4);
  Chosen chosen(it.profile, "f1", nullptr, nullptr);
  EXPECT_EQ(chosen.self["[inner functions not kept]"], 4u);
  EXPECT_EQ(chosen.total["f3"], 4u);
}

TEST(PathTotals, OfAFunctionAreTheTicksWithItOnTheStack) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110);
  paths.add(paths.add(main, 0x210), 0x300, 6);
  paths.add(main, 0x300, 3);
  paths.add(main, 0x200, 1);
  auto totals = paths.totals();
  EXPECT_EQ(totals["f1"].low, 10u);
  EXPECT_EQ(totals["f2"].low, 7u);
  EXPECT_EQ(totals["f3"].low, 9u);
  for (const auto& [name, total] : totals) EXPECT_EQ(total.high, total.low) << name;
}

TEST(PathTotals, ATickCountsOnceUnderRecursion) {
  PathProfile paths;
  paths.add(paths.add(paths.add(paths.add(0, 0x110), 0x210), 0x110), 0x200, 5);
  EXPECT_EQ(paths.totals()["f1"].low, 5u);
  EXPECT_EQ(paths.totals()["f2"].low, 5u);
}

TEST(PathTotals, AreARangeWhereFoldedPathsMayHideTheFunction) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110, 0, 4);
  paths.add(main, 0x200, 6);
  EXPECT_EQ(paths.totals()["f2"].low, 6u);
  EXPECT_EQ(paths.totals()["f2"].high, 10u);
  EXPECT_EQ(paths.totals()["f1"].high, 10u);
}

TEST(PathTotals, AreExactWhereTheCallPlaneHasOneEntry) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110, 0, 4);
  paths.add(main, 0x200, 6);
  paths.add_plane(0x100, 10);
  paths.add_plane(0x200, 8);
  EXPECT_EQ(paths.totals()["f2"].low, 8u);
  EXPECT_EQ(paths.totals()["f2"].high, 8u);
}

TEST(PathTotals, AreAtLeastTheTicksOfTheFunctionItself) {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x200, 1);
  paths.profile.positions[0].ticks = 4;  // three more of its paths were folded into f1's
  paths.profile.ledger.counted = 4;
  paths.profile.paths.context[1].folded = 3;
  EXPECT_EQ(paths.totals()["f2"].low, 4u);
}

// f2 and another entry of f2 (its cold part) on one stack: adding their totals would be wrong.
TEST(PathTotals, OfSeveralEntriesAreNeverAdded) {
  PathProfile paths;
  paths.add(paths.add(0, 0x210), 0x220, 6);
  paths.add_plane(0x200, 6);
  paths.add_plane(0x220, 6);
  EXPECT_EQ(paths.totals()["f2"].low, 6u);
  EXPECT_EQ(paths.totals()["f2"].high, 6u);
}

TEST(PathTotals, SayWhatTheyCouldGainFromCutPaths) {
  PathProfile paths;
  paths.add(0, 0x100, 7);
  paths.add(paths.add_cut(PathEnd::kShortDump), 0x200, 3);
  EXPECT_EQ(paths.totals()["f1"].cut, 3u);
  EXPECT_EQ(paths.totals()["f2"].cut, 0u);
}

TEST(PathAccount, EveryTickIsCompleteOrCutForAReason) {
  PathProfile paths;
  paths.add(0, 0x100, 7, 2);
  paths.add(paths.add_cut(PathEnd::kShortDump), 0x200, 3);
  paths.profile.paths.no_room = 1;
  paths.profile.paths.stack_bytes = 8192;
  const PathAccount account = path_account(paths.profile.paths);
  EXPECT_EQ(account.ticks, 13u);
  EXPECT_EQ(account.complete, 9u);
  EXPECT_EQ(
      path_account_text(account),
      "9 of 13 ticks complete; 3 cut where the stack is deeper than the 8 KiB copied of it; 1 without room; "
      "2 folded into their callers");
  paths.profile.paths.first_come = true;
  const std::string text = path_account_text(path_account(paths.profile.paths));
  EXPECT_NE(text.find("2 folded into their callers, for they came when the tree was full"),
            std::string::npos);
}

TEST(HotPath, FollowsMostTicksDownFromTheOutermost) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110);
  paths.add(paths.add(main, 0x210), 0x300, 8);
  paths.add(main, 0x400, 2);
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  std::string text;
  for (const HotFrame& frame : hot_path(paths.profile, path_functions(paths.profile, names)).frames)
    text += frame.function + " ";
  EXPECT_EQ(text, "f1 f3 ") << "of f2 and f3 with the same share the inner one";
}

/// Sources are /src/prog.c:POSITION/16; at odd positions /src/inlined.h:7 is inlined.
std::optional<HotLine> hot_line_of(const PathProfile& paths) {
  return make_report(paths.profile, &FakeSymbolizer::open, {.hot_line = true}).hot_line;
}

TEST(HotLine, IsTheLineWithMostTicksAndCallsOfTheInnermostFunction) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110);
  paths.add(paths.add(main, 0x210), 0x300, 3);  // line 33 of f2
  paths.add(paths.add(main, 0x220), 0x400, 2);  // line 34
  paths.add(main, 0x200, 0);
  paths.profile.paths.context.back().self = 4;  // f2 itself, at line 34
  paths.profile.positions.push_back({0, 0x224, 4});
  paths.profile.ledger.counted += 4;
  const auto line = hot_line_of(paths);
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->file, "/src/prog.c");
  EXPECT_EQ(line->line, 0x22u);
  EXPECT_DOUBLE_EQ(line->share, 6.0 / 9);
  EXPECT_LT(line->interval.low, line->share);
  EXPECT_FALSE(make_report(paths.profile, &FakeSymbolizer::open, {}).hot_line)
      << "only where it is asked for";
}

TEST(HotLine, StandsAboveTheTableWithItsText) {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x200, 0);
  paths.profile.paths.context.back().self = 9;
  paths.profile.positions.push_back({0, 0x210, 9});
  paths.profile.ledger.counted += 9;
  const Report report = make_report(paths.profile, &FakeSymbolizer::open, {.hot_line = true});
  const TextOptions terminal{.width = 80, .hot_source = "  \tcall(\033);"}, pipe{};
  EXPECT_THAT(text_report(paths.profile, report, terminal),
              testing::HasSubstr("\nhot line  prog.c:33 100.0 % ± 29.9  call(\\x1b);\n\n"));
  EXPECT_THAT(text_report(paths.profile, report, pipe),
              testing::HasSubstr("\nhot line  /src/prog.c:33 100.0 % ± 29.9\n\n"));
}

TEST(HotLine, CountsATickOnceUnderRecursion) {
  PathProfile paths;
  const uint32_t outer = paths.add(0, 0x110),
                 inner = paths.add(outer, 0x118);  // f1 calls f1, both in line 17
  paths.add(inner, 0x100, 0);
  paths.profile.paths.context.back().self = 10;
  paths.profile.positions.push_back({0, 0x11c, 10});  // and runs in that line
  paths.profile.ledger.counted += 10;
  const auto line = hot_line_of(paths);
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->line, 0x11u);
  EXPECT_DOUBLE_EQ(line->share, 1);
}

TEST(HotLine, IsInTheReadersOwnSourceBeforeALibrarys) {
  PathProfile paths;
  paths.profile.executables.push_back({.path = "/usr/lib/library.so", .build_id = {}});
  const uint32_t main = paths.add(0, 0x110), call = paths.add(main, 0x210);
  paths.add(call, 0x300, 8);
  paths.profile.paths.context.back().executable = 1;
  paths.profile.positions.back().executable = 1;
  auto open = [](const ExecutableIdentity& identity) -> std::unique_ptr<Symbolizer> {
    struct Library : FakeSymbolizer {
      using FakeSymbolizer::FakeSymbolizer;
      std::vector<std::vector<Frame>> frames(std::span<const uint64_t> positions) override {
        return {positions.size(), {Frame{"inner", "/usr/src/library.c", 5, ""}}};
      }
    };
    if (identity.path.starts_with("/usr")) return std::make_unique<Library>(identity);
    return FakeSymbolizer::open(identity);
  };
  auto line = make_report(paths.profile, open, {.hot_line = true}).hot_line;
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->file, "/src/prog.c");
  EXPECT_EQ(line->line, 0x21u);
  paths.profile.executables[0].path = "/lib/stripped.so";  // without lines
  line = make_report(paths.profile, open, {.hot_line = true}).hot_line;
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->file, "/usr/src/library.c");
  paths.profile.executables[1].path = "/lib/stripped.so";
  EXPECT_FALSE(make_report(paths.profile, open, {.hot_line = true}).hot_line);
}

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
  const NamedPaths named(paths.profile, names, true);
  const std::vector<StackFrame> found = find_functions(named, "f3");
  ASSERT_EQ(found.size(), 1u);
  const Callers callers = callers_of(paths.profile, named, found[0]);
  EXPECT_EQ(callers.ticks, 10u);
  EXPECT_EQ(rows(callers.callers), "f2:33 6, f1:17 4, ");
  EXPECT_EQ(rows(callers.callees), "(itself):0 9, f4:0 1, ");
}

TEST(Callers, AnInlinedFunctionIsACallerOfItsOwn) {
  PathProfile paths;
  paths.add(paths.add(0, 0x211), 0x300, 6);  // at odd positions the fake inlines a function
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, true);
  const Callers callers = callers_of(paths.profile, named, find_functions(named, "f3").at(0));
  EXPECT_EQ(rows(callers.callers), "inlined:7 6, ");
  ASSERT_EQ(callers.callers[0].outer.size(), 1u);
  EXPECT_EQ(callers.callers[0].outer[0].function, "f2");
}

TEST(Callers, UnderRecursionNoPartIsLargerThanTheWhole) {
  PathProfile paths;
  paths.add(paths.add(paths.add(paths.add(0, 0x110), 0x210), 0x210), 0x200, 5);
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, true);
  const Callers callers = callers_of(paths.profile, named, find_functions(named, "f2").at(0));
  EXPECT_EQ(callers.ticks, 5u);
  for (const auto* part : {&callers.callers, &callers.callees})
    for (const CallerRow& row : *part) EXPECT_LE(row.ticks, 5u);
}

TEST(FindFunctions, AnExactNameWinsElseAllThatContainIt) {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x1100, 5);  // f1, f11
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, false);
  EXPECT_EQ(find_functions(named, "f1").size(), 1u);
  EXPECT_EQ(find_functions(named, "f").size(), 2u);
  EXPECT_TRUE(find_functions(named, "none").empty());
}

std::string tree_text(const PathProfile& paths, bool bottom_up, double min_share = 0.01) {
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, true);
  const std::string text = call_tree_text(paths.profile, call_tree(named, bottom_up),
                                          {.min_share = min_share, .bottom_up = bottom_up});
  return text.substr(text.find('\n') + 1);
}

TEST(CallTree, AChainIsOneLineAndSmallBranchesAreAddedUp) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110), parse = paths.add(main, 0x210);
  paths.add(paths.add(parse, 0x310), 0x400, 90);
  paths.add(main, 0x500, 6);
  paths.add(main, 0x600, 2);
  paths.add(main, 0x700, 2);
  EXPECT_EQ(tree_text(paths, false, 0.03),
            "100.00 %   3.70  └ f1\n"
            " 90.00 %   7.44    ├ f2 > f3 > f4   self 90.0 %\n"
            "  6.00 %   6.48    ├ f5   self 6.0 %\n"
            "  4.00 %   5.84    └ (others)\n");
}

std::string flame_of(const PathProfile& paths, const std::string& title) {
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, true);
  return flame_svg(paths.profile, call_tree(named, false), {.title = title});
}

// 10,000 ticks on 1200 pixels: 9 of them are narrower than one, and said.
TEST(FlameSvg, AFrameIsAsWideAsItsShareAndWhatIsTooNarrowIsAddedUp) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110);
  paths.add(main, 0x200, 2500);
  paths.add(main, 0x300, 7491);
  paths.add(main, 0x400, 8);
  paths.add(main, 0x500, 1);
  const std::string svg = flame_of(paths, "prog");
  EXPECT_THAT(svg, testing::HasSubstr("width=\"1200.00\""));
  EXPECT_THAT(svg, testing::HasSubstr("width=\"300.00\""));
  EXPECT_THAT(svg, testing::HasSubstr("25.00 % (95 %: "));
  EXPECT_THAT(svg, testing::HasSubstr("2500 ticks, 2500 of them in itself"));
  EXPECT_THAT(svg, testing::HasSubstr("; 0.09 % in frames too narrow to draw"));
  EXPECT_THAT(svg, testing::Not(testing::HasSubstr("f4  prog")));
}

TEST(FlameSvg, NamesAreNoMarkup) {
  PathProfile paths;
  paths.add(0, 0x100, 5);
  const std::string svg = flame_of(paths, "</text><script>alert(\"1\")</script>&\x1b");
  EXPECT_THAT(svg,
              testing::HasSubstr("&lt;/text&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;\\x1b"));
  EXPECT_THAT(svg, testing::Not(testing::HasSubstr("<script")));
}

TEST(CallTree, BottomUpStartsAtWhatRan) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110);
  paths.add(paths.add(main, 0x210), 0x400, 30);
  paths.add(main, 0x400, 10);
  EXPECT_EQ(tree_text(paths, true),
            "100.00 %   8.76  └ f4\n"
            " 75.00 %  15.19    ├ f2 > f1\n"
            " 25.00 %  15.19    └ f1\n");
}

TEST(CallTree, TicksAreThoseOfTheContextTreeInBothDirections) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110, 0, 3);
  paths.add(paths.add(main, 0x211), 0x300, 6);
  paths.add(paths.add_cut(PathEnd::kNoUnwindTable), 0x300, 2);
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, true);
  for (bool bottom_up : {false, true}) EXPECT_EQ(call_tree(named, bottom_up).ticks, 11u);
}

/// Everything that callers_of() says of a function, from all edges: "caller:line callee ticks".
TEST(CallEdges, AreWhatCallersOfFindsFunctionByFunction) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110, 0, 3), parse = paths.add(main, 0x211);
  paths.add(parse, 0x300, 6);
  paths.add(paths.add(parse, 0x210), 0x200, 5);  // f2 calls f2
  paths.add(main, 0x310, 4);
  paths.add(paths.add_cut(PathEnd::kNoUnwindTable), 0x300, 2);
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, true);
  std::vector<StackFrame> functions;
  const CallEdges all = call_edges(named, [&](const StackFrame& frame) {
    for (size_t i = 0; i < functions.size(); ++i)
      if (function_of(functions[i]) == function_of(frame)) return static_cast<int64_t>(i);
    functions.push_back(frame);
    return static_cast<int64_t>(functions.size() - 1);
  });
  for (size_t i = 0; i < functions.size(); ++i) {
    const auto number = static_cast<int64_t>(i);
    const Callers callers = callers_of(paths.profile, named, functions[i]);
    EXPECT_EQ(all.on_stack.at(number), callers.ticks) << functions[i].function;
    std::multiset<uint64_t> in, out, expected_in, expected_out;
    std::map<int64_t, uint64_t> by_callee;
    for (const CallEdge& edge : all.edges) {
      if (edge.callee == number) in.insert(edge.ticks);
      if (edge.caller == number) by_callee[edge.callee] += edge.ticks;
    }
    for (const auto& [callee, ticks] : by_callee) out.insert(ticks);
    for (const CallerRow& row : callers.callers) expected_in.insert(row.ticks);
    for (const CallerRow& row : callers.callees) expected_out.insert(row.ticks);
    EXPECT_EQ(in, expected_in) << functions[i].function;
    EXPECT_EQ(out, expected_out) << functions[i].function;
  }
}

}  // namespace
}  // namespace pctally
