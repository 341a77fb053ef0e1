// Dominator tree of a graph, after Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
#pragma once
#include <cstdint>
#include <vector>

namespace pctally {

using Graph = std::vector<std::vector<uint32_t>>;  ///< successors of each node

Graph reversed(const Graph& graph);

class Dominators {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// `predecessors` is reversed(graph).
  Dominators(const Graph& graph, const Graph& predecessors, uint32_t root);

  /// The next node above; kNone of the root, and of what the root does not reach.
  [[nodiscard]] uint32_t above(uint32_t node) const { return above_[node]; }
  /// A node dominates itself. What the root does not reach dominates nothing, and nothing dominates it.
  [[nodiscard]] bool dominates(uint32_t node, uint32_t other) const;
  /// Nodes that the root reaches, each behind its dominators.
  [[nodiscard]] const std::vector<uint32_t>& order() const { return order_; }

 private:
  [[nodiscard]] uint32_t meet(uint32_t a, uint32_t b) const;
  void find_order(const Graph& graph, uint32_t root);
  void number_tree();

  std::vector<uint32_t> order_;  ///< reverse postorder
  std::vector<uint32_t> place_;  ///< in order_; kNone: not reached
  std::vector<uint32_t> above_;
  std::vector<uint32_t> first_, last_;  ///< of the tree: a node's own number, and the largest below it
};

}  // namespace pctally
