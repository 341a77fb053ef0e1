// The path that most ticks took: from the outermost function down to where no callee has most of them.
#pragma once
#include "report/rollup.h"

namespace pctally {

struct HotPath {
  std::vector<HotFrame>
      frames;  ///< outermost first; of those with the same share the innermost, and at most 8
  std::vector<uint32_t> functions;  ///< all on the way, as numbers of PathFunctions
};

/// Starts at main where there is one: what runs before it is every program's.
HotPath hot_path(const Profile& profile, const PathFunctions& functions);

/// Gives the steps the short names that they have in a table of functions.
void name_hot_path(const std::vector<Row>& rows, std::vector<HotFrame>* path);

}  // namespace pctally
