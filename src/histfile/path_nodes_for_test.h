// Call paths as walks give them, and the nodes of a tree of them in a profile file. For tests only.
#pragma once
#include <map>
#include <vector>

#include "histfile/call_paths.h"

namespace pctally {

/// A function every 0x100 bytes of segment 9; a call in it is 0x10 bytes behind its start and on.
inline uint64_t function(unsigned number) { return PathPlace::code(9, number * 0x100); }
inline uint64_t call_in(unsigned number, unsigned which = 0) {
  return PathPlace::code(9, number * 0x100 + 0x10 + which);
}

/// The path main -> ... -> leaf as the unwinder gives it: innermost first.
template <class Frame>
std::vector<Frame> path_of(const std::vector<unsigned>& functions) {
  std::vector<Frame> frames;
  for (size_t i = functions.size(); i-- > 0;) {
    const bool leaf = i + 1 == functions.size();
    frames.push_back({leaf ? function(functions[i]) : call_in(functions[i]), function(functions[i])});
  }
  return frames;
}

/// By their numbers. REQUIRES: the tree is whole.
inline std::map<uint32_t, PathNode> nodes_of(const Pool& pool, const PathTreeHead& tree) {
  std::map<uint32_t, PathNode> found;
  visit_nodes(pool, tree, [&](uint32_t number, const PathNode& node) { found[number] = node; });
  return found;
}

/// Ticks of all its nodes.
inline uint64_t ticks_of(const Pool& pool, const PathTreeHead& tree) {
  uint64_t ticks = 0;
  for (const auto& [number, node] : nodes_of(pool, tree)) ticks += node.self + node.folded;
  return ticks;
}

}  // namespace pctally
