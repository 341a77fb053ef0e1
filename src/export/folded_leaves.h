// Gives ticks whose path is not known whole the function that ran.
#pragma once
#include "report/names/object_names.h"

namespace pctally {

/// Positions of PathNodeKind::kCut nodes that add_leaves() makes: below them the path goes on.
inline constexpr uint64_t kFoldedPart = UINT64_MAX;           ///< through functions that were folded
inline constexpr uint64_t kPathWithoutRoom = UINT64_MAX - 1;  ///< there is nothing above it

/// Whether paths were folded, found no room, or are cut before the function that ran.
bool lacks_leaves(const CallPaths& paths);

/// Adds to each such path a leaf: the function that ran. How many ticks each function still lacks is known
/// from the addresses; which path gets them is divided in proportion. A function that only one scope has goes
/// to that scope. Where stacks are of one location (CallPaths::one_frame) it is the cut. REQUIRES: `names`
/// are of this profile, and have named no paths.
void add_leaves(Profile* profile, ObjectNames& names);

}  // namespace pctally
