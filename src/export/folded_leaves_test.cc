#include "export/folded_leaves.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "export/formats.h"
#include "profile/path_cut.h"
#include "report/paths/path_profile_for_test.h"

namespace pctally {
namespace {

/// Of an export the ticks of each function, or line, that ran; and of each path of folded functions.
struct Sums {
  explicit Sums(const Profile& profile, bool lines = false) {
    const Samples samples = stacks_of(profile, &FakeSymbolizer::open, lines);
    for (const Sample& sample : samples.samples) {
      const Location& place = samples.place_of(sample);
      std::string name = place.frames.front().function;
      if (lines) name += ":" + std::to_string(place.frames.back().line);
      leaves[name] += sample.ticks;
      std::string path;
      for (size_t i = sample.stack.size(); i-- > 1;)
        path += samples.locations[sample.stack[i]].frames.back().function + ";";
      paths[path] += sample.ticks;
    }
  }
  std::map<std::string, uint64_t> leaves, paths;
};

using Ticks = std::map<std::string, uint64_t>;

/// f1 calls f2, which ran in 3 ticks of 23; f3 in 11 and f4 in 9 have no path.
PathProfile folded_profile() {
  PathProfile it;
  const uint32_t main = it.add(0, 0x110), other = it.add(0, 0x120);
  it.add(main, 0x200, 3);
  it.profile.paths.context[main].folded = 15;
  it.profile.paths.context[other].folded = 5;
  it.profile.positions = {{0, 0x210, 3}, {0, 0x330, 4}, {0, 0x340, 7}, {0, 0x410, 9}};
  it.profile.ledger = {.counted = 23, .samples = 23};
  return it;
}

TEST(FoldedLeaves, AreTheFunctionsWhoseTicksNoPathHas) {
  for (const bool has_plane : {false, true}) {
    PathProfile it = folded_profile();
    if (has_plane) it.add_plane(0x300, 11), it.add_plane(0x400, 9);
    const Sums sums(it.profile);
    EXPECT_EQ(sums.leaves, (Ticks{{"f2", 3}, {"f3", 11}, {"f4", 9}}));
    EXPECT_EQ(sums.paths, (Ticks{{"prog;f1;", 3}, {"prog;f1;[folded];", 20}}));
  }
}

TEST(FoldedLeaves, HaveTheirLines) {
  const Sums sums(folded_profile().profile, true);
  EXPECT_EQ(sums.leaves, (Ticks{{"f2:33", 3}, {"f3:51", 4}, {"f3:52", 7}, {"f4:65", 9}}));
}

/// The own path of a function may be kept, and other paths to it folded.
TEST(FoldedLeaves, AddToThePathsThatAreKept) {
  PathProfile it = folded_profile();
  it.profile.positions[0].ticks += 2;
  it.profile.positions[3].ticks -= 2;
  EXPECT_EQ(Sums(it.profile).leaves, (Ticks{{"f2", 5}, {"f3", 11}, {"f4", 7}}));
}

/// f2 and f3 are one entry of the unwind table, in which 5 paths end; 4 ticks of f4 have no path.
TEST(FoldedLeaves, OfAnEntryOfSeveralSymbolsAreNone) {
  PathProfile it;
  const uint32_t main = it.add(0, 0x110);
  it.add(main, 0x200, 5);
  it.profile.paths.context[main].folded = 4;
  it.profile.paths.scopes.push_back({"/bin/other", {}});
  it.profile.paths.plane = {{.kind = PathNodeKind::kScope},
                            {.kind = PathNodeKind::kScope, .position = 1},
                            {.parent = 0, .kind = PathNodeKind::kCode, .position = 0x200, .self = 5},
                            {.parent = 0, .kind = PathNodeKind::kCode, .position = 0x400, .self = 4},
                            {.parent = 1, .kind = PathNodeKind::kCode, .position = 0x400}};
  it.profile.positions = {{0, 0x210, 2}, {0, 0x310, 3}, {0, 0x410, 4}};
  it.profile.ledger = {.counted = 9, .samples = 9};
  const Sums sums(it.profile);
  EXPECT_EQ(sums.leaves.at("f4"), 4u);
  EXPECT_EQ(sums.paths.at("prog;f1;[folded];"), 4u);
}

TEST(FoldedLeaves, OfAProgramAreNoOthers) {
  PathProfile it = folded_profile();
  it.profile.paths.scopes.push_back({"/bin/other", {}});
  PathTree& tree = it.profile.paths.context;
  tree[2].folded = 0;
  tree.push_back({.kind = PathNodeKind::kScope, .position = 1, .folded = 5});
  it.profile.paths.plane = {{.kind = PathNodeKind::kScope},
                            {.kind = PathNodeKind::kScope, .position = 1},
                            {.parent = 0, .kind = PathNodeKind::kCode, .position = 0x300, .self = 11},
                            {.parent = 0, .kind = PathNodeKind::kCode, .position = 0x400, .self = 4},
                            {.parent = 1, .kind = PathNodeKind::kCode, .position = 0x400, .self = 5}};
  const std::string text = folded_export(it.profile, stacks_of(it.profile, &FakeSymbolizer::open, false));
  EXPECT_NE(text.find("other;[folded];f4 5\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("other;[folded];f3"), std::string::npos) << text;
}

TEST(FoldedLeaves, OfPathsWithoutRoomOrNotReadAreKnownToo) {
  PathProfile it;
  it.add(0, 0x110);
  it.profile.paths.context[it.add_cut(PathEnd::kInterrupted)].self = 6;
  it.profile.paths.no_room = 4;
  it.profile.positions = {{0, 0x330, 10}};
  it.profile.ledger = {.counted = 10, .samples = 10};
  const Sums sums(it.profile);
  EXPECT_EQ(sums.leaves, (Ticks{{"f3", 10}}));
  EXPECT_EQ(sums.paths,
            (Ticks{{"prog;[path not read by the recorder];", 6}, {"[no room for the path];", 4}}));
}

/// As of threads near the end of their stacks (timer), of processes that end, and of pctally_count().
TEST(FoldedLeaves, OfCutsWithoutAFunctionAreKnownToo) {
  for (const PathEnd end : {PathEnd::kNoRoom, PathEnd::kMemoryGone, PathEnd::kByHand}) {
    PathProfile it = folded_profile();
    it.profile.paths.context[it.add_cut(end)].self = 10;
    it.profile.positions.back().ticks += 10;
    const Sums sums(it.profile);
    EXPECT_EQ(sums.leaves, (Ticks{{"f2", 3}, {"f3", 11}, {"f4", 19}}));
    const std::string cut = "prog;" + cut_name(it.profile.paths, end) + ";";
    EXPECT_EQ(sums.paths, (Ticks{{"prog;f1;", 3}, {"prog;f1;[folded];", 20}, {cut, 10}}));
  }
}

/// Code of no known file is in no function.
TEST(FoldedLeaves, OfOtherCutsAreNone) {
  PathProfile it = folded_profile();
  it.profile.paths.context[it.add_cut(PathEnd::kUnknownMapping)].self = 10;
  it.profile.ledger.outside = 10;
  EXPECT_EQ(Sums(it.profile).paths["prog;f1;[folded];"], 20u);
}

/// The place of the tick is all that is below a program of `record --scope program`.
TEST(FoldedLeaves, AreNoneWhereStacksAreOfOneLocation) {
  PathProfile it;
  it.profile.paths.recorded = false;
  it.profile.paths.one_frame = true;
  it.add(0, 0x331, 4);
  it.profile.paths.context[it.add_cut(PathEnd::kNoRoom)].self = 3;
  it.profile.paths.context[0].folded = 5;
  it.profile.paths.no_room = 2;
  it.profile.positions[0].ticks = it.profile.ledger.counted = 14;
  const std::string text = folded_export(it.profile, stacks_of(it.profile, &FakeSymbolizer::open, true));
  EXPECT_EQ(text,
            "[no room for the path] 2\nprog;[folded] 5\nprog;[path without room for the stack] 3\n"
            "prog;f3;inlined 4\n");
}

class CountingSymbolizer : public FakeSymbolizer {
 public:
  CountingSymbolizer(const ExecutableIdentity& identity, size_t* calls)
      : FakeSymbolizer(identity), calls_(*calls) {}
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
    ++calls_;
    return FakeSymbolizer::find_names(positions);
  }

 private:
  size_t& calls_;
};

/// Each call takes time in proportion to the symbols that the object has.
TEST(FoldedLeaves, AreNamedAtOnce) {
  PathProfile it = folded_profile();
  const uint32_t main = 1;
  for (uint64_t function = 0x1000; function < 0x21000; function += 0x200) {
    it.add(main, function, 1);
    it.profile.positions.push_back({0, function + 0x110, 1});
  }
  size_t calls = 0;
  const auto open = [&](const ExecutableIdentity& identity) {
    return std::make_unique<CountingSymbolizer>(identity, &calls);
  };
  ASSERT_TRUE(lacks_leaves(it.profile.paths));
  ObjectNames names(it.profile, open);
  add_leaves(&it.profile, names);
  EXPECT_EQ(calls, 1u);
}

/// Ticks outside all code, or without room for their place, are in the tree alone.
TEST(FoldedLeaves, AreAsManyAsTheTicksSay) {
  PathProfile it = folded_profile();
  it.profile.positions.pop_back();
  it.profile.ledger = {.counted = 14, .full = 9, .samples = 23};
  EXPECT_EQ(Sums(it.profile).leaves, (Ticks{{"f2", 3}, {"f3", 11}, {"[folded]", 9}}));
}

}  // namespace
}  // namespace pctally
