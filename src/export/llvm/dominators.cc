#include "export/llvm/dominators.h"

#include <algorithm>
#include <utility>

namespace pctally {

Graph reversed(const Graph& graph) {
  Graph result(graph.size());
  for (uint32_t node = 0; node < graph.size(); ++node)
    for (uint32_t next : graph[node]) result[next].push_back(node);
  return result;
}

Dominators::Dominators(const Graph& graph, const Graph& predecessors, uint32_t root)
    : place_(graph.size(), kNone), above_(graph.size(), kNone) {
  find_order(graph, root);
  above_[root] = root;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t node : order_) {
      if (node == root) continue;
      uint32_t found = kNone;
      for (uint32_t before : predecessors[node])
        if (above_[before] != kNone) found = found == kNone ? before : meet(found, before);
      changed = changed || above_[node] != found;
      above_[node] = found;
    }
  }
  above_[root] = kNone;
  number_tree();
}

/// Without recursion: functions have any number of blocks.
void Dominators::find_order(const Graph& graph, uint32_t root) {
  std::vector<bool> seen(graph.size());
  std::vector<std::pair<uint32_t, size_t>> open{{root, 0}};
  seen[root] = true;
  while (!open.empty()) {
    auto& [node, next] = open.back();
    if (next == graph[node].size()) {
      order_.push_back(node);
      open.pop_back();
      continue;
    }
    const uint32_t after = graph[node][next++];
    if (!seen[after]) open.emplace_back(after, 0);
    seen[after] = true;
  }
  std::ranges::reverse(order_);
  for (uint32_t i = 0; i < order_.size(); ++i) place_[order_[i]] = i;
}

uint32_t Dominators::meet(uint32_t a, uint32_t b) const {
  while (a != b) {
    while (place_[a] > place_[b]) a = above_[a];
    while (place_[b] > place_[a]) b = above_[b];
  }
  return a;
}

/// A node's descendants are then the numbers from its own to its last.
void Dominators::number_tree() {
  std::vector<uint32_t> size(place_.size(), 1), used(place_.size(), 1);
  for (size_t i = order_.size(); i-- > 1;) size[above_[order_[i]]] += size[order_[i]];
  first_.assign(place_.size(), kNone);
  last_.assign(place_.size(), 0);
  for (uint32_t node : order_) {
    const uint32_t parent = above_[node];
    first_[node] = parent == kNone ? 0 : first_[parent] + used[parent];
    if (parent != kNone) used[parent] += size[node];
    last_[node] = first_[node] + size[node] - 1;
  }
}

bool Dominators::dominates(uint32_t node, uint32_t other) const {
  if (place_[node] == kNone || place_[other] == kNone) return false;
  return first_[node] <= first_[other] && first_[other] <= last_[node];
}

}  // namespace pctally
