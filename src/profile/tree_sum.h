// The sum of call-path trees.
#pragma once
#include <map>
#include <vector>

#include "histread/path_tree.h"

namespace pctally {

class TreeSum {
 public:
  /// Adds a tree, its counts times `weight`, its executables and scopes renumbered by `place` and `scope`.
  void add(const PathTree& tree, const std::vector<uint32_t>& place, const std::vector<uint32_t>& scope,
           uint64_t weight);

  /// Multiplies all counts.
  void scale(uint64_t factor);

  /// The tree in an order that follows from its nodes alone: depth first, children by what they are. All are
  /// renumbered first, as by add().
  PathTree take(const std::vector<uint32_t>& place, const std::vector<uint32_t>& scope);

  [[nodiscard]] uint64_t memory() const;

 private:
  PathTree tree_;
  std::map<PathTreeNode::Key, uint32_t> known_;
};

/// The product, but no more than the largest count a file may hold.
uint64_t scaled(uint64_t ticks, uint64_t weight);

}  // namespace pctally
