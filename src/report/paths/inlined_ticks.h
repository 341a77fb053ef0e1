// The ticks that a function has where paths do not name it: in code that is inlined into the function that
// ran, into itself, too, or in an entry of the unwind table that it shares. Some may be of paths that have
// the function on them already: under recursion.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "report/paths/stack_frame.h"
#include "report/paths/tick_range.h"

namespace pctally {

class InlinedTicks {
 public:
  void add_inlined(const StackFrame& ran, TickRange ticks) {
    inlined_ += ticks;
    in_[key_of(ran)] += ticks.high;
  }
  /// What it has inlined, which is not its own code.
  void add_within(const StackFrame& function, TickRange ticks) {
    within_ += ticks;
    in_[key_of(function)] += ticks.high;
  }
  /// Paths that have the function on them before the function that ran.
  void add_end(const StackFrame& ran, uint64_t ticks) { ends_[key_of(ran)] += ticks; }
  /// Ticks of folded paths: which functions are on them is not known.
  void add_folded(uint64_t ticks) { folded_ += ticks; }

  /// `range`: of paths with the function on them before the innermost function.
  [[nodiscard]] TickRange total(const TickRange& range) const { return with(range, inlined_); }
  /// Some ticks of `more` may be of these paths, too: of a recursion.
  [[nodiscard]] TickRange with(const TickRange& range, const TickRange& more) const {
    return {range.low + more.low - std::min({range.low, more.low, in_both()}), range.high + more.high};
  }
  [[nodiscard]] TickRange without_inlined(const TickRange& own) const {
    return {own.low - std::min(own.low, within_.high), own.high - std::min(own.high, within_.low)};
  }
  [[nodiscard]] uint64_t unplaced() const {
    return inlined_.high - (inlined_.low - std::min(inlined_.low, in_both()));
  }

 private:
  using Key = StackFunction;
  static Key key_of(const StackFrame& frame) { return function_of(frame); }

  [[nodiscard]] uint64_t in_both() const {
    uint64_t ticks = folded_;
    for (const auto& [function, inlined] : in_)
      if (const auto end = ends_.find(function); end != ends_.end()) ticks += std::min(inlined, end->second);
    return ticks;
  }

  TickRange inlined_, within_;
  std::map<Key, uint64_t> in_, ends_;  ///< by the function that ran
  uint64_t folded_ = 0;
};

}  // namespace pctally
