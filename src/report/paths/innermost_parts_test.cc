#include "report/paths/innermost_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "report/paths/call_tree.h"
#include "report/paths/flame_svg.h"
#include "report/paths/path_profile_for_test.h"

namespace pctally {
namespace {

/// As "f2:32>inlined:7", outermost first.
std::string text_of(std::span<const StackFrame> frames) {
  std::string text;
  for (const StackFrame& frame : frames) {
    if (!text.empty()) text += '>';
    text += frame.function;
    if (frame.line != 0) text += ':' + std::to_string(frame.line);
  }
  return text;
}

using Parts = std::map<std::pair<uint32_t, std::string>, uint64_t>;  // by node and frames

Parts parts_of(const Profile& profile, InnermostTicks which = InnermostTicks::kCertain) {
  ObjectNames names(profile, &FakeSymbolizer::open);
  Parts parts;
  visit_innermost_parts(profile, names, which, [&](const InnermostPart& part) {
    for (const InnermostPart::Path& path : part.paths) parts[{path.node, text_of(part.frames)}] += path.ticks;
  });
  return parts;
}

TEST(InnermostParts, OfTheOnlyPathAreAllItsTicks) {
  PathProfile paths;
  const uint32_t leaf = paths.add(paths.add(0, 0x110), 0x200, 14);
  paths.profile.positions = {{0, 0x200, 5}, {0, 0x205, 2}, {0, 0x217, 7}};
  EXPECT_EQ(parts_of(paths.profile),
            (Parts{{{leaf, "f2:32"}, 5}, {{leaf, "f2:32>inlined:7"}, 2}, {{leaf, "f2:33>inlined:7"}, 7}}));
}

TEST(InnermostParts, OfSeveralPathsAreWhatTheOthersCannotHave) {
  PathProfile paths;
  const uint32_t leaf = paths.add(paths.add(0, 0x110), 0x200, 10);
  paths.add(paths.add(0, 0x310), 0x200, 4);
  paths.profile.positions = {{0, 0x200, 5}, {0, 0x205, 9}};
  EXPECT_EQ(parts_of(paths.profile), (Parts{{{leaf, "f2:32"}, 1}, {{leaf, "f2:32>inlined:7"}, 5}}));
}

/// What is above the function's next neighbour is another's.
TEST(InnermostParts, OfNeighboursDoNotMix) {
  PathProfile paths;
  const uint32_t one = paths.add(paths.add(0, 0x110), 0x200, 3), other = paths.add(0, 0x300, 4);
  paths.profile.positions = {{0, 0x205, 3}, {0, 0x300, 4}};
  EXPECT_EQ(parts_of(paths.profile), (Parts{{{one, "f2:32>inlined:7"}, 3}, {{other, "f3:48"}, 4}}));
}

/// As in a profile whose positions were not all kept.
TEST(InnermostParts, AreNoneWhereThePlacesHaveFewerTicksThanThePaths) {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x200, 14);
  paths.profile.positions = {{0, 0x200, 13}};
  EXPECT_EQ(parts_of(paths.profile), Parts{});
}

TEST(InnermostParts, OfAChoiceOfPathsAreBoundedByTheWhole) {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x200, 10);
  paths.add(paths.add(0, 0x310), 0x200, 4);
  paths.profile.positions = {{0, 0x200, 5}, {0, 0x205, 9}};
  const Chosen chosen(paths.profile, "f1", nullptr, nullptr);
  uint64_t inlined = 0;
  for (const auto& [key, ticks] : parts_of(chosen.result))
    inlined += key.second == "f2:32>inlined:7" ? ticks : 0;
  EXPECT_EQ(inlined, 5u);
}

/// Ticks of random paths at random places: whatever is said of a path is true of it.
TEST(InnermostParts, AreNeverMoreThanTheTruth) {
  std::mt19937 random(7);
  const auto below = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
  uint64_t said = 0;
  for (int round = 0; round < 2000; ++round) {
    PathProfile paths;
    std::map<uint64_t, uint64_t> places;
    std::map<std::pair<uint32_t, std::string>, uint64_t> truth;
    for (uint32_t path = 0; path < 1 + below(3); ++path) {
      const uint32_t leaf = paths.add(paths.add(0, 0x1000 + 0x100 * path), 0x200);
      for (uint32_t place = 0; place < 1 + below(5); ++place) {
        const uint64_t position = 0x200 + below(4) * 0x10 + below(2), ticks = 1 + below(50);
        const std::string line = "f2:" + std::to_string(position / 16);
        paths.profile.paths.context[leaf].self += ticks;
        places[position] += ticks;
        truth[{leaf, position % 2 != 0 ? line + ">inlined:7" : line}] += ticks;
      }
    }
    paths.profile.positions.clear();
    for (const auto& [position, ticks] : places) paths.profile.positions.push_back({0, position, ticks});
    std::map<uint32_t, uint64_t> of_path;
    for (const auto& [key, ticks] : parts_of(paths.profile)) {
      ASSERT_LE(ticks, truth[key]) << key.second;
      ASSERT_LE(of_path[key.first] += ticks, paths.profile.paths.context[key.first].self);
      said += ticks;
    }
  }
  EXPECT_GT(said, 0u);
}

/// Counts the questions: an ELF file goes through all its symbols for each.
class CountedNames : public FakeSymbolizer {
 public:
  using FakeSymbolizer::FakeSymbolizer;
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
    ++questions;
    return FakeSymbolizer::find_names(positions);
  }
  static inline size_t questions = 0;
};

