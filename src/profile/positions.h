// Sorts positions and adds up the ticks of equal ones.
#pragma once
#include <vector>

#include "histread/weighted_position.h"

namespace pctally {

/// In any order, any of them several times, to ascending by (executable, position), without duplicates.
void add_up(std::vector<WeightedPosition>* positions);

}  // namespace pctally
