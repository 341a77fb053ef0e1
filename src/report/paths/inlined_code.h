// Ticks in code that was inlined into the function that ran.
//
// The innermost node of a path is its function's first byte, wherever in it the tick was. The ticks' own
// places say what was inlined there, for all paths of the function together. In the same way they say which
// of several symbols in one entry of the unwind table ran, which hand-written assembly has.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "profile/profile.h"
#include "report/paths/stack_frame.h"
#include "report/paths/tick_range.h"

namespace pctally {

struct InlinedCode {
  std::vector<StackFrame>
      frames;         ///< outermost first: the function that ran, then one or more that were inlined
  uint64_t low = 0;   ///< ticks whose innermost frames these are
  uint64_t high = 0;  ///< of a choice of paths, or of scopes, at most; else equal

  /// Not inlined: `frames` are the entry of several symbols ("first, second") and one of these.
  bool is_symbol = false;
  uint64_t ticks = 0;   ///< the symbol's own, of all paths
  uint64_t others = 0;  ///< of the entry's other symbols

  /// The symbol's own among `some` ticks of paths that end in the entry: all that the others cannot have are.
  [[nodiscard]] TickRange among(uint64_t some) const {
    return {some - std::min(some, others), std::min(some, ticks)};
  }
};

/// Each chain once.
std::vector<InlinedCode> find_inlined_code(const Profile& profile, ObjectNames& names);

}  // namespace pctally
