#include "path/path_counter.h"

#include <map>
#include <random>
#include <set>

#include "histfile/fresh_file_for_test.h"
#include "histfile/path_nodes_for_test.h"

namespace pctally {
namespace {

class PathCounterTest : public testing::Test {
 protected:
  PathCounter& counter(const PathLimits& limits = {}) {
    EXPECT_TRUE(add_call_paths(&fresh_.file(), limits));
    counter_.emplace(&fresh_.file());
    return *counter_;
  }
  [[nodiscard]] PathRecord& paths() { return *call_paths(fresh_.file()); }
  [[nodiscard]] Pool pool() { return fresh_.file().pool(); }

  std::map<uint32_t, PathNode> nodes(const PathTreeHead& tree) { return nodes_of(pool(), tree); }
  uint64_t sum(const PathTreeHead& tree) { return ticks_of(pool(), tree); }
  /// Ticks of functions in the plane.
  std::map<uint64_t, uint64_t> functions() {
    std::map<uint64_t, uint64_t> ticks;
    const auto all = nodes(paths().plane);
    for (const auto& [number, node] : all)
      if (node.parent != 0 && all.at(node.parent).parent == 0) ticks[node.place] += node.self;
    return ticks;
  }
  /// Ticks of (callee, call site) in the plane.
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> calls() {
    std::map<std::pair<uint64_t, uint64_t>, uint64_t> ticks;
    const auto all = nodes(paths().plane);
    for (const auto& [number, node] : all)
      if (node.parent != 0 && all.at(node.parent).parent != 0)
        ticks[{all.at(node.parent).place, node.place}] += node.self;
    return ticks;
  }

  FreshFile fresh_;
  std::optional<PathCounter> counter_;
};

TEST_F(PathCounterTest, TheContextTreeHoldsEveryTickOnce) {
  PathCounter& counter = this->counter();
  counter.count(1, path_of<PathFrame>({0, 1, 2}), PathEnd::kComplete, 3);
  counter.count(1, path_of<PathFrame>({0, 1}), PathEnd::kComplete, 2);
  counter.count(2, path_of<PathFrame>({0, 1, 2}), PathEnd::kComplete, 1);
  counter.count(1, path_of<PathFrame>({1, 2}), PathEnd::kShortDump, 4);
  EXPECT_EQ(sum(paths().context), 10u);
  // Two scopes; three nodes of the path in each; a cut with two.
  EXPECT_EQ(nodes(paths().context).size(), 2u + 3 + 1 + 3 + 3);
}

TEST_F(PathCounterTest, AFunctionAndACallCountOnceATickUnderRecursion) {
  PathCounter& counter = this->counter();
  counter.count(1, path_of<PathFrame>({0, 1, 1, 1, 2, 1}), PathEnd::kComplete, 5);
  EXPECT_EQ(functions(),
            (std::map<uint64_t, uint64_t>{{function(0), 5}, {function(1), 5}, {function(2), 5}}));
  EXPECT_EQ(calls(), (std::map<std::pair<uint64_t, uint64_t>, uint64_t>{{{function(1), call_in(0)}, 5},
                                                                        {{function(1), call_in(1)}, 5},
                                                                        {{function(2), call_in(1)}, 5},
                                                                        {{function(1), call_in(2)}, 5}}));
}

/// Random paths beside an unbounded account of them.
class RandomPaths {
 public:
  std::vector<unsigned> next() {
    std::vector<unsigned> path = {0};
    const size_t depth = 2 + random_() % 12;
    while (path.size() < depth) path.push_back(1 + random_() % 30);
    return path;
  }

