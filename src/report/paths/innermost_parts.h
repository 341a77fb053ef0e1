// Where in its innermost function the ticks of a path were, as far as that is certain.
//
// A path ends at its function's first byte, and the ticks' own places are known for all paths of the function
// together. Of 100 ticks 60 are of one path and 70 of one line: 30 of the path's, at least, are of the line.
// If a function has one path, all is certain. The rest is estimated, for those who want whole figures.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "profile/profile.h"
#include "report/paths/stack_frame.h"

namespace pctally {

/// Ticks of the innermost functions of some paths, at one place in them.
struct InnermostPart {
  /// Outermost first: the function, what is inlined there, and the line, if it is certain.
  std::span<const StackFrame> frames;
  uint64_t position = 0;  ///< that has most of all ticks there
  struct Path {
    uint32_t node = 0;  ///< in the context tree: where the path ends
    uint64_t ticks = 0;
  };
  std::span<const Path> paths;
  bool estimated = false;  ///< the paths may have more or fewer ticks of it
};

enum class InnermostTicks {
  kCertain,
  kAll,  ///< each part's are shared among the paths in proportion, and the sums of parts and paths are exact
};

/// Calls visit() for each part that says more than the function's name. Parts of a path have no tick in
/// common; what is left of its ticks is somewhere in the function. `profile` has call paths, or is a choice
/// of them.
void visit_innermost_parts(const Profile& profile, ObjectNames& names, InnermostTicks which,
                           const std::function<void(const InnermostPart&)>& visit);

}  // namespace pctally
