#include "report/paths/call_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "report/paths/flame_svg.h"
#include "report/paths/path_profile_for_test.h"

namespace pctally {
namespace {

std::string tree_text(const PathProfile& paths, bool bottom_up, double min_share = 0.01) {
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
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

TEST(CallTree, WithoutALeastShareNothingIsAddedUp) {
  EXPECT_THAT(tree_text(two_ways(), false, 0), testing::Not(testing::HasSubstr("(others)")));
}

TEST(CallTree, RecursionInAChainIsANumber) {
  PathProfile paths;
  uint32_t at = paths.add(0, 0x110);
  for (int i = 0; i < 1000; ++i) at = paths.add(at, 0x210);
  for (int i = 0; i < 40; ++i) at = paths.add(at, i % 2 == 0 ? 0x310 : 0x410);
  paths.add(paths.add(at, 0x610), 0x500, 9);
  EXPECT_EQ(tree_text(paths, false),
            "100.00 %  29.91  └ f1 > f2 x 1,000 > (f3 > f4) x 20 > f6 > f5   self 100.0 %\n");
}

/// Functions of C++ that look alike call each other.
PathProfile look_alikes() {
  PathProfile paths;
  paths.profile.executables[0].path = "/bin/cxx";
  uint32_t at = 0;
  for (const uint64_t call : {0x110, 0x210, 0x410, 0x510, 0x610}) at = paths.add(at, call);
  paths.add(at, 0x0, 10);
  return paths;
}

/// A file can say that a path has millions of functions.
TEST(CallTree, PathsWithMoreLevelsThanATreeShowsEndInARowOfTheirOwn) {
  PathProfile paths;
  uint32_t at = 0;
  for (int i = 0; i < 20000; ++i) at = paths.add(at, i % 2 == 0 ? 0x210 : 0x310);
  paths.add(at, 0x500, 10);
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
  for (const bool bottom_up : {false, true}) {
    const CallTreeNode tree = call_tree(named, bottom_up);
    const CallTreeNode* node = &tree;
    size_t levels = 0;
    for (; !node->children.empty(); node = &node->children[0], ++levels) EXPECT_EQ(node->ticks, 10u);
    EXPECT_EQ(levels, 1u << 14);
    EXPECT_EQ(node->frame->function, "[deeper: not shown]");
    EXPECT_EQ(node->self, bottom_up ? 0u : 10u);
  }
}

TEST(CallTree, LookAlikesAreToldApartAndAreNoRecursion) {
  EXPECT_EQ(tree_text(look_alikes(), false),
            "100.00 %  27.75  └ put(int) > put(long) > help [0x400] > help [0x500] > read_all > "
            "std::map::operator[]   self 100.0 %\n");
}

TEST(CallTree, FunctionsOfOneNameInTwoObjectsAreToldApartAndAreNoRecursion) {
  PathProfile paths;
  paths.profile.executables.push_back({.path = "/lib/c.so", .build_id = {}});
  const uint32_t main = paths.add(0, 0x110), outer = paths.add(main, 0x210),
                 inner = paths.add(outer, 0x200, 10);
  paths.profile.paths.context[inner].executable = 1;
  paths.profile.positions.back().executable = 1;
  EXPECT_EQ(tree_text(paths, false), "100.00 %  27.75  └ f1 > f2 (prog) > f2 (c.so)   self 100.0 %\n");
}

std::string flame_of(const PathProfile& paths, const std::string& title) {
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
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
  EXPECT_THAT(svg, testing::HasSubstr("2,500 ticks, 2,500 of them in itself"));
  EXPECT_THAT(svg, testing::HasSubstr("; 0.09 % in frames too narrow to draw"));
  EXPECT_THAT(svg, testing::Not(testing::HasSubstr("f4  prog")));
}

TEST(FlameSvg, WhatWasLostIsAFrameOfItsOwn) {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x200, 2500);
  paths.profile.ledger.lost = 7500;
  const std::string svg = flame_of(paths, "prog");
  EXPECT_THAT(svg, testing::HasSubstr("<g class=\"c\"><title>[lost]  \n75.00 %"));
  EXPECT_THAT(svg, testing::HasSubstr("<rect x=\"8.00\" y=\"26\" width=\"900.00\""));
}

TEST(CallTree, JsonHasTheBranchesOfTheText) {
  PathProfile paths;  // of 300 ticks: 2 are 0.67 %, 3 are 1 %, 21 are 7 %
  for (const auto& [position, ticks] : {std::pair(0x200u, 2u), {0x300, 3}, {0x400, 21}, {0x500, 274}})
    paths.add(0, position, ticks);
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
  for (const double min_share : {0.0, 0.001, 0.008, 0.01, 0.0101, 0.07}) {
    const std::string text = tree_text(paths, false, min_share),
                      json = call_tree_json(paths.profile, call_tree(named, false), {.min_share = min_share});
    for (const std::string function : {"f2", "f3", "f4", "f5"})
      EXPECT_EQ(json.find('"' + function + '"') != std::string::npos,
                text.find(function) != std::string::npos)
          << function << " of " << min_share << "\n"
          << text;
  }
}

// Of 1,000 ticks: those of branches below 1 % and those that were lost are in it, too.
TEST(CallTree, OutermostNodesAddUpToAllTicks) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110);
  paths.add(main, 0x200, 880);
  paths.add(main, 0x300, 5);
  paths.add(main, 0x400, 6);
  paths.add(0, 0x500, 9);
  paths.profile.ledger.lost = 100;
  const std::string tree = tree_text(paths, false);
  EXPECT_THAT(tree, testing::HasSubstr("10.00 %"));
  EXPECT_THAT(tree, testing::HasSubstr("[lost]"));
  EXPECT_THAT(tree, testing::HasSubstr("0.90 %"));
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
  for (const bool bottom_up : {false, true}) {
    const auto json = nlohmann::json::parse(
        call_tree_json(paths.profile, call_tree(named, bottom_up), {.bottom_up = bottom_up}));
    uint64_t outermost = 0, self = 0;
    std::map<int64_t, uint64_t> below;
    for (const auto& node : json["nodes"]) {
      if (node["parent"] == -1) outermost += node["ticks"].get<uint64_t>();
      self += node["self"].get<uint64_t>();
      below[node["parent"].get<int64_t>()] += node["ticks"].get<uint64_t>();
    }
    EXPECT_EQ(outermost, 1000u);
    EXPECT_EQ(self, 1000u);
    for (size_t i = 0; i < json["nodes"].size() && !bottom_up; ++i) {
      const auto& node = json["nodes"][i];
      const bool is_rest = node["function"] == "(others)";
      EXPECT_EQ(node["ticks"].get<uint64_t>(),
                (is_rest ? 0 : below[static_cast<int64_t>(i)]) + node["self"].get<uint64_t>());
    }
  }
}