 private:
  std::mt19937 random_{7};
};

TEST_F(PathCounterTest, WhatIsPrunedIsAddedToItsCallersAndThePlaneStaysExact) {
  PathCounter& counter = this->counter({.context_bytes = 100 * sizeof(PathNode), .plane_bytes = 1 << 20});
  RandomPaths random;
  std::map<uint64_t, uint64_t> inclusive;
  uint64_t ticks = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::vector<unsigned> path = random.next();
    counter.count(1, path_of<PathFrame>(path), PathEnd::kComplete, 1);
    ++ticks;
    std::set<uint64_t> once;
    for (unsigned number : path) once.insert(function(number));
    for (uint64_t place : once) ++inclusive[place];
    ASSERT_EQ(sum(paths().context) + paths().no_room, ticks) << "after path " << i;
    ASSERT_LE(paths().context.nodes, 100u);
  }
  EXPECT_GT(paths().pruned, 100u);
  EXPECT_EQ(paths().prunes % 2, 0u);
  EXPECT_EQ(functions(), inclusive);
  EXPECT_EQ(nodes(paths().context).size(), paths().context.nodes);
}

/// A whole machine: the plane has room for all its functions, the context tree has not for all its paths.
TEST_F(PathCounterTest, AHundredThousandFunctionsStayExactInThePlane) {
  constexpr unsigned kFunctions = 100000;
  PathCounter& counter = this->counter({.context_bytes = 1 << 20});
  std::map<uint64_t, uint64_t> inclusive;
  uint64_t ticks = 0;
  for (unsigned i = 0; i < 2 * kFunctions; ++i) {
    const unsigned caller = 1 + i % 300, leaf = 301 + i % (kFunctions - 301), weight = 1 + i % 3;
    counter.count(1 + i % 16, path_of<PathFrame>({0, caller, leaf}), PathEnd::kComplete, weight);
    ticks += weight;
    for (unsigned number : {0u, caller, leaf}) inclusive[function(number)] += weight;
  }
  EXPECT_EQ(inclusive.size(), kFunctions);
  EXPECT_EQ(functions(), inclusive);
  EXPECT_EQ(sum(paths().context), ticks);
  EXPECT_GT(paths().pruned, 0u);
  EXPECT_EQ(paths().no_room, 0u);
  EXPECT_NE(paths().plane.more, 0u) << "both trees have grown";
  EXPECT_NE(paths().context.more, 0u);
  EXPECT_EQ(nodes(paths().context).size(), paths().context.nodes);
  EXPECT_EQ(nodes(paths().plane).size(), paths().plane.nodes) << "each node is in one directory alone";
}

TEST_F(PathCounterTest, ANodeKeepsWhatItCountedInAllWhenNodesBelowItArePruned) {
  PathCounter& counter = this->counter({.context_bytes = 60 * sizeof(PathNode), .plane_bytes = 1 << 20});
  for (unsigned i = 0; i < 1000; ++i) {
    counter.count(1, path_of<PathFrame>({0, 1}), PathEnd::kComplete, 10);                    // hot: stays
    counter.count(1, path_of<PathFrame>({0, 2 + i % 200, 300 + i}), PathEnd::kComplete, 1);  // cold: goes
  }
  const auto all = nodes(paths().context);
  uint64_t hot = 0;
  for (const auto& [number, node] : all)
    if (node.place == function(1)) hot += node.self;
  EXPECT_EQ(hot, 10000u);
  EXPECT_EQ(sum(paths().context), 11000u);
}

/// Else nobody knows why the path is not known.
TEST_F(PathCounterTest, CutsArePrunedNoMoreThanScopes) {
  PathCounter& counter = this->counter({.context_bytes = 60 * sizeof(PathNode), .plane_bytes = 1 << 20});
  counter.count(1, {}, PathEnd::kNoRoom, 5);
  for (unsigned i = 0; i < 1000; ++i)
    counter.count(1, path_of<PathFrame>({0, 2 + i % 200, 300 + i}), PathEnd::kComplete, 10);
  EXPECT_GT(paths().pruned, 0u);
  uint64_t cut = 0;
  for (const auto& [number, node] : nodes(paths().context))
    if (node.place == PathPlace::mark(PathPlace::kCut, static_cast<uint32_t>(PathEnd::kNoRoom)))
      cut += node.self;
  EXPECT_EQ(cut, 5u);
}

/// A program that writes wherever it likes writes into the file, too.
TEST_F(PathCounterTest, PruningEndsWhateverIsWrittenIntoTheTrees) {
  std::mt19937 random{11};
  for (unsigned round = 0; round < 16; ++round) {
    FreshFile fresh;
    ASSERT_TRUE(
        add_call_paths(&fresh.file(), {.context_bytes = 2000 * sizeof(PathNode), .plane_bytes = 1 << 16}));
    PathCounter counter(&fresh.file());
    const auto count_some = [&] {
      for (unsigned i = 0; i < 3000; ++i)
        counter.count(1, path_of<PathFrame>({0, 1 + i % 30, 100 + i, 5000 + i}), PathEnd::kComplete, 1);
    };
    count_some();
    PathRecord& paths = *call_paths(fresh.file());
    const Pool pool = fresh.file().pool();
    ASSERT_GT(paths.prunes, 0u);
    auto* words = pool_at<uint32_t>(pool, 0);
    const uint32_t first = 16 * paths.context.directory,
                   count = 16 * (pool.head->used - paths.context.directory);
    for (unsigned i = 0; i < 400; ++i) {
      uint32_t& word = words[first + random() % count];
      if (i % 3 == 0) word = random();
      if (i % 3 == 1)
        word = 2 * paths.context.directory + random() % (count / 8);  // a node, or what is not one
      if (i % 3 == 2 && word != 0) word = words[first + random() % count];
    }
    uint32_t* heads[] = {&paths.context.nodes, &paths.context.spare, &paths.context.slots_log2,
                         &pool.head->used};
    if (round % 2 == 1) *heads[round / 2 % 4] = random();
    count_some();
  }
}

/// It would take a walk through the whole tree for each: the recorder of such a program went on for seconds.
TEST_F(PathCounterTest, APruneThatDoesNotHelpIsNotTriedAtEveryTick) {
  PathCounter& counter = this->counter({.context_bytes = 1000 * sizeof(PathNode), .plane_bytes = 1 << 16});
  const auto count_some = [&] {
    const uint64_t before = paths().prunes;
    for (unsigned i = 0; i < 1000; ++i)
      counter.count(1, path_of<PathFrame>({0, 1 + i % 30, 100 + i}), PathEnd::kComplete, 1);
    return (paths().prunes - before) / 2;
  };
  EXPECT_GT(count_some(), 0u);
  paths().context.nodes = 1 << 30;  // written there by a program
  const uint64_t nodes = uint64_t{pool().head->used} * kNodesPerUnit;
  EXPECT_LE(count_some(), 1 + 1000 * 64 / nodes);
}

/// Scopes stay. What else comes is folded at once, so that the tree is no larger than they and one path.
TEST_F(PathCounterTest, ATreeThatScopesFillIsPrunedAtEveryTick) {
  constexpr uint32_t kScopes = 900;
  PathCounter& counter = this->counter({.context_bytes = 1000 * sizeof(PathNode), .plane_bytes = 1 << 16});
  for (uint32_t i = 0; i < 5000; ++i) {
    counter.count(1 + i % kScopes, path_of<PathFrame>({0, 1 + i % 30, 100 + i}), PathEnd::kComplete, 1);
    ASSERT_LE(paths().context.nodes, 1000u) << i;
  }
  EXPECT_EQ(sum(paths().context), 5000u);
}

TEST_F(PathCounterTest, WhatFindsNoRoomInThePlaneIsOneRowOfItsScope) {
  PathCounter& counter = this->counter({.context_bytes = 1 << 20, .plane_bytes = 8 * sizeof(PathNode)});
  for (unsigned i = 0; i < 100; ++i) counter.count(1, path_of<PathFrame>({0, 1 + i}), PathEnd::kComplete, 1);
  uint64_t others = 0;
  for (const auto& [number, node] : nodes(paths().plane)) others += node.folded;
  EXPECT_GT(others, 0u);
  EXPECT_EQ(functions().at(function(0)), 100u) << "a row that is shown is right";
  EXPECT_EQ(sum(paths().context), 100u);
}

}  // namespace
}  // namespace pctally
