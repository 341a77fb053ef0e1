#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/sanitizer.h"
#include "profile/path_cut.h"
#include "report/paths/edges_for_test.h"
#include "report/paths/path_profile_for_test.h"

namespace pctally {
namespace {

constexpr uint64_t kSeeds = kSanitized ? 3 : 10;

constexpr uint64_t start_of(uint64_t position) { return position & ~uint64_t{0xff}; }

/// Random paths, one in four of them cut. About half of them were folded; the call plane has them all.
class FoldedPaths {
 public:
  explicit FoldedPaths(uint64_t seed, int count = 400) : random_(seed) {
    profile_.add_plane(0x100, 0);
    cut_ = profile_.add_cut(PathEnd::kNoUnwindTable);
    for (int i = 0; i < count; ++i) add(random_path(), random_() % 4 == 0, 1 + random_() % 5);
    fold();
    put_positions();
  }

  /// A third of the call plane's functions, or of its calls, found no room: their ticks are its scope's.
  void forget(bool functions) {
    PathTree& plane = profile_.profile.paths.plane;
    PathTree kept;
    std::vector<uint32_t> moved(plane.size(), UINT32_MAX);
    for (uint32_t i = 0; i < plane.size(); ++i) {
      PathTreeNode node = plane[i];
      const bool is_root = i == 0, is_function = !is_root && node.parent == 0;
      if (!is_root && !is_function && moved[node.parent] == UINT32_MAX) continue;  // not even tried
      if (!is_root && is_function == functions && random_() % 3 == 0) {
        kept[0].folded += node.self;
        continue;
      }
      moved[i] = static_cast<uint32_t>(kept.size());
      if (!is_root) node.parent = moved[node.parent];
      kept.push_back(node);
    }
    plane = std::move(kept);
  }

  /// Calls check(caller, callee, ticks) for each pair of functions.
  template <class Check>
  void for_each_pair(Check&& check) const {
    for (const auto& [pair, ticks] : pairs_) check(pair.first, pair.second, ticks);
  }
  [[nodiscard]] uint64_t total(const std::string& function) const {
    const auto found = totals_.find(function);
    return found == totals_.end() ? 0 : found->second;
  }
  [[nodiscard]] const Profile& profile() const { return profile_.profile; }

 private:
  using Path = std::vector<uint64_t>;  // calls, outermost first, and the start of the function that ran

  /// Odd positions are calls from an inlined function.
  Path random_path() {
    Path path;
    const uint64_t frames = 2 + random_() % 6;
    for (uint64_t i = 0; i < frames; ++i)
      path.push_back(0x100 * (1 + random_() % 7) + 0x10 * (random_() % 3) + random_() % 2);
    path.back() = start_of(path.back());
    return path;
  }

  void add(const Path& path, bool is_cut, uint64_t ticks) {
    uint32_t node = is_cut ? cut_ : 0;
    for (const uint64_t position : path) node = profile_.child(node, position);
    profile_.profile.paths.context[node].self += ticks;
    own_[path.back()] += ticks;
    add_to_plane(path, ticks);
    add_truth(path, is_cut, ticks);
  }

  void add_to_plane(const Path& path, uint64_t ticks) {
    std::set<uint32_t> met;
    for (size_t i = 0; i < path.size(); ++i) {
      const uint32_t function = plane_node(0, start_of(path[i]));
      met.insert(function);
      if (i != 0) met.insert(plane_node(function, path[i - 1]));
    }
    for (const uint32_t node : met) profile_.profile.paths.plane[node].self += ticks;
  }

  uint32_t plane_node(uint32_t parent, uint64_t position) {
    PathTree& plane = profile_.profile.paths.plane;
    for (uint32_t i = 0; i < plane.size(); ++i)
      if (plane[i].parent == parent && plane[i].position == position) return i;
    plane.push_back({.parent = parent, .kind = PathNodeKind::kCode, .position = position});
    return static_cast<uint32_t>(plane.size() - 1);
  }

  void add_truth(const Path& path, bool is_cut, uint64_t ticks) {
    std::vector<std::string> frames;
    if (is_cut) frames.push_back(cut_name({}, PathEnd::kNoUnwindTable));
    for (const uint64_t position : path) {
      frames.push_back("f" + std::to_string(position / 0x100));
      if (position % 2 != 0) frames.push_back("inlined");
    }
    std::set<std::pair<std::string, std::string>> pairs;
    for (size_t i = 0; i < frames.size(); ++i)
      pairs.emplace(i == 0 ? "(outermost)" : frames[i - 1], frames[i]);
    pairs.emplace(frames.back(), "(itself)");
    for (const auto& pair : pairs) pairs_[pair] += ticks;
    for (const std::string& function : std::set<std::string>(frames.begin(), frames.end()))
      totals_[function] += ticks;
  }

  /// As pruning does: leaves into their callers.
  void fold() {
    PathTree& tree = profile_.profile.paths.context;
    std::vector<bool> kept(tree.size());
    for (size_t i = tree.size(); i-- > 1;) {
      if (kept[i] || i == cut_ || random_() % 2 == 0) {
        kept[tree[i].parent] = true;
        continue;
      }
      tree[tree[i].parent].folded += tree[i].self + tree[i].folded;
      tree[i].self = tree[i].folded = 0;
    }
  }

