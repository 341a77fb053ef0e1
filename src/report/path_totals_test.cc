#include "report/path_totals.h"
#include "report/account/path_account.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

#include "report/fake_symbolizer_for_test.h"
#include "report/json.h"
#include "report/rollup.h"
#include "report/text.h"

namespace pctally {
namespace {

struct Place {
  uint32_t executable = 0;
  uint64_t position = 0;
};

/// Outermost first: calls, and where the innermost function ran.
struct Path {
  uint64_t scope = 0;
  std::vector<Place> places;
  uint64_t ticks = 0;
};

constexpr uint64_t kFunctionBytes = 0x100;  // FakeSymbolizer's
uint64_t start_of(uint64_t position) { return position & ~(kFunctionBytes - 1); }

enum class Recursion { kMuch, kNone };

/// A profile with paths, and each path kept beside it.
class KnownPaths {
 public:
  /// With 300 paths, unless the seed is 0.
  explicit KnownPaths(uint64_t seed, Recursion recursion = Recursion::kMuch) : random_(seed) {
    for (const char* path : {"/bin/prog", "/lib/libc.so", "/lib/libm.so"})
      profile.executables.push_back({.path = path, .build_id = {}});
    profile.paths.recorded = true;
    for (const char* scope : {"/bin/a", "/bin/b"}) profile.paths.scopes.push_back({scope, {}});
    for (int i = 0; i < 300 && seed != 0; ++i) add(random_path(recursion));
  }

  void add(Path path) {
    uint32_t node =
        child(&profile.paths.context, PathTreeNode::kNoParent, PathNodeKind::kScope, {0, path.scope});
    const uint32_t plane =
        child(&profile.paths.plane, PathTreeNode::kNoParent, PathNodeKind::kScope, {0, path.scope});
    std::set<uint32_t> met;
    for (size_t i = 0; i < path.places.size(); ++i) {
      Place place = path.places[i];
      const Place function{place.executable, start_of(place.position)};
      if (i + 1 == path.places.size()) place = function;
      node = child(&profile.paths.context, node, PathNodeKind::kCode, place);
      met.insert(child(&profile.paths.plane, plane, PathNodeKind::kCode, function));
    }
    profile.paths.context[node].self += path.ticks;
    for (uint32_t function : met) profile.paths.plane[function].self += path.ticks;
    const Place& last = path.places.back();
    own_[{last.executable, last.position}] += path.ticks;
    profile.ledger.counted += path.ticks;
    profile.ledger.samples += path.ticks;
    profile.ledger.weight_squares += static_cast<double>(path.ticks);
    paths.push_back(std::move(path));
  }

  /// Ticks of one place were in truth at another.
  void move_own(const Place& from, const Place& to) {
    own_[{to.executable, to.position}] = own_[{from.executable, from.position}];
    own_.erase({from.executable, from.position});
  }

  /// Folds about half of the leaves, as pruning does, some several levels deep.
  void fold() {
    PathTree& tree = profile.paths.context;
    std::vector<bool> has_children(tree.size());
    for (size_t i = tree.size(); i-- > 0;) {
      PathTreeNode& node = tree[i];
      if (node.parent == PathTreeNode::kNoParent) continue;
      if (has_children[i] || random_() % 2 == 0) {
        has_children[node.parent] = true;
        continue;
      }
      tree[node.parent].folded += node.self + node.folded;
      node.self = node.folded = 0;
    }
    drop_empty();
  }

  /// The plane without some functions: they found no room.
  void forget_of_plane() {
    PathTree& plane = profile.paths.plane;
    for (PathTreeNode& node : plane) {
      if (node.parent == PathTreeNode::kNoParent || random_() % 3 != 0) continue;
      plane[node.parent].folded += node.self;
      node.kind = PathNodeKind::kUnknown;
      node.self = 0;
    }
  }

  /// The first nodes of both trees alone: what is below them was folded, or found no room.
  void keep_first(size_t nodes) {
    PathTree &tree = profile.paths.context, &plane = profile.paths.plane;
    for (size_t i = tree.size(); i-- > nodes;) tree[tree[i].parent].folded += tree[i].self + tree[i].folded;
    for (size_t i = nodes; i < plane.size(); ++i) plane[0].folded += plane[i].self;
    tree.resize(nodes);
    plane.resize(nodes);
  }

