// Sums of ticks over the two trees of call paths.
#pragma once
#include <cstdint>
#include <vector>

#include "profile/profile.h"

namespace pctally {

/// Ticks at each node of a tree and below it.
std::vector<uint64_t> ticks_below(const PathTree& tree);

/// Entries of the call plane that found no room: any thing may have their ticks, too.
uint64_t ticks_without_entry(const PathTree& plane);

}  // namespace pctally
