// Counts the call paths that are complete, cut (by reason) or folded.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace pctally {

struct PathAccount {
  struct Cut {
    std::string reason;   ///< "at code without unwind table"
    const char* id = "";  ///< for scripts: does not change with the words
    PathEnd end = PathEnd::kComplete;
    uint64_t ticks = 0;
  };
  uint64_t ticks = 0;     ///< complete + cut + no_room
  uint64_t complete = 0;  ///< with a path to the outermost function, where `ends_known`
  uint64_t no_room = 0;
  uint64_t folded = 0;      ///< of all, those whose path is kept in part
  uint64_t no_total = 0;    ///< with functions, or calls, that found no room among those with totals
  bool ends_known = true;   ///< false: nobody knows which of those that are not cut are complete
  bool first_come = false;  ///< those came when the tree was full; else the coldest are folded
  std::vector<Cut> cuts;    ///< those with ticks, the most first
};

PathAccount path_account(const CallPaths& paths);

/// Ticks whose stack the recorder has not read, or another tool's samples without one (where the ends of
/// paths are not known): nothing of their paths is known.
uint64_t unread_ticks(const PathTree& context);

/// Ticks without a known path: not read, or without room. The places of all ticks are known, so those own
/// ticks of a function that no path has, kept or folded, are among them.
class TicksWithoutPath {
 public:
  explicit TicksWithoutPath(const CallPaths& paths);

  /// `kept`: of the paths that end in the function.
  [[nodiscard]] uint64_t of(uint64_t own, uint64_t kept) const {
    return std::min(ticks_, own - std::min(own, kept + folded_));
  }
  [[nodiscard]] bool any() const { return ticks_ != 0; }

 private:
  uint64_t ticks_ = 0, folded_ = 0;
};

/// "1,203 of 1,209 ticks with a complete path; 4 cut at code without unwind table; 12 folded"
/// `noun`: what its ticks are called.
std::string path_account_text(const PathAccount& account, const std::string& noun = "tick");

}  // namespace pctally