TEST(FlameSvg, WhatIsTooDeepIsNotCalledTooNarrow) {
  PathProfile paths;
  uint32_t at = 0;
  for (uint64_t i = 0; i < 399; ++i) at = paths.add(at, 0x110);
  paths.add(at, 0x200, 4);
  paths.add(paths.add(at, 0x310), 0x400, 996);
  const std::string svg = flame_of(paths, "prog");
  EXPECT_THAT(svg, testing::HasSubstr("part of all ticks; 99.60 % below the 400 rows drawn<"));
  EXPECT_THAT(svg, testing::HasSubstr(">f3</text>"));
}

TEST(FlameSvg, LookAlikesAreToldApart) {
  const std::string svg = flame_of(look_alikes(), "prog");
  for (const char* name : {"put(int)", "put(long)", "help [0x400]", "help [0x500]"}) {
    EXPECT_THAT(svg, testing::HasSubstr(fmt::format("<title>{}  cxx\n", name)));
    EXPECT_THAT(svg, testing::HasSubstr(fmt::format(">{}</text>", name)));
  }
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

/// Every tick is below a node of the first level: paths of hidden functions alone, and those without any.
TEST(CallTree, FoldedTicksOfAFunctionThatAlsoRanAreNotItsOwnBottomUp) {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x210, 60, 40);
  EXPECT_EQ(tree_text(paths, true),
            " 60.00 %   9.80  ├ f2\n"
            " 60.00 %   9.80  │ └ f1\n"
            " 40.00 %   9.80  └ [folded: deeper paths were not kept] > f2 > f1\n");
}

