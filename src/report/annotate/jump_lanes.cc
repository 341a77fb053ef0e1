#include "report/annotate/jump_lanes.h"

#include <algorithm>

namespace pctally {
namespace {

size_t top(const Jump& jump) { return std::min(jump.from, jump.to); }
size_t bottom(const Jump& jump) { return std::max(jump.from, jump.to); }

}  // namespace

bool JumpLanes::Lane::has_room(const Jump& jump) const {
  return std::none_of(jumps.begin(), jumps.end(), [&](const Jump& other) {
    return top(jump) <= bottom(other) && top(other) <= bottom(jump);
  });
}

JumpLanes::JumpLanes(std::vector<Jump> jumps, size_t most_lanes) {
  std::stable_sort(jumps.begin(), jumps.end(),
                   [](const Jump& a, const Jump& b) { return bottom(a) - top(a) < bottom(b) - top(b); });
  for (const Jump& jump : jumps) {
    if (jump.from == jump.to) continue;
    size_t lane = 0;
    while (lane < lanes_.size() && !lanes_[lane].has_room(jump)) ++lane;
    if (lane == most_lanes) continue;
    if (lane == lanes_.size()) lanes_.emplace_back();
    lanes_[lane].jumps.push_back(jump);
  }
}

std::string JumpLanes::drawing(size_t row) const {
  std::string text(width(), ' ');
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    const size_t column = 2 * (lanes_.size() - 1 - lane);
    for (const Jump& jump : lanes_[lane].jumps) {
      if (row < top(jump) || row > bottom(jump)) continue;
      if (row != top(jump) && row != bottom(jump)) {
        text[column] = '|';
        continue;
      }
      text[column] = row == top(jump) ? '.' : '\'';
      for (size_t i = column + 1; i < text.size(); ++i)
        if (text[i] == ' ') text[i] = '-';
      if (row == jump.to) text.back() = '>';
    }
  }
  return text;
}

}  // namespace pctally
