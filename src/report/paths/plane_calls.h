// The calls in the call plane, with their source frames. It has them all, to the tick, also where the paths
// were folded. But it does not say which ticks two entries have in common.
#pragma once
#include <algorithm>
#include <map>

#include "report/paths/named_paths.h"

namespace pctally {

/// The ticks of a thing that has some entries: at least those of the largest one of each scope, at most all.
class PlaneTicks {
 public:
  void add(uint32_t scope, uint64_t ticks) {
    uint64_t& largest = largest_[scope];
    largest = std::max(largest, ticks);
    most_ += ticks;
  }
  [[nodiscard]] uint64_t least() const {
    uint64_t sum = 0;
    for (const auto& [scope, largest] : largest_) sum += largest;
    return sum;
  }
  [[nodiscard]] uint64_t most() const { return most_; }

 private:
  std::map<uint32_t, uint64_t> largest_;
  uint64_t most_ = 0;
};

/// A call of a place: frames[caller] calls. An inlined callee is the next of the frames.
struct PlaneCall {
  const std::vector<StackFrame>& frames;
  size_t caller;
  const StackFrame* callee;  ///< null: one of several functions that share an entry
  uint32_t scope;
  uint64_t ticks;
};

/// Calls visit(const PlaneCall&) for each call.
template <class Visit>
void for_each_plane_call(const NamedPaths& paths, Visit&& visit) {
  const PathTree& plane = paths.plane();
  for (uint32_t i = 0; i < plane.size(); ++i) {
    const uint32_t function = plane[i].parent;
    if (function == PathTreeNode::kNoParent || plane[function].parent == PathTreeNode::kNoParent) continue;
    const uint32_t scope = plane[function].parent;
    const std::vector<StackFrame>& frames = paths.plane_frames(i);
    for (size_t k = 0; k + 1 < frames.size(); ++k)
      visit(PlaneCall{frames, k, &frames[k + 1], scope, plane[i].self});
    const std::vector<StackFrame>& called = paths.plane_frames(function);
    if (frames.empty() || called.empty()) continue;
    const StackFrame* callee = paths.known(called.back()).complete ? &called.back() : nullptr;
    visit(PlaneCall{frames, frames.size() - 1, callee, scope, plane[i].self});
  }
}

}  // namespace pctally
