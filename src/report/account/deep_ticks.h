// Ticks in stacks so deep that the engines in the program sample them more rarely.
#pragma once
#include "profile/profile.h"

namespace pctally {

struct DeepTicks {
  double share = 0;   ///< of all ticks, those in stacks deeper than kFramesAtFullRate
  double weight = 1;  ///< how many ticks a sample there stands for beside one of another stack, at most
};

/// For the nodes of a context tree, parents first. A thread samples all its deep stacks at the rate of the
/// deepest one; how deep that is, is known only of a scope.
DeepTicks deep_ticks(const PathTree& tree);

}  // namespace pctally