TEST(InnermostParts, OfManyFunctionsAreNamedTogether) {
  const auto questions = [](uint64_t functions) {
    PathProfile paths;
    for (uint64_t i = 1; i <= functions; ++i) paths.add(0, i << 8, 1);
    ObjectNames names(paths.profile, [](const ExecutableIdentity& identity) -> std::unique_ptr<Symbolizer> {
      return std::make_unique<CountedNames>(identity);
    });
    CountedNames::questions = 0;
    size_t parts = 0;
    visit_innermost_parts(paths.profile, names, InnermostTicks::kAll, [&](const InnermostPart&) { ++parts; });
    EXPECT_EQ(parts, functions);
    return CountedNames::questions;
  };
  EXPECT_EQ(questions(2), questions(200));
}

TEST(InnermostParts, AreSharedInProportion) {
  PathProfile paths;
  const uint32_t one = paths.add(paths.add(0, 0x110), 0x200, 10),
                 other = paths.add(paths.add(0, 0x310), 0x200, 5);
  paths.profile.positions = {{0, 0x200, 6}, {0, 0x205, 9}};
  EXPECT_EQ(parts_of(paths.profile, InnermostTicks::kAll), (Parts{{{one, "f2:32"}, 4},
                                                                  {{one, "f2:32>inlined:7"}, 6},
                                                                  {{other, "f2:32"}, 2},
                                                                  {{other, "f2:32>inlined:7"}, 3}}));
}

/// What the focus leaves out has its share, too.
TEST(InnermostParts, OfAChoiceOfPathsAreTheirShareOfTheWhole) {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x200, 10);
  paths.add(paths.add(0, 0x310), 0x200, 5);
  paths.profile.positions = {{0, 0x200, 6}, {0, 0x205, 9}};
  const Chosen chosen(paths.profile, "f3", nullptr, nullptr);
  std::map<std::string, uint64_t> ticks;
  for (const auto& [key, part] : parts_of(chosen.result, InnermostTicks::kAll)) ticks[key.second] += part;
  EXPECT_EQ(ticks, (decltype(ticks){{"f2:32", 2}, {"f2:32>inlined:7", 3}}));
}

TEST(InnermostParts, ArePerhapsNotAllTicksOfInlinedCode) {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x200, 10);
  paths.add(paths.add(0, 0x310), 0x300, 4);
  paths.add(paths.add(0, 0x310), 0x200, 4);
  paths.profile.positions = {{0, 0x200, 5}, {0, 0x205, 9}, {0, 0x305, 4}};
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kInnermostParts);
  for (const bool bottom_up : {false, true}) {
    const CallTreeNode tree = call_tree(named, bottom_up);
    const std::string text = call_tree_text(paths.profile, tree, {.min_share = 0, .bottom_up = bottom_up});
    EXPECT_THAT(text,
                testing::HasSubstr(
                    "; \"or more\": inlined code, part of which may count for the function around it\n"));
    EXPECT_THAT(text, testing::HasSubstr(bottom_up ? " 50.00 % or more  ├ inlined"
                                                   : " 27.78 % or more  │ └ inlined"));
  }
}

TEST(InnermostParts, OfAPictureAreEstimates) {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x200, 10);
  paths.add(paths.add(0, 0x310), 0x200, 5);
  paths.profile.positions = {{0, 0x200, 6}, {0, 0x205, 9}};
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kSharedParts);
  const std::string picture = flame_svg(paths.profile, call_tree(named, false), {});
  EXPECT_THAT(picture, testing::HasSubstr("inlined  prog\nabout 40.00 %, 6 ticks, 6 of them in itself"));
  EXPECT_THAT(picture, testing::HasSubstr("f2  prog\n66.67 % (95 %: 41.71 to 84.82), 10 ticks, 4 of them"));
}

TEST(InnermostParts, OfSmallPathsAreEstimatesUpToTheOutermostCaller) {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x200, 10);
  paths.add(paths.add(0, 0x310), 0x200, 5);
  paths.profile.positions = {{0, 0x200, 6}, {0, 0x205, 9}};
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kSharedParts);
  const CallTreeNode tree = small_paths_bottom_up(call_tree(named, false), 100);
  std::string text;
  for_each_node(tree, 0, [&](const CallTreeNode& node, int64_t parent) {
    text +=
        fmt::format("{}<{} {}{}; ", parent, node.frame->function, node.inexact ? "about " : "", node.ticks);
  });
  EXPECT_EQ(
      text,
      "-1<inlined about 9; 0<f2 about 9; 1<f1 about 6; 1<f3 about 3; -1<f2 6; 4<f1 about 4; 4<f3 about 2; ");
}

TEST(InnermostParts, AreFunctionsOfTheCallTree) {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x200, 10);
  paths.add(paths.add(0, 0x310), 0x200, 4);
  paths.profile.positions = {{0, 0x200, 1}, {0, 0x205, 13}};
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kInnermostParts);
  const CallTreeNode tree = call_tree(named, false);
  std::map<std::string, std::pair<uint64_t, uint64_t>> nodes;  // by caller and function: all and self
  for (const CallTreeNode& caller : tree.children)
    for (const CallTreeNode& function : caller.children) {
      nodes[caller.frame->function + ">" + function.frame->function] = {function.ticks, function.self};
      for (const CallTreeNode& inlined : function.children)
        nodes[caller.frame->function + ">" + inlined.frame->function] = {inlined.ticks, inlined.self};
    }
  EXPECT_EQ(nodes,
            (decltype(nodes){
                {"f1>f2", {10, 1}}, {"f1>inlined", {9, 9}}, {"f3>f2", {4, 1}}, {"f3>inlined", {3, 3}}}));
}

}  // namespace
}  // namespace pctally
