// All calls of a profile at once: who calls whom from where, with the ticks that callers_of() finds
// function by function.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "report/paths/call_ranges.h"

namespace pctally {

struct CallEdge {
  static constexpr int64_t kOutermost = -1;  ///< as a caller: nobody
  static constexpr int64_t kItself = -1;     ///< as a callee: the function's own code
  static constexpr int64_t kFolded = -2;     ///< as a callee: paths that were not kept

  int64_t caller = 0;
  std::string file;  ///< of the call; empty: not known
  uint32_t line = 0;
  int64_t callee = 0;
  bool is_sum = false;  ///< of a pair that calls from several lines: all of them, before each by itself
  uint64_t ticks =
      0;  ///< with this call on the path, at least: each counts once, however often it recurs there
  uint64_t high = 0;  ///< at most; equal where it is known
};

struct CallEdges {
  std::vector<CallEdge> edges;  ///< most ticks first
  /// With the function on the stack, by number of the function.
  std::map<int64_t, TickRange> on_stack;
};

/// `number`: of a frame's function, at least 0; the same for frames of one function.
CallEdges call_edges(const NamedPaths& paths, const std::function<int64_t(const StackFrame&)>& number);

/// Whether a call may have a few ticks, and is not known to have one: callers_text() leaves such rows out,
/// too.
bool may_be_nothing(const CallEdge& edge, const CallEdges& calls, double samples_per_tick);

}  // namespace pctally
