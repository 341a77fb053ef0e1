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

/// Calls visit(call site, function, scope), numbers of nodes, for each call site in the plane and the
/// function that it calls.
template <class Visit>
void for_each_call_site(const PathTree& plane, Visit&& visit) {
  for (uint32_t site = 0; site < plane.size(); ++site) {
    const uint32_t function = plane[site].parent;
    if (function == PathTreeNode::kNoParent || plane[function].parent == PathTreeNode::kNoParent) continue;
    visit(site, function, plane[function].parent);
  }
}

/// Calls visit(const PlaneCall&) for each call.
template <class Visit>
void for_each_plane_call(const NamedPaths& paths, Visit&& visit) {
  for_each_call_site(paths.plane(), [&](uint32_t site, uint32_t function, uint32_t scope) {
    const uint64_t ticks = paths.plane()[site].self;
    const std::vector<StackFrame>& frames = paths.plane_frames(site);
    for (size_t k = 0; k + 1 < frames.size(); ++k) visit(PlaneCall{frames, k, &frames[k + 1], scope, ticks});
    const std::vector<StackFrame>& called = paths.plane_frames(function);
    if (frames.empty() || called.empty()) return;
    const StackFrame* callee = paths.known(called.back()).complete ? &called.back() : nullptr;
    visit(PlaneCall{frames, frames.size() - 1, callee, scope, ticks});
  });
}

}  // namespace pctally
