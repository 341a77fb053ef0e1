// The call tree: from the outermost functions down, or, bottom-up, from what ran to its callers.
#pragma once
#include <map>
#include <memory>

#include "report/paths/named_paths.h"
#include "report/rollup.h"

namespace pctally {

/// A function with the same functions above it.
struct CallTreeNode {
  std::shared_ptr<const StackFrame> frame;  ///< nodes of one function share it; null above all functions
  uint64_t ticks = 0;                       ///< at it and below it
  uint64_t self = 0;                        ///< at it; of a bottom-up tree 0 but at the first level
  bool inexact = false;  ///< it is inlined code: more of its ticks may be the function's around it; with
                         ///< NamedPaths::Detail::kSharedParts, or fewer
  std::vector<CallTreeNode> children;  ///< most ticks first
};

/// Its ticks are all of the profile. Folded ones hang under a child "[folded]", those without a place are an
/// outermost "[lost]".
CallTreeNode call_tree(const NamedPaths& paths, bool bottom_up);

/// The ticks at those nodes of a top-down tree that have fewer than `least`: from what ran to its callers.
CallTreeNode small_paths_bottom_up(const CallTreeNode& tree, uint64_t least);

/// Calls visit(const CallTreeNode&, int64_t parent) for every node with at least so many ticks, each behind
/// its parent. Nodes are numbered in that order from 0; -1 is the parent of the outermost.
template <class Visit>
void for_each_node(const CallTreeNode& tree, uint64_t least, Visit&& visit) {
  std::vector<std::pair<const CallTreeNode*, int64_t>> pending;  // with the number of its parent
  const auto add_children = [&](const CallTreeNode& node, int64_t number) {
    for (size_t i = node.children.size(); i-- > 0;)
      if (node.children[i].ticks >= least) pending.emplace_back(&node.children[i], number);
  };
  add_children(tree, -1);
  for (int64_t number = 0; !pending.empty(); ++number) {
    const auto [node, parent] = pending.back();
    pending.pop_back();
    visit(*node, parent);
    add_children(*node, number);
  }
}

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
