// Arrows for jumps, drawn beside a column of rows: ".->" where a jump leads, "'--" where it starts (or the
// other way round), "|" between. Short jumps lie inside long ones; what finds no lane is not drawn.
#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace pctally {

struct Jump {
  size_t from = 0, to = 0;  ///< rows
};

class JumpLanes {
 public:
  JumpLanes(std::vector<Jump> jumps, size_t most_lanes);

  /// Characters of every drawing; 0 if there is nothing to draw.
  [[nodiscard]] size_t width() const { return lanes_.empty() ? 0 : 2 * lanes_.size() + 1; }
  [[nodiscard]] std::string drawing(size_t row) const;

 private:
  /// No two share a row.
  struct Lane {
    std::map<size_t, Jump> jumps;  ///< by the first row
    [[nodiscard]] bool has_room(const Jump& jump) const;
    [[nodiscard]] const Jump* at(size_t row) const;
  };
  std::vector<Lane> lanes_;  ///< the first is nearest to the code
};

}  // namespace pctally
