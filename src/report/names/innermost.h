// Names the innermost node of a path when several symbols share its unwind entry.
//
// An innermost node has the position where its unwind entry starts. Hand-written assembly may have several
// symbols in one entry. The ticks of the addresses say which of them ran, for all paths together. A selection
// of paths or scopes has no ticks of addresses: those of the whole profile are taken.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "report/names/object_names.h"

namespace pctally {

/// An executable and a position in it.
using CodePlace = std::pair<uint32_t, uint64_t>;

/// Whether paths end there: in a function, at its first byte.
inline bool is_innermost(const PathTreeNode& node) {
  return node.kind == PathNodeKind::kCode && node.self != 0;
}

/// The ticks of the paths that end in each function.
std::map<CodePlace, uint64_t> innermost_functions(const PathTree& tree);

/// The same, and functions that ran where no path ends in them (0 ticks), as the plane has them.
std::map<CodePlace, uint64_t> function_starts(const CallPaths& paths);

/// Positions of a profile, in order.
using Positions = std::span<const WeightedPosition>;

/// Those in [from, to).
Positions positions_between(const Profile& profile, CodePlace from, CodePlace to);
uint64_t ticks_of(Positions positions);

/// A function, and the positions whose ticks may be its own.
struct FunctionStart {
  CodePlace place;
  CodePlace next;     ///< the next function, or the end of the executable
  uint64_t ends = 0;  ///< ticks of the paths that end there
  Positions covered;  ///< up to the next: one entry of the unwind table may hold all of it
};

/// Those of `starts` that lie in one executable, in order.
std::vector<FunctionStart> functions_of(const Profile& profile, const std::map<CodePlace, uint64_t>& starts,
                                        uint32_t executable);

/// Those of its positions that are in its symbol, which ends at `end`.
Positions own_positions(const Profile& profile, const FunctionStart& function, uint64_t end);

class InnermostNames {
 public:
  struct Symbol {
    NamedRange range;
    uint64_t ticks = 0;
  };
  struct Name {
    NamedRange range;               ///< of the one symbol that ran; or of all that did, as "one, another"
    bool several = false;           ///< which of them ran on a path is not known
    std::vector<Symbol> symbols{};  ///< these
  };

  /// Only of executables that `names` has.
  InnermostNames(const Profile& profile, ObjectNames& names);

  /// Null: the symbol at the node's position is the one that ran.
  [[nodiscard]] const Name* find(const PathTreeNode& node) const;
  [[nodiscard]] const Name* find(CodePlace start) const;

 private:
  std::map<CodePlace, Name> names_;
};

}  // namespace pctally
