#include "report/annotate/jump_lanes.h"

#include <algorithm>
#include <iterator>

namespace pctally {
namespace {

size_t top(const Jump& jump) { return std::min(jump.from, jump.to); }
size_t bottom(const Jump& jump) { return std::max(jump.from, jump.to); }

}  // namespace

bool JumpLanes::Lane::has_room(const Jump& jump) const {
  const auto after = jumps.upper_bound(bottom(jump));
  return after == jumps.begin() || bottom(std::prev(after)->second) < top(jump);
}

const Jump* JumpLanes::Lane::at(size_t row) const {
  const auto after = jumps.upper_bound(row);
  if (after == jumps.begin() || bottom(std::prev(after)->second) < row) return nullptr;
  return &std::prev(after)->second;
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
    lanes_[lane].jumps.emplace(top(jump), jump);
  }
}

std::string JumpLanes::drawing(size_t row) const {
  std::string text(width(), ' ');
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    const size_t column = 2 * (lanes_.size() - 1 - lane);
    const Jump* jump = lanes_[lane].at(row);
    if (jump == nullptr) continue;
    if (row != top(*jump) && row != bottom(*jump)) {
      text[column] = '|';
      continue;
    }
    text[column] = row == top(*jump) ? '.' : '\'';
    for (size_t i = column + 1; i < text.size(); ++i)
      if (text[i] == ' ') text[i] = '-';
    if (row == jump->to) text.back() = '>';
  }
  return text;
}

}  // namespace pctally