  Report report(Grouping by) {
    profile.positions.clear();
    for (const auto& [place, ticks] : own_) profile.positions.push_back({place.first, place.second, ticks});
    return make_report(profile, &FakeSymbolizer::open, {.by = by});
  }

  Profile profile;
  std::vector<Path> paths;

 private:
  /// A path through nine functions with six places each.
  Path random_path(Recursion recursion) {
    Path path{.scope = random_() % 2, .places = {}, .ticks = 1 + random_() % 5};
    std::vector<uint64_t> functions = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    std::shuffle(functions.begin(), functions.end(), random_);
    const uint64_t frames = 1 + random_() % 7;
    for (uint64_t i = 0; i < frames; ++i) {
      const uint64_t function = recursion == Recursion::kNone ? functions[i] : random_() % 9;
      path.places.push_back({static_cast<uint32_t>(function / 3),
                             function % 3 * kFunctionBytes + 0x10 * (1 + random_() % 3) + random_() % 2});
    }
    return path;
  }

  uint32_t child(PathTree* tree, uint32_t parent, PathNodeKind kind, const Place& place) {
    for (uint32_t i = 0; i < tree->size(); ++i)
      if ((*tree)[i].key() == PathTreeNode::Key{parent, kind, place.executable, place.position, false})
        return i;
    tree->push_back(
        {.parent = parent, .kind = kind, .executable = place.executable, .position = place.position});
    return static_cast<uint32_t>(tree->size() - 1);
  }

  /// Leaves without ticks are not in a tree.
  void drop_empty() {
    PathTree& tree = profile.paths.context;
    const std::vector<uint64_t> below = ticks_below(tree);
    PathTree kept;
    std::vector<uint32_t> moved(tree.size());
    for (size_t i = 0; i < tree.size(); ++i) {
      if (below[i] == 0) continue;
      moved[i] = static_cast<uint32_t>(kept.size());
      kept.push_back(tree[i]);
      if (kept.back().parent != PathTreeNode::kNoParent) kept.back().parent = moved[kept.back().parent];
    }
    tree = std::move(kept);
  }

  std::mt19937_64 random_;
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> own_;
};

using Name = std::tuple<std::string, std::string, std::string, uint32_t>;  // program, object, function, line

const char* object_of(const Place& place) {
  constexpr const char* kObjects[] = {"prog", "libc.so", "libm.so"};
  return kObjects[place.executable];
}

std::string function_name(const Place& place) {
  return fmt::format("f{:x}", place.position / kFunctionBytes);
}

/// What a place counts for, in the words of a row.
Name name_of(Grouping by, const Path& path, const Place& place) {
  const bool inlined = place.position % 2 != 0;
  switch (by) {
    case Grouping::kObject:
      return {"", object_of(place), "", 0};
    case Grouping::kLine:
      return {"", object_of(place), inlined ? "inlined" : function_name(place),
              inlined ? 7 : static_cast<uint32_t>(place.position / 16)};
    case Grouping::kProgram:
      return {path.scope == 0 ? "a" : "b", "", "", 0};
    case Grouping::kProgramFunction:
      return {path.scope == 0 ? "a" : "b", object_of(place), function_name(place), 0};
    default:
      return {"", object_of(place), function_name(place), 0};
  }
}

/// The ticks of all paths with it, however often it is there.
std::map<Name, uint64_t> true_totals(const KnownPaths& known, Grouping by) {
  std::map<Name, uint64_t> totals;
  for (const Path& path : known.paths) {
    std::set<Name> names;
    for (const Place& place : path.places) names.insert(name_of(by, path, place));
    for (const Name& name : names) totals[name] += path.ticks;
  }
  return totals;
}

constexpr Grouping kAll[] = {Grouping::kFunction, Grouping::kObject, Grouping::kLine, Grouping::kProgram,
                             Grouping::kProgramFunction};

/// Calls check(row, its true total) for each row, which are all that are known.
template <class Check>
void for_each_total(KnownPaths& known, Grouping by, Check&& check) {
  std::map<Name, uint64_t> truth = true_totals(known, by);
  const uint64_t all = known.profile.ledger.ticks();
  for (const Row& row : known.report(by).rows) {
    SCOPED_TRACE(fmt::format("by {}: {} {} {} {}", grouping_word(by), row.program, row.object, row.function,
                             row.line));
    if (row.function == "[inner functions not kept]") continue;
    EXPECT_LE(row.ticks, row.total.low);
    EXPECT_LE(row.total.low, row.total.high);
    EXPECT_LE(row.total.high, all);
    EXPECT_LE(row.total_interval.high, 1);
    const auto found = truth.find({row.program, row.object, row.function, row.line});
    ASSERT_NE(found, truth.end());
    check(row, found->second);
    truth.erase(found);
  }
}

TEST(PathTotals, AreWhatAnUnboundedCountHasAndOnceATick) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    KnownPaths known(seed);
    for (const Grouping by : kAll) {
      size_t rows = 0;
      for_each_total(known, by, [&](const Row& row, uint64_t truth) {
        ++rows;
        EXPECT_LE(row.total.low, truth);
        EXPECT_GE(row.total.high, truth);
        if (by != Grouping::kLine) {
          EXPECT_EQ(row.total.high, row.total.low);
        }
      });
      EXPECT_EQ(rows, true_totals(known, by).size()) << grouping_word(by);
    }
  }
}

