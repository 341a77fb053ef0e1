// What every choice of paths or scopes needs: places for ticks that have none of their own, and ticks by
// path.
#pragma once
#include <string_view>

#include "profile/profile.h"

namespace pctally {

/// Executables that stand for what has no place of its own.
struct BracketedPlaces {
  uint32_t left_out, inner_not_kept, no_function, no_room;
};

/// A copy of the profile, to choose from, that knows the whole. `left_out`: the name of what is not chosen.
Profile part_of(const Profile& profile, const char* left_out, BracketedPlaces* places);

/// Whether an object, a function or a scope of that name is such a place, or that of ticks which are not
/// known.
bool stands_for_no_code(std::string_view name);

/// Adds to the context tree the `left_out` ticks that were not chosen, and counts the ticks of functions
/// themselves as the tree tells them. Those without a node have a row of their own; so all are there still.
void count_by_paths(const BracketedPlaces& places, uint64_t left_out, Profile* part);

}  // namespace pctally
