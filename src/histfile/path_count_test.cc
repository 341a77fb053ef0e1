#include "tick/path_count.h"

#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "histfile/call_paths.h"
#include "histfile/fresh_file_for_test.h"
#include "histfile/path_nodes_for_test.h"

namespace pctally {
namespace {

struct Frame {
  uint64_t place, function;
};
using Path = std::vector<Frame>;

/// Counts into a file as a handler does.
class PathCountTest : public testing::Test {
 protected:
  void make(uint64_t bytes) {
    ASSERT_TRUE(add_call_paths(&fresh_.file(), {bytes, bytes}));
    ASSERT_TRUE(fresh_.file().make_room(2 * bytes / kUnitBytes));
    trees_ = trees_of(fresh_.file(), call_paths(fresh_.file()));
  }
  void count(const Path& path, uint64_t ticks, PathEnd end = PathEnd::kComplete) const {
    count_path(trees_, PathPlace::mark(PathPlace::kScope, 1), path, end, ticks,
               [this](PathTreeHead* tree, uint32_t parent, uint64_t place) {
                 return path_child(trees_.pool, tree, parent, place);
               });
  }
  [[nodiscard]] uint64_t ticks() const { return ticks_of(trees_.pool, *trees_.context); }
  /// Those that no mark of a cut is above.
  [[nodiscard]] uint64_t complete_ticks() const {
    const auto nodes = nodes_of(trees_.pool, *trees_.context);
    uint64_t complete = 0;
    for (const auto& [number, node] : nodes) {
      const PathNode* at = &node;
      while (at->parent != 0 && at->place >> PathPlace::kMarkShift != PathPlace::kCut)
        at = &nodes.at(at->parent);
      if (at->parent == 0) complete += node.self + node.folded;
    }
    return complete;
  }
  /// Ticks of each function, and of each of its calls.
  [[nodiscard]] std::map<std::pair<uint64_t, uint64_t>, uint64_t> plane() const {
    std::map<std::pair<uint64_t, uint64_t>, uint64_t> found;
    const auto nodes = nodes_of(trees_.pool, *trees_.plane);
    for (const auto& [number, node] : nodes) {
      if (node.parent == 0) continue;
      const PathNode& parent = nodes.at(node.parent);
      const bool is_call = parent.parent != 0;
      found[{is_call ? parent.place : node.place, is_call ? node.place : 0}] += node.self;
    }
    return found;
  }

  FreshFile fresh_;
  PathTrees trees_;
};

/// What the plane has to hold, by sets.
void add_expected(const Path& path, uint64_t ticks,
                  std::map<std::pair<uint64_t, uint64_t>, uint64_t>* expected) {
  std::set<std::pair<uint64_t, uint64_t>> once;
  for (size_t i = 0; i < path.size(); ++i) {
    once.insert({path[i].function, 0});
    if (i + 1 < path.size()) once.insert({path[i].function, path[i + 1].place});
  }
  for (const auto& key : once) (*expected)[key] += ticks;
}

TEST_F(PathCountTest, APathsFunctionsAndCallsCountOnceHoweverLongItIsAndWhateverRecurs) {
  make(1 << 20);
  std::mt19937 random{3};
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> expected;
  uint64_t sum = 0;
  for (unsigned most : {1u, 2u, 3u, 40u, 900u}) {  // distinct functions
    for (size_t depth : {1u, 2u, 30u, 31u, 1023u}) {
      std::vector<unsigned> functions;
      while (functions.size() < depth) functions.push_back(static_cast<unsigned>(random() % most));
      const Path path = path_of<Frame>(functions);
      count(path, depth);
      add_expected(path, depth, &expected);
      ASSERT_EQ(ticks(), sum += depth);
    }
  }
  EXPECT_EQ(plane(), expected);
}

TEST_F(PathCountTest, InAFullTreeAPathEndsWhereItsNodesEndAndThePlaneGoesOn) {
  make(64 * sizeof(PathNode));
  trees_.plane->most_nodes = 4096;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> expected;
  for (unsigned i = 0; i < 200; ++i) {
    const Path path = path_of<Frame>({0, 1, 2 + i % 100, 3});
    count(path, 1);
    add_expected(path, 1, &expected);
  }
  EXPECT_EQ(ticks(), 200u);
  EXPECT_EQ(*trees_.no_room, 0u);
  uint64_t folded = 0;
  for (const auto& [number, node] : nodes_of(trees_.pool, *trees_.context)) {
    folded += node.folded;
    EXPECT_TRUE(node.folded == 0 || PathPlace::segment(node.place) == 9) << "a scope has a child";
  }
  EXPECT_GT(folded, 100u);
  EXPECT_LT(folded, 200u) << "those that came first are whole";
  EXPECT_EQ(plane(), expected);
}

// What lies below the scope without a mark is complete.
TEST_F(PathCountTest, InAFullTreeTheFirstCutOfAKindIsNoCompletePath) {
  make(64 * sizeof(PathNode));
  trees_.plane->most_nodes = 4096;
  const Path cut = path_of<Frame>({1, 2});
  count(cut, 3, PathEnd::kNoUnwindTable);
  for (unsigned i = 0; i < 100; ++i) count(path_of<Frame>({0, 1, 2 + i, 3}), 1);
  count(cut, 4, PathEnd::kShortDump);
  EXPECT_EQ(*trees_.no_room, 0u);
  EXPECT_EQ(ticks(), 107u);
  EXPECT_EQ(complete_ticks(), 100u);
  trees_.context->most_nodes = 0;  // a pool without room
  count(cut, 5, PathEnd::kUnreadable);
  EXPECT_EQ(*trees_.no_room, 5u);
  EXPECT_EQ(ticks(), 107u);
  EXPECT_EQ(complete_ticks(), 100u);
}

TEST_F(PathCountTest, ThreadsThatMakeTheSameNodesLoseNoTick) {
  make(1 << 20);
  constexpr unsigned kThreads = 8, kRounds = 2000;
  const auto path_at = [](unsigned i) {
    return path_of<Frame>({0, 1 + i % 7, 1 + i % 7, 50 + i % 31, 100 + i % 11});
  };
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (unsigned i = 0; i < kRounds; ++i) count(path_at(i + thread), 1);
    });
  for (std::thread& thread : threads) thread.join();
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> expected;
  for (unsigned thread = 0; thread < kThreads; ++thread)
    for (unsigned i = 0; i < kRounds; ++i) add_expected(path_at(i + thread), 1, &expected);
  EXPECT_EQ(ticks(), uint64_t{kThreads} * kRounds);
  EXPECT_EQ(plane(), expected);
}

}  // namespace
}  // namespace pctally
