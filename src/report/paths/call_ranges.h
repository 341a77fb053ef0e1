// How many ticks a call, or a function on the stack, may have. Where paths were folded that is a range: from
// what the kept paths or the largest entry of the call plane have, to what the folded paths or all entries
// have.
#pragma once
#include "report/paths/plane_calls.h"

namespace pctally {

/// What the kept paths have of a thing: each tick once, however often the thing recurs on its path.
struct KeptTicks {
  uint64_t ticks = 0;
  uint64_t folded = 0;  ///< of these

  KeptTicks& operator+=(const KeptTicks& more) {
    ticks += more.ticks;
    folded += more.folded;
    return *this;
  }
};

class CallRanges {
 public:
  /// `paths` outlives this.
  explicit CallRanges(const NamedPaths& paths)
      : has_plane_(!paths.plane().empty()),
        is_first_come_(paths.is_first_come()),
        no_entry_(ticks_without_entry(paths.plane())) {
    for (const PathTreeNode& node : paths.tree()) all_folded_ += node.folded;
  }

  /// Whether anything was folded: else all ranges have one end.
  [[nodiscard]] bool has_plane() const { return has_plane_; }

  /// Whether the call plane has every call.
  [[nodiscard]] bool has_all_calls() const { return no_entry_ == 0; }

  [[nodiscard]] uint64_t all_folded() const { return all_folded_; }

  /// With a function on the stack. `inlined`: calls from where it was inlined.
  [[nodiscard]] TickRange function(const KnownTicks& known, const KeptTicks& kept,
                                   const PlaneTicks& inlined) const {
    TickRange range = any_folded(kept);
    if (!has_plane_) return range;
    range.low = std::max({range.low, known.low, inlined.least()});
    range.high = known.complete ? std::min(range.high, most(known, inlined)) : range.high + known.self;
    return ordered(range);
  }
  /// What the call plane has of that at most.
  [[nodiscard]] uint64_t most(const KnownTicks& known, const PlaneTicks& inlined) const {
    if (!known.complete) return UINT64_MAX;
    return known.high + inlined.most() + (inlined.most() == 0 ? 0 : no_entry_);
  }
  /// Paths that are cut: a cut is never folded. `hidden`: folded ticks of paths without anything known.
  [[nodiscard]] TickRange cut(const KeptTicks& kept, uint64_t hidden) const {
    return {kept.ticks, kept.ticks + (is_first_come_ ? hidden : 0)};
  }

  /// A call. `complete`: all ticks of the callee have entries.
  [[nodiscard]] TickRange call(const KeptTicks& kept, const PlaneTicks& plane, bool complete) const {
    TickRange range = any_folded(kept);
    if (!has_plane_) return range;
    range.low = std::max(range.low, plane.least());
    if (complete) range.high = std::min(range.high, plane.most() + no_entry_);
    return ordered(range);
  }

  /// A function's own code.
  [[nodiscard]] TickRange own(const KnownTicks& known, const KeptTicks& kept) const {
    if (!has_plane_ || !known.complete || !known.self_is_all) return {kept.ticks, kept.ticks + all_folded_};
    const uint64_t ticks = std::max(kept.ticks, known.self);
    return {ticks, ticks};
  }

  /// A function whose caller is nobody, or unknown for its path is cut. `hidden`: folded ticks of such paths
  /// without any known function. `most`: of the function.
  [[nodiscard]] static TickRange outermost(const KeptTicks& kept, uint64_t hidden, uint64_t most) {
    return ordered({kept.ticks, std::min(kept.ticks + hidden, most)});
  }

 private:
  [[nodiscard]] TickRange any_folded(const KeptTicks& kept) const {
    return {kept.ticks, kept.ticks + all_folded_ - kept.folded};
  }
  static TickRange ordered(TickRange range) { return {range.low, std::max(range.low, range.high)}; }

  bool has_plane_, is_first_come_;
  uint64_t no_entry_;
  uint64_t all_folded_ = 0;
};

}  // namespace pctally
