// Gives ticks whose path is not known whole the function that ran.
#pragma once
#include "report/names/object_names.h"

namespace pctally {

/// Positions of PathNodeKind::kCut nodes that add_leaves() makes: below them the path goes on.
inline constexpr uint64_t kFoldedPart = UINT64_MAX;           ///< through functions that were folded
inline constexpr uint64_t kPathWithoutRoom = UINT64_MAX - 1;  ///< there is nothing above it

/// Whether paths were folded, found no room, or are cut before the function that ran.
bool lacks_leaves(const CallPaths& paths);

/// Gives each tick of such a path a leaf, as far as the ticks at the addresses say which functions ran in
/// these: a function's own ticks without those of the paths that end in it. So each function has all its own
/// ticks, and each path has all of its. Which path had which function is an estimate, in proportion; a
/// function that only one scope has is given to no other. Where stacks are of one location
/// (CallPaths::one_frame) it is the cut. REQUIRES: `names` are of this profile, and have named no paths.
void add_leaves(Profile* profile, ObjectNames& names);

}  // namespace pctally