TEST(PathTotals, HoldTheTruthWherePathsWereFolded) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    KnownPaths known(seed);
    known.fold();
    for (const bool forgotten : {false, true}) {
      if (forgotten) known.forget_of_plane();
      for (const Grouping by : kAll)
        for_each_total(known, by, [&](const Row& row, uint64_t truth) {
          EXPECT_LE(row.total.low, truth);
          EXPECT_GE(row.total.high, truth);
        });
    }
  }
}

/// Folded paths, and a call plane without room: a function's own ticks are all that is left of it.
TEST(PathTotals, OfAFunctionThatNoTreeHasAreARange) {
  KnownPaths known(0);
  known.add({.scope = 0, .places = {{0, 0x110}, {0, 0x210}, {1, 0x10}}, .ticks = 6});
  known.add({.scope = 0, .places = {{0, 0x110}, {0, 0x210}}, .ticks = 2});
  known.keep_first(2);  // the scope, and f1
  size_t ranges = 0;
  for_each_total(known, Grouping::kFunction, [&](const Row& row, uint64_t truth) {
    EXPECT_LE(row.total.low, truth);
    EXPECT_GE(row.total.high, truth);
    EXPECT_LE(row.total.high, 8u);
    ranges += row.total.low < row.total.high ? 1 : 0;
  });
  EXPECT_EQ(ranges, 2u) << "f1 is known exactly";
}

/// A line that is inlined into several functions is in all of them.
TEST(PathTotals, OfLinesAreExactWithoutRecursion) {
  KnownPaths known(1, Recursion::kNone);
  size_t exact = 0;
  for_each_total(known, Grouping::kLine, [&](const Row& row, uint64_t truth) {
    if (row.function == "inlined") return;
    ++exact;
    EXPECT_EQ(row.total.low, truth);
    EXPECT_EQ(row.total.high, truth);
  });
  EXPECT_GT(exact, 20u);
}

/// The call is known though what it called was folded; the line's own ticks are none of these.
TEST(PathTotals, OfALineWhoseCalleesWereFoldedHaveThem) {
  KnownPaths known(0);
  known.add({.scope = 0, .places = {{0, 0x110}, {1, 0x210}}, .ticks = 4});
  known.add({.scope = 0, .places = {{0, 0x110}, {1, 0x220}}, .ticks = 2});
  known.keep_first(2);
  for (const Row& row : known.report(Grouping::kLine).rows) {
    if (row.object != "prog" || row.line != 0x11) continue;
    EXPECT_EQ(row.total.low, 6u);
    EXPECT_EQ(row.total.high, 6u);
  }
}

/// A header's line is inlined into f0 (3 ticks) and f1 (4), and calls f0 back from f0 (10): of the 7 ticks
/// only f0's can be among those.
TEST(PathTotals, OfALineInSeveralFunctionsAddWhatCannotRecur) {
  KnownPaths known(0);
  known.add({.scope = 0, .places = {{0, 0x11}}, .ticks = 3});
  known.add({.scope = 0, .places = {{0, 0x111}}, .ticks = 4});
  known.add({.scope = 0, .places = {{0, 0x11}, {0, 0x20}}, .ticks = 10});
  size_t rows = 0;
  for (const Row& row : known.report(Grouping::kLine).rows) {
    if (row.function != "inlined") continue;
    ++rows;
    EXPECT_EQ(row.total.low, 14u);
    EXPECT_EQ(row.total.high, 17u);
  }
  EXPECT_EQ(rows, 1u);
}

