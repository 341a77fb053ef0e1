// Ticks in code that was inlined into the function that ran.
//
// The innermost node of a path is its function's first byte, wherever in it the tick was. The ticks' own
// places say what was inlined there, for all paths of the function together.
#pragma once
#include <cstdint>
#include <vector>

#include "profile/profile.h"
#include "report/paths/stack_frame.h"

namespace pctally {

struct InlinedCode {
  std::vector<StackFrame>
      frames;         ///< outermost first: the function that ran, then one or more that were inlined
  uint64_t low = 0;   ///< ticks whose innermost frames these are
  uint64_t high = 0;  ///< of a choice of paths, or of scopes, at most; else equal
};

/// Each chain once.
std::vector<InlinedCode> find_inlined_code(const Profile& profile, ObjectNames& names);

}  // namespace pctally
