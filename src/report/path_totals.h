// Inclusive ticks: with how many a function, or an object, was somewhere on the stack.
//
// A tick counts once for each, however often it recurs on the stack. Where paths were folded the total is a
// range: what is known, and what may be hidden in folded paths.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "report/account/tree_ticks.h"
#include "report/names/object_names.h"
#include "report/statistics/interval.h"

namespace pctally {

/// Two static functions of one name are two functions: their starts differ. A JIT compiles one function many
/// times, in many places, and each boot has its kernel in another place: those are one.
struct FunctionKey {
  std::string object;  ///< as shown
  std::string function;
  uint32_t executable = 0;  ///< 0 where functions are known by name, as `start`
  uint64_t start = 0;
  auto operator<=>(const FunctionKey&) const = default;
};

/// The key of the function that starts at position `start` of an executable.
FunctionKey function_key(const ObjectNames& names, uint32_t executable, std::string function, uint64_t start);

/// Where the function of that symbol starts, as tables show it: 0 for one that is known by its name.
uint64_t table_address(const ObjectNames& names, uint32_t executable, const NamedRange& symbol);

struct PathFunction {
  FunctionKey key;
  std::string linkage;
  uint64_t address = 0;  ///< 0: not known
  bool several = false;  ///< several symbols, and one of them ran: InnermostNames
  bool shared = false;   ///< one of these: its own ticks lie in paths that end in `several`
  bool in_shared_entry =
      false;  ///< its entry of the call plane is other symbols', too: no entry is all of it
};

/// The functions that the nodes of a profile's trees lie in.
struct PathFunctions {
  static constexpr uint32_t kNone = UINT32_MAX;

  std::vector<PathFunction> functions;
  std::vector<uint32_t> context;  ///< for each node of the context tree an index, kNone for scopes and cuts
  std::vector<uint32_t> plane;    ///< the same for the call plane
};

PathFunctions path_functions(const Profile& profile, ObjectNames& names);

struct PathTotal {
  uint64_t low = 0;   ///< ticks with it on the stack that are known
  uint64_t high = 0;  ///< with those that may be hidden in folded paths; equal where nothing is
  uint64_t cut = 0;   ///< ticks whose path is cut before it could appear: none of threads of the kernel
};

/// A total as shares of all ticks.
struct TotalShare {
  double share = 0;       ///< of the ticks that are known
  double most_share = 0;  ///< of those that may be hidden, too
  Interval interval;      ///< its lower end is that of `share`, its upper that of `most_share`
  bool is_range = false;  ///< as of is_wide_range()
};
/// `all`: not 0. `samples`: effective ones.
TotalShare share_of_total(const PathTotal& total, uint64_t all, double samples);

/// What rows stand for, by number: functions, objects, functions of a program, lines.
struct PathThings {
  size_t count = 0;
  std::vector<uint32_t> context;  ///< for each node of the context tree a thing, or PathFunctions::kNone
  std::vector<uint32_t> plane;    ///< the same for the call plane; empty: its entries are no parts of things
  bool functions = false;         ///< an entry of the plane holds all ticks of its thing in its scope
  /// Where things are of a part of the scopes: the part of each thing, of each node of the context tree, and
  /// of the call plane. Folded and cut paths of other parts cannot hide them. Empty: all are of one part.
  std::vector<uint32_t> part, context_part, plane_part;
};

/// For each thing the ticks with it on the stack, each tick once.
std::vector<PathTotal> path_totals(const Profile& profile, const PathThings& things);

/// The total of a function that neither tree has. Its own ticks, which the caller adds (include_own()), are
/// of paths that were folded or cut.
PathTotal total_without_node(const Profile& profile, bool of_kernel);

/// Raises a total to the thing's own ticks, which are known to the tick also where its paths were folded.
inline void include_own(uint64_t ticks, PathTotal* total) {
  total->low = std::max(total->low, ticks);
  total->high = std::max(total->high, total->low);
}

/// The folded ones of ticks_below().
std::vector<uint64_t> folded_below(const PathTree& tree);
/// Whether any part of a tree was folded.
bool is_folded(const PathTree& tree);

/// First child and next sibling of each node: kNone ends a list.
struct PathChildren {
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> roots;
  std::vector<uint32_t> first;
  std::vector<uint32_t> next;
};
PathChildren children_of(const PathTree& tree);

/// Calls enter(node) and, after all nodes below it, leave(node), for every node.
template <class Enter, class Leave>
void walk_paths(const PathTree& tree, Enter&& enter, Leave&& leave) {
  const PathChildren children = children_of(tree);
  std::vector<uint32_t> stack;
  for (uint32_t root : children.roots) {
    stack.push_back(root);
    enter(root);
    for (uint32_t next = children.first[root]; !stack.empty();) {
      if (next != PathChildren::kNone) {
        enter(next);
        stack.push_back(next);
        next = children.first[next];
        continue;
      }
      const uint32_t done = stack.back();
      stack.pop_back();
      leave(done);
      next = stack.empty() ? PathChildren::kNone : children.next[done];
    }
  }
}

}  // namespace pctally