  void put_positions() {
    uint64_t ticks = 0;
    for (const auto& [position, own] : own_) {
      profile_.profile.positions.push_back({0, position, own});
      ticks += own;
    }
    profile_.profile.ledger = {
        .counted = ticks, .samples = ticks, .weight_squares = static_cast<double>(ticks)};
  }

  std::mt19937_64 random_;
  PathProfile profile_;
  uint32_t cut_ = 0;
  std::map<std::pair<std::string, std::string>, uint64_t> pairs_;
  std::map<std::string, uint64_t> totals_;
  std::map<uint64_t, uint64_t> own_;
};

uint64_t sum_of_highs(const std::vector<CallerRow>& rows) {
  uint64_t ticks = 0;
  for (const CallerRow& row : rows) ticks += row.high;
  return ticks;
}

/// Of all lines together; the highest low, and all highs.
std::pair<uint64_t, uint64_t> range_of(const std::vector<CallerRow>& rows, const std::string& function) {
  std::pair<uint64_t, uint64_t> range;
  for (const CallerRow& row : rows) {
    if (row.frame.function != function) continue;
    range = {std::max(range.first, row.ticks), range.second + row.high};
  }
  return range;
}

TEST(FoldedPaths, CallersHaveTheTotalOfTheTable) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const FoldedPaths paths(seed);
    ObjectNames names(paths.profile(), &FakeSymbolizer::open);
    const NamedPaths named(paths.profile(), names, NamedPaths::Detail::kLines);
    const Report report = make_report(paths.profile(), &FakeSymbolizer::open, {});
    ASSERT_GT(report.paths.folded, 100u);
    ASSERT_EQ(report.rows.size(), 7u);
    for (const Row& row : report.rows) {
      SCOPED_TRACE(row.function);
      const Callers callers = callers_of(paths.profile(), named, find_functions(named, row.function).at(0));
      EXPECT_EQ(callers.ticks, paths.total(row.function));
      EXPECT_EQ(callers.ticks, row.total.low);
      EXPECT_EQ(callers.folded, 0u);
      EXPECT_FALSE(callers.is_range);
      EXPECT_GE(sum_of_highs(callers.callers), callers.ticks);
      EXPECT_GE(sum_of_highs(callers.callees), callers.ticks);
    }
  }
}

/// All unknown callees are in one row. Of calls that found no room there may be none.
void expect_to_hold(const std::vector<CallerRow>& rows, bool has_all, const std::string& function,
                    uint64_t truth) {
  const auto [low, known] = range_of(rows, function);
  const uint64_t high = known != 0 ? known : range_of(rows, "[folded]").second;
  if (high == 0 && !has_all) return;
  EXPECT_LE(low, truth);
  EXPECT_GE(high, truth);
  if (function != "(itself)" || !has_all) return;
  EXPECT_EQ(low, high);
}

void expect_the_truth(const FoldedPaths& paths) {
  ObjectNames names(paths.profile(), &FakeSymbolizer::open);
  const NamedPaths named(paths.profile(), names, NamedPaths::Detail::kLines);
  std::map<std::string, Callers> all;
  for (const StackFrame& function : find_functions(named, ""))
    all.emplace(function.function, callers_of(paths.profile(), named, function));
  for (const auto& [function, callers] : all) {
    SCOPED_TRACE(function);
    EXPECT_LE(callers.ticks, paths.total(function));
    EXPECT_GE(callers.ticks + callers.folded, paths.total(function));
    if (callers.function.object.empty()) {
      EXPECT_EQ(callers.folded, 0u);
      EXPECT_LE(callers.callers.size(), 1u) << "nobody calls a cut";
    }
  }
  paths.for_each_pair([&](const std::string& caller, const std::string& callee, uint64_t truth) {
    SCOPED_TRACE(caller + " calls " + callee);
    if (callee != "(itself)" && all.contains(callee))
      expect_to_hold(all.at(callee).callers, all.at(callee).has_all_calls, caller, truth);
    if (caller != "(outermost)" && all.contains(caller))
      expect_to_hold(all.at(caller).callees, all.at(caller).has_all_calls, callee, truth);
  });
}

TEST(FoldedPaths, CallersAndCalleesHoldTheTruth) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    expect_the_truth(FoldedPaths(seed));
  }
}

TEST(FoldedPaths, CallersAndCalleesHoldTheTruthWhereFewPathsAreKept) {
  for (uint64_t seed = 1; seed <= 10 * kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    expect_the_truth(FoldedPaths(seed, 12));
  }
}

TEST(FoldedPaths, CallersAndCalleesHoldTheTruthWhereSomeFoundNoRoom) {
  for (uint64_t seed = 1; seed <= 5 * kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    FoldedPaths paths(seed, seed % 2 == 0 ? 400 : 12);
    paths.forget(false);
    expect_the_truth(paths);
  }
}

TEST(FoldedPaths, EdgesOfThePageAreThoseOfCallers) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const FoldedPaths paths(seed);
    ObjectNames names(paths.profile(), &FakeSymbolizer::open);
    const NamedPaths named(paths.profile(), names, NamedPaths::Detail::kLines);
    expect_edges_of_callers(paths.profile(), named);
  }
}

}  // namespace
}  // namespace pctally
