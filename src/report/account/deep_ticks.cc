#include "report/account/deep_ticks.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace pctally {

DeepTicks deep_ticks(const PathTree& tree) {
  std::vector<uint32_t> frames(tree.size()), roots(frames), deepest(frames);
  double all = 0, deep = 0, weights = 0;
  for (size_t i = 0; i < tree.size(); ++i) {
    const PathTreeNode& node = tree[i];
    const bool is_root = node.parent == PathTreeNode::kNoParent;
    const bool is_frame = node.kind != PathNodeKind::kScope && node.kind != PathNodeKind::kCut;
    roots[i] = is_root ? static_cast<uint32_t>(i) : roots[node.parent];
    frames[i] = (is_root ? 0 : frames[node.parent]) + (is_frame ? 1 : 0);
    deepest[roots[i]] = std::max(deepest[roots[i]], frames[i]);
    all += static_cast<double>(node.self + node.folded);
  }
  for (size_t i = 0; i < tree.size(); ++i) {
    if (frames[i] <= kFramesAtFullRate) continue;
    // 0 to 2n are left out: the mean of the squares of 1 to 2n + 1, by their mean.
    const uint32_t n = (deepest[roots[i]] - 1) / kFramesAtFullRate;
    deep += static_cast<double>(tree[i].self + tree[i].folded);
    weights += static_cast<double>(tree[i].self + tree[i].folded) * (4 * n + 3) / 3;
  }
  return deep == 0 ? DeepTicks{} : DeepTicks{deep / all, weights / deep};
}

}  // namespace pctally
