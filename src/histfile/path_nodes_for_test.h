// The nodes of a tree of call paths in a profile file. For tests only.
#pragma once
#include <map>

#include "histfile/layout.h"

namespace pctally {

/// By their numbers. REQUIRES: the tree is whole.
inline std::map<uint32_t, PathNode> nodes_of(const Pool& pool, const PathTreeHead& tree) {
  std::map<uint32_t, PathNode> found;
  const uint32_t* slots = pool_at<uint32_t>(pool, tree.directory);
  for (uint64_t slot = 0; slot < uint64_t{1} << tree.slots_log2; ++slot)
    for (uint32_t number = slots[slot]; number != 0; number = found[number].next)
      found[number] = *path_node(pool, number);
  return found;
}

/// Ticks of all its nodes.
inline uint64_t ticks_of(const Pool& pool, const PathTreeHead& tree) {
  uint64_t ticks = 0;
  for (const auto& [number, node] : nodes_of(pool, tree)) ticks += node.self + node.folded;
  return ticks;
}

}  // namespace pctally