/// libm's paths were folded or found no room; the call plane has one of its functions, and it has its ticks.
TEST(PathTotals, OfAnObjectAreThoseOfItsLargestFunctionAndItsOwnAtLeast) {
  KnownPaths known(0);
  known.add({.scope = 0, .places = {{0, 0x110}, {2, 0x210}, {1, 0x10}}, .ticks = 6});
  known.add({.scope = 0, .places = {{0, 0x110}, {2, 0x110}}, .ticks = 2});
  known.profile.paths.context.resize(2);  // the scope, and the call in prog
  known.profile.paths.context[1].folded = 7;
  known.profile.paths.no_room = 1;
  std::map<std::string, PathTotal> totals;
  for (const Row& row : known.report(Grouping::kObject).rows) totals[row.object] = row.total;
  EXPECT_EQ(totals["libm.so"].low, 6u);
  known.profile.paths.plane.clear();
  for (const Row& row : known.report(Grouping::kObject).rows) totals[row.object] = row.total;
  EXPECT_EQ(totals["libm.so"].low, 2u) << "its own";
  EXPECT_EQ(totals["libc.so"].low, 6u) << "its own";
}

/// prog calls libc, which calls back into prog: half of the ticks, and all of them below prog.
TEST(PathTotals, OfAnObjectThatCallsBackCountATickOnce) {
  KnownPaths known(0);
  known.add({.scope = 0, .places = {{0, 0x110}, {1, 0x210}, {0, 0x220}}, .ticks = 5});
  known.add({.scope = 0, .places = {{0, 0x110}, {1, 0x210}}, .ticks = 5});
  for (const Row& row : known.report(Grouping::kObject).rows) {
    EXPECT_EQ(row.total.low, 10u) << row.object;
    EXPECT_EQ(row.total.high, 10u) << row.object;
    EXPECT_EQ(row.total_share, 1) << row.object;
  }
}

/// put(int) calls put(long), which calls put(int) again; and the other way round, two ticks less.
TEST(PathTotals, OfTwoOverloadsThatCallEachOtherCountATickOnceForEach) {
  KnownPaths known(0);
  known.profile.executables[0].path = "/bin/cxx";
  const Place of_int{0, 0x110}, of_long{0, 0x210};
  known.add({.scope = 0, .places = {of_int, of_long, of_int, of_long}, .ticks = 7});
  known.add({.scope = 0, .places = {of_long, of_int, of_long}, .ticks = 5});
  known.add({.scope = 0, .places = {of_int}, .ticks = 3});
  std::map<std::string, std::pair<uint64_t, PathTotal>> rows;
  for (const Row& row : known.report(Grouping::kFunction).rows) rows[row.function] = {row.ticks, row.total};
  ASSERT_EQ(rows.size(), 2u);
  const auto& [int_ticks, int_total] = rows.begin()->second;
  const auto& [long_ticks, long_total] = rows.rbegin()->second;
  EXPECT_EQ(int_ticks, 3u);
  EXPECT_EQ(int_total.low, 15u);
  EXPECT_EQ(int_total.high, 15u);
  EXPECT_EQ(long_ticks, 12u);
  EXPECT_EQ(long_total.low, 12u);
  EXPECT_EQ(long_total.high, 12u);
}

/// log() calls its cold part, and another function calls that, too.
TEST(PathTotals, OfAFunctionAndItsColdPartOnOneStackAreExact) {
  KnownPaths known(0);
  known.profile.executables[0].path = "/bin/cxx";
  const Place log{0, 0x710}, cold{0, 0x810}, put{0, 0x110};
  known.add({.scope = 0, .places = {log, cold}, .ticks = 50});
  known.add({.scope = 0, .places = {put, log, cold, log}, .ticks = 20});
  known.add({.scope = 0, .places = {put, cold}, .ticks = 30});
  std::map<std::string, uint64_t> totals;
  for (const Row& row : known.report(Grouping::kFunction).rows) {
    EXPECT_EQ(row.total.low, row.total.high) << row.function;
    totals[row.function] = row.total.low;
  }
  const std::map<std::string, uint64_t> truth = {{"ns::log(int, char const*)", 70},
                                                 {"ns::log(int, char const*) [clone .cold]", 100},
                                                 {"void put<int>(int)", 50}};
  EXPECT_EQ(totals, truth);
}

