// Gives ticks whose path is not known whole the function that ran.
#pragma once
#include <optional>

#include "report/object_names.h"

namespace pctally {

/// Positions of PathNodeKind::kCut nodes that with_leaves() makes: below them the path goes on.
inline constexpr uint64_t kFoldedPart = UINT64_MAX;           ///< through functions that were folded
inline constexpr uint64_t kPathWithoutRoom = UINT64_MAX - 1;  ///< there is nothing above it

/// The profile with a leaf for each tick whose path was folded, found no room, or is cut before the function
/// that ran, as far as the ticks at the addresses say which functions ran in these: a function's own ticks
/// without those of the paths that end in it. So each function has all its own ticks, and each path has all
/// of its. Which path had which function is an estimate, in proportion; a function that only one scope has is
/// given to no other. Where stacks are of one location (CallPaths::one_frame) it is the cut. Nothing if no
/// leaf is missing.
std::optional<Profile> with_leaves(const Profile& profile, const OpenSymbolizer& open);

}  // namespace pctally
