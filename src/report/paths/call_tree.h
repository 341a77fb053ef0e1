// The call tree: from the outermost functions down, or, bottom-up, from what ran to its callers.
#pragma once
#include <map>
#include <memory>

#include "report/names/shown_names.h"
#include "report/paths/named_paths.h"
#include "report/rollup.h"

namespace pctally {

/// A function with the same functions above it.
struct CallTreeNode {
  StackFrame frame;
  uint64_t ticks = 0;                  ///< at it and below it
  uint64_t self = 0;                   ///< at it; of a bottom-up tree 0 but at the first level
  std::vector<CallTreeNode> children;  ///< most ticks first
};

/// Its ticks are those of the context tree. Folded ticks hang under a child "[folded]".
CallTreeNode call_tree(const NamedPaths& paths, bool bottom_up);

struct CallTreeTextOptions {
  NameStyle names = NameStyle::kShort;
  double min_share = 0.01;  ///< smaller branches are added up in one line "(others)"
  bool bottom_up = false;
};
std::string call_tree_text(const Profile& profile, const CallTreeNode& tree,
                           const CallTreeTextOptions& options);
std::string call_tree_json(const Profile& profile, const CallTreeNode& tree,
                           const CallTreeTextOptions& options);

}  // namespace pctally
