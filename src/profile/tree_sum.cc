#include "profile/tree_sum.h"

#include <algorithm>

#include "histread/reader.h"

namespace pctally {
namespace {

void renumber(const std::vector<uint32_t>& place, const std::vector<uint32_t>& scope, PathTreeNode* node) {
  if (node->kind == PathNodeKind::kCode) node->executable = place[node->executable];
  if (node->kind == PathNodeKind::kScope && node->position < scope.size())
    node->position = scope[node->position];
}

}  // namespace

uint64_t scaled(uint64_t ticks, uint64_t weight) {
  uint64_t product = 0;
  return __builtin_mul_overflow(ticks, weight, &product) ? kLargestCount : std::min(product, kLargestCount);
}

void TreeSum::add(const PathTree& tree, const std::vector<uint32_t>& place,
                  const std::vector<uint32_t>& scope, uint64_t weight) {
  std::vector<uint32_t> moved;
  moved.reserve(tree.size());
  for (PathTreeNode node : tree) {
    if (node.parent != PathTreeNode::kNoParent) node.parent = moved[node.parent];
    renumber(place, scope, &node);
    node.self = scaled(node.self, weight);
    node.folded = scaled(node.folded, weight);
    const auto [entry, fresh] = known_.try_emplace(node.key(), static_cast<uint32_t>(tree_.size()));
    moved.push_back(entry->second);
    if (fresh) {
      tree_.push_back(node);
      continue;
    }
    tree_[entry->second].self += node.self;
    tree_[entry->second].folded += node.folded;
  }
}

void TreeSum::scale(uint64_t factor) {
  for (PathTreeNode& node : tree_) {
    node.self = scaled(node.self, factor);
    node.folded = scaled(node.folded, factor);
  }
}

PathTree TreeSum::take(const std::vector<uint32_t>& place, const std::vector<uint32_t>& scope) {
  known_.clear();
  std::vector<uint32_t> order(tree_.size());
  for (uint32_t i = 0; i < tree_.size(); ++i) renumber(place, scope, &tree_[order[i] = i]);
  // The children of each node side by side, the last of them first: the walk takes from the end.
  std::sort(order.begin(), order.end(),
            [this](uint32_t a, uint32_t b) { return tree_[a].key() > tree_[b].key(); });
  std::vector<std::pair<uint32_t, uint32_t>> children(tree_.size() + 1);  // of each, then of the root
  const auto family = [this](uint32_t node) {
    const uint32_t parent = tree_[node].parent;
    return parent == PathTreeNode::kNoParent ? tree_.size() : parent;
  };
  for (uint32_t i = 0; i < order.size(); ++i) {
    auto& [first, last] = children[family(order[i])];
    if (last == 0) first = i;
    last = i + 1;
  }
  PathTree result;
  result.reserve(tree_.size());
  std::vector<std::pair<uint32_t, uint32_t>> pending;  // node, its parent's new number
  const auto push = [&](size_t parent, uint32_t number) {
    const auto [first, last] = children[parent];
    for (uint32_t i = first; i < last; ++i) pending.emplace_back(order[i], number);
  };
  for (push(tree_.size(), PathTreeNode::kNoParent); !pending.empty();) {
    const auto [node, parent] = pending.back();
    pending.pop_back();
    result.push_back(tree_[node]);
    result.back().parent = parent;
    push(node, static_cast<uint32_t>(result.size() - 1));
  }
  tree_.clear();
  return result;
}

uint64_t TreeSum::memory() const {
  constexpr uint64_t kNodeBytes = 2 * sizeof(PathTreeNode) + 96;  // with its entry in known_, or in take()
  return tree_.size() * kNodeBytes;
}

}  // namespace pctally
