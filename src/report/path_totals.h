// Inclusive ticks: with how many a function, or an object, was somewhere on the stack.
//
// A tick counts once for each, however often it recurs on the stack. Where paths were folded the total is a
// range: what is known, and what may be hidden in folded paths.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "report/object_names.h"

namespace pctally {

/// Two static functions of one name are two functions: their starts differ. A JIT
/// compiles one function many times, in many places: those are one.
struct FunctionKey {
  std::string object;  ///< as shown
  std::string function;
  uint32_t executable = 0;  ///< 0 for a JIT's, as `start`
  uint64_t start = 0;
  auto operator<=>(const FunctionKey&) const = default;
};

struct PathFunction {
  FunctionKey key;
  std::string linkage;
  uint64_t address = 0;  ///< 0: not known
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
  uint64_t cut = 0;   ///< ticks whose path is cut before it could appear
};

/// For each of `count` things the ticks with it on the stack. `context` says which thing each node of the
/// context tree is (or kNone), `plane` the same of the call plane; empty where things are not functions.
std::vector<PathTotal> path_totals(const CallPaths& paths, size_t count, const std::vector<uint32_t>& context,
                                   const std::vector<uint32_t>& plane);

/// Ticks at each node of a tree and below it.
std::vector<uint64_t> ticks_below(const PathTree& tree);

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
