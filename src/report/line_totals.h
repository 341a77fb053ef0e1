// Inclusive ticks of source lines: with how many a call from the line was on the stack, or the line itself
// ran.
#pragma once
#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "profile/profile.h"
#include "report/path_totals.h"

namespace pctally {

/// For each node whether it is a call: code with other nodes below it, or that had some.
std::vector<bool> calls_of(const PathTree& tree);

/// The paths do not have the place where the innermost function ran. So where a function that has ticks in
/// the line runs below a call from it (recursion), some ticks may be both, and the total is a range.
class LineTotals {
 public:
  /// REQUIRES: both outlive this.
  LineTotals(const Profile& profile, const PathFunctions& functions);

  /// A node that is a call from the line.
  void add_call(uint32_t node, uint32_t line) { things_.context[node] = line; }
  /// Ticks of a function (its number) in the line. REQUIRES: called for all of them.
  void add_own(uint32_t line, uint32_t function, uint64_t ticks);

  /// The total of each line. `own`: their own ticks.
  std::vector<PathTotal> totals(std::span<const uint64_t> own);

 private:
  struct Own {
    uint64_t own = 0;    ///< ticks of a function in a line
    uint64_t below = 0;  ///< ticks of that function below a call from the line
  };

  std::vector<uint64_t> counted_twice();

  const Profile& profile_;
  const PathTree& tree_;
  const PathFunctions& functions_;
  PathThings things_;
  std::unordered_map<uint64_t, Own> own_;   ///< by line and function
  std::unordered_set<uint32_t> in_shared_;  ///< lines with ticks in symbols of one unwind entry
};

}  // namespace pctally
