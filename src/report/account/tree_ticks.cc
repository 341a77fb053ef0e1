#include "report/account/tree_ticks.h"

namespace pctally {

std::vector<uint64_t> ticks_below(const PathTree& tree) {
  std::vector<uint64_t> ticks(tree.size());
  for (size_t i = tree.size(); i-- > 0;) {
    ticks[i] += tree[i].self + tree[i].folded;
    if (tree[i].parent != PathTreeNode::kNoParent) ticks[tree[i].parent] += ticks[i];
  }
  return ticks;
}

uint64_t ticks_without_entry(const PathTree& plane) {
  uint64_t ticks = 0;
  for (const PathTreeNode& node : plane)
    if (node.parent == PathTreeNode::kNoParent) ticks += node.folded;
  return ticks;
}

}  // namespace pctally
