// A tree of call paths: what a reader finds in a file, and what a profile holds. Values.
#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "tick/unwind/unwind_rule.h"

namespace pctally {

enum class PathNodeKind : uint8_t {
  kScope,    ///< position: index of the scope
  kCut,      ///< position: a PathEnd; the outer part of the paths below is not known
  kCode,     ///< a place in code
  kUnknown,  ///< a place in an object that cannot be read
};

/// In a context tree the place where paths end and the same place on other paths are two nodes: the one is
/// the start of the function that ran, the other what a tick of the kernel has interrupted there.
struct PathTreeNode {
  static constexpr uint32_t kNoParent = UINT32_MAX;

  uint32_t parent = kNoParent;  ///< index in the tree, always less than the node's own
  PathNodeKind kind = PathNodeKind::kUnknown;
  bool is_end = false;      ///< kCode of a context tree: paths end here, and none goes on
  uint32_t executable = 0;  ///< kCode: index into FileContents::objects, or Profile::executables
  uint64_t position = 0;    ///< kCode: as of WeightedPosition
  uint64_t self = 0;        ///< ticks whose path ends here
  uint64_t folded = 0;      ///< ticks whose path went on, where it was not kept

  /// What no other node of a tree has.
  using Key = std::tuple<uint32_t, PathNodeKind, uint32_t, uint64_t, bool>;
  [[nodiscard]] Key key() const { return {parent, kind, executable, position, is_end}; }
};

using PathTree = std::vector<PathTreeNode>;

/// Whether a node of the call plane holds all ticks of its scope that have the function on their path.
inline bool is_function_of_scope(const PathTree& plane, const PathTreeNode& node) {
  return node.kind == PathNodeKind::kCode && node.parent != PathTreeNode::kNoParent &&
         plane[node.parent].kind == PathNodeKind::kScope;
}

enum class PathScopeKind : uint8_t { kProgram, kThread, kGroup };

struct PathScope {
  std::string name;  ///< path of a program, or of a control group; empty: not known
  std::vector<uint8_t> build_id;
  PathScopeKind kind = PathScopeKind::kProgram;
  std::string thread{};  ///< kThread: its name; empty: not known
  auto operator<=>(const PathScope&) const = default;
};

/// As tick/context_tree.h and PathRecord describe them.
struct CallPaths {
  bool recorded = false;   ///< there are call paths
  bool one_frame = false;  ///< there are none: the context tree has the place of each tick below its scope
  [[nodiscard]] bool has_scopes() const { return recorded || one_frame; }
  std::vector<PathScope> scopes;
  PathTree context;
  PathTree plane;
  bool ends_known = true;    ///< false: a path that is not cut may lack callers; other tools do not say
  bool stackless = false;    ///< PathEnd::kInterrupted is a sample without a stack, of another tool
  bool first_come = false;   ///< what is folded came when the tree was full; else it was pruned
  uint64_t no_room = 0;      ///< ticks without a node
  uint64_t pruned = 0;       ///< nodes that were folded into their parents
  uint32_t stack_bytes = 0;  ///< of a stack that were copied at most; 0: it was read in place
};

}  // namespace pctally
