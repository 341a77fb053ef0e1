#include "profile/positions.h"

#include <algorithm>
#include <tuple>

namespace pctally {

void add_up(std::vector<WeightedPosition>* positions) {
  std::sort(positions->begin(), positions->end(), [](const WeightedPosition& a, const WeightedPosition& b) {
    return std::tie(a.executable, a.position) < std::tie(b.executable, b.position);
  });
  size_t kept = 0;
  for (const WeightedPosition& position : *positions) {
    WeightedPosition* last = kept == 0 ? nullptr : &(*positions)[kept - 1];
    if (last != nullptr && last->executable == position.executable && last->position == position.position)
      last->ticks += position.ticks;
    else
      (*positions)[kept++] = position;
  }
  positions->resize(kept);
}

}  // namespace pctally