/// f0 and f1 have one entry in the unwind table: which of them ran below a call from f0 is not known.
TEST(PathTotals, OfALineHoldTheTruthInSymbolsOfOneUnwindEntry) {
  KnownPaths known(0);
  known.add({.scope = 0, .places = {{0, 0x10}, {0, 0x10}}, .ticks = 4});
  known.add({.scope = 0, .places = {{0, 0x10}, {0, 0x20}}, .ticks = 6});
  known.add({.scope = 0, .places = {{1, 0x210}}, .ticks = 10});
  known.move_own({0, 0x20}, {0, 0x120});
  for (const Row& row : known.report(Grouping::kLine).rows) {
    if (row.object != "prog" || row.line != 1) continue;
    EXPECT_LE(row.total.low, 10u);
    EXPECT_GE(row.total.high, 10u);
  }
}

TEST(PathTotals, OfAProgramsFunctionMayIncludeTicksOfSymbolsOfItsUnwindEntry) {
  KnownPaths known(0);
  known.add({.scope = 0, .places = {{0, 0x10}, {1, 0x210}}, .ticks = 5});
  known.add({.scope = 0, .places = {{0, 0x30}}, .ticks = 4});
  known.add({.scope = 0, .places = {{0, 0x20}}, .ticks = 6});
  known.move_own({0, 0x20}, {0, 0x120});
  size_t rows = 0;
  for (const Row& row : known.report(Grouping::kProgramFunction).rows) {
    if (row.function != "f0") continue;
    ++rows;
    EXPECT_LE(row.total.low, 9u);
    EXPECT_GE(row.total.high, 9u);
  }
  EXPECT_EQ(rows, 1u);
}

/// What was folded in one program cannot be of another.
TEST(PathTotals, OfAProgramsFunctionAreNotHiddenInAnother) {
  KnownPaths known(0);
  known.add({.scope = 0, .places = {{0, 0x110}}, .ticks = 5});
  known.add({.scope = 1, .places = {{0, 0x110}, {0, 0x220}}, .ticks = 5});
  known.profile.paths.context.back().self = 0;
  known.profile.paths.context[2].folded = 5;  // below b's f1
  known.profile.paths.plane.clear();
  for (const Row& row : known.report(Grouping::kProgramFunction).rows)
    if (row.program == "a") {
      EXPECT_EQ(row.total.high, 5u);
    }
}

TEST(PathTotals, StandBesideTheSharesOfAllRowsThatAreCode) {
  KnownPaths known(1);
  for (const Grouping by : kAll) {
    const Report report = known.report(by);
    const std::string text = text_report(known.profile, report, {}),
                      json = json_report(known.profile, report);
    EXPECT_EQ(text.find("  total  ") != std::string::npos, by != Grouping::kProgram) << text;
    EXPECT_NE(json.find("\"total_ticks\": "), std::string::npos) << grouping_word(by);
  }
  EXPECT_EQ(json_report(known.profile, known.report(Grouping::kProcess)).find("\"total"), std::string::npos);
}

/// A recorder that was killed while it pruned may leave more ticks in the tree than there are.
TEST(PathTotals, AreNeverAboveAllTicks) {
  KnownPaths known(0);
  known.add({.scope = 0, .places = {{0, 0x110}}, .ticks = 5});
  known.profile.paths.context.back().self = 7;
  for (const Grouping by : kAll)
    for (const Row& row : known.report(by).rows) {
      EXPECT_LE(row.total_share, 1) << grouping_word(by);
      EXPECT_LE(row.total.high, 5u) << grouping_word(by);
    }
}

TEST(PathAccount, SaysHowManyTicksAreOfCallsWithoutRoom) {
  CallPaths paths;
  paths.recorded = true;
  paths.context = {{.kind = PathNodeKind::kScope}, {.parent = 0, .kind = PathNodeKind::kCode, .self = 5}};
  paths.plane = {{.kind = PathNodeKind::kScope}};
  EXPECT_EQ(path_account_text(path_account(paths)), "all complete");
  paths.context[0].folded = paths.plane[0].folded = 7;
  EXPECT_EQ(path_account(paths).no_total, 7u);
  EXPECT_TRUE(path_account_text(path_account(paths))
                  .ends_with("; 7 of calls without room: their totals are ranges (record --paths-memory)"));
}

}  // namespace
}  // namespace pctally
