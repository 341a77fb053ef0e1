// The path that most ticks took: from the outermost function down to where no callee has most of them.
#pragma once
#include "report/rollup.h"

namespace pctally {

/// Outermost first. Starts at main where there is one: what runs before it is every program's.
std::vector<HotFrame> hot_path(const Profile& profile, const PathFunctions& functions);

}  // namespace pctally