TEST(CallTree, TicksOfAFunctionWithFoldedPathsAreItsOwnTopDown) {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x210, 60, 40);
  EXPECT_EQ(tree_text(paths, false),
            "100.00 %   3.70  └ f1 > f2   self 60.0 %\n"
            " 40.00 %   9.80    └ [folded: deeper paths were not kept]   self 40.0 %\n");
}

/// A path with the least is shown as itself.
TEST(CallTree, SmallPathsHaveLessThanTheLeast) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110);
  paths.add(main, 0x200, 5);
  paths.add(main, 0x300, 4);
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
  const CallTreeNode small = small_paths_bottom_up(call_tree(named, false), 5);
  ASSERT_EQ(small.children.size(), 1u);
  EXPECT_EQ(small.children[0].frame->function, "f3");
  EXPECT_EQ(small.children[0].ticks, 4u);
}

TEST(CallTree, PathsWithoutAFunctionHaveANode) {
  PathProfile known = two_ways();
  known.profile.paths.context[0].self = 2;  // of the program, at no function
  for (const char* hidden : {"f[145]", "."}) {
    const Profile profile = Chosen(known.profile, nullptr, nullptr, hidden).result;
    ObjectNames names(profile, &FakeSymbolizer::open);
    const NamedPaths named(profile, names, NamedPaths::Detail::kLines);
    for (const bool bottom_up : {false, true}) {
      const CallTreeNode tree = call_tree(named, bottom_up);
      uint64_t below = 0, left_out = 0, nowhere = 0;
      for (const CallTreeNode& node : tree.children) {
        below += node.ticks;
        if (node.frame->object == kLeftOut) left_out += node.ticks;
        if (node.frame->function == kNoFunction) nowhere += node.self;
      }
      EXPECT_EQ(below, 45u);
      EXPECT_EQ(left_out, hidden[0] == '.' ? 43u : 8u);
      EXPECT_EQ(nowhere, 2u);
    }
  }
}

TEST(PathChoice, PathsOfHiddenFunctionsAloneAreLeftOut) {
  Chosen chosen(two_ways().profile, nullptr, nullptr, "f[145]");
  EXPECT_EQ(chosen.self["[paths left out]"], 8u);
  EXPECT_EQ(chosen.self["f2"], 15u);
  EXPECT_EQ(chosen.result.ledger.ticks(), 43u);
}

TEST(PathChoice, FoldedPathsOfHiddenFunctionsAloneAreLeftOutToo) {
  PathProfile paths;
  paths.add(0, 0x110, 2, 4);
  paths.add(0, 0x210, 3);
  Chosen chosen(paths.profile, nullptr, nullptr, "^f1$");
  EXPECT_EQ(chosen.self["[paths left out]"], 6u);
  EXPECT_EQ(chosen.self["f2"], 3u);
}

TEST(CallTree, TicksAreThoseOfTheContextTreeInBothDirections) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110, 0, 3);
  paths.add(paths.add(main, 0x211), 0x300, 6);
  paths.add(paths.add_cut(PathEnd::kNoUnwindTable), 0x300, 2);
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
  for (bool bottom_up : {false, true}) EXPECT_EQ(call_tree(named, bottom_up).ticks, 11u);
}

TEST(PathChoice, HiddenFunctionsThatCallEachOtherAreAllHidden) {
  PathProfile it;
  it.add(it.add(it.add(it.add(0, 0x110), 0x210), 0x310), 0x400, 5);
  const Chosen chosen(it.profile, nullptr, nullptr, "^f[23]$");
  EXPECT_EQ(chosen.total, (std::map<std::string, uint64_t>{{"f1", 5}, {"f4", 5}}));
}

/// What is in no path of the tree has found no room there.
TEST(PathChoice, TicksThatNoPathHasAreWithoutOne) {
  PathProfile it = two_ways();
  it.profile.ledger.counted += 3;
  const Chosen chosen(it.profile, "^f3$", nullptr, nullptr);
  EXPECT_EQ(chosen.result.paths.no_room, 3u);
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

}  // namespace
}  // namespace pctally
