#include "report/paths/call_tree.h"

#include <algorithm>
#include <unordered_map>

#include "report/path_choice.h"

namespace pctally {
namespace {

/// Of functions on a path, inlined ones too: nodes hold one another, and are written by functions that call
/// themselves. Paths have 2,048 frames at most; a file may say that a thousand functions are inlined in each.
constexpr uint32_t kMostLevels = 1 << 14;

constexpr char kDeeperPaths[] = "[deeper: not shown]";

/// The tree while it grows: children are found by their function.
class TreeBuilder {
 public:
  TreeBuilder() { nodes_.emplace_back(); }

  /// `frame` outlives this.
  uint32_t child(uint32_t parent, const StackFrame& frame) {
    const auto [entry, fresh] = functions_.try_emplace(&frame, 0);
    if (fresh) entry->second = number_of(frame);
    return child(parent, entry->second);
  }
  /// "[lost]" and the like, which are no functions.
  uint32_t bracketed(uint32_t parent, const char* name) {
    return child(parent, number_of(frame_called(name)));
  }
  /// To the node and all above it.
  void add(uint32_t node, uint64_t ticks) {
    for (uint32_t at = node;; at = nodes_[at].parent) {
      nodes_[at].ticks += ticks;
      if (at == 0) return;
    }
  }
  void add_self(uint32_t node, uint64_t ticks) { nodes_[node].self += ticks; }
  void set_inexact(uint32_t node) { nodes_[node].inexact = true; }

  CallTreeNode take() {
    std::vector<CallTreeNode> made(nodes_.size());
    for (size_t i = nodes_.size(); i-- > 0;) {
      CallTreeNode& node = made[i];
      if (i != 0) node.frame = frames_[nodes_[i].function];
      node.ticks = nodes_[i].ticks;
      node.self = nodes_[i].self;
      node.inexact = nodes_[i].inexact;
      std::stable_sort(node.children.begin(), node.children.end(),
                       [](const CallTreeNode& a, const CallTreeNode& b) { return a.ticks > b.ticks; });
      if (i != 0) made[nodes_[i].parent].children.push_back(std::move(node));
    }
    return std::move(made[0]);
  }

 private:
  struct Node {
    uint32_t function = 0, parent = 0, level = 0;
    uint64_t ticks = 0, self = 0;
    bool inexact = false;
  };
  /// The place of the frame, or one like it, in frames_: inlined ones have odd numbers.
  uint32_t number_of(const StackFrame& frame) {
    const auto name = static_cast<uint32_t>(names_.size());
    const uint32_t number =
        2 * names_.try_emplace(function_of(frame), name).first->second + (frame.inlined ? 1 : 0);
    if (number >= frames_.size()) frames_.resize(number + size_t{1});
    if (frames_[number] == nullptr) frames_[number] = std::make_shared<StackFrame>(frame);
    return number;
  }
  uint32_t child(uint32_t parent, uint32_t function) {
    const uint32_t level = nodes_[parent].level + 1;
    if (level > kMostLevels) return parent;
    if (level == kMostLevels) function = number_of(frame_called(kDeeperPaths));
    const auto [entry, fresh] =
        known_.try_emplace(uint64_t{parent} << 32 | function / 2, static_cast<uint32_t>(nodes_.size()));
    if (fresh) nodes_.push_back({function, parent, level});
    return entry->second;
  }

  std::vector<Node> nodes_;
  std::vector<std::shared_ptr<const StackFrame>> frames_;
  std::map<StackFunction, uint32_t> names_;
  std::unordered_map<const StackFrame*, uint32_t> functions_;  ///< places in frames_
  std::unordered_map<uint64_t, uint32_t> known_;
};

constexpr uint32_t kOutermost = 0;  ///< above all functions

constexpr char kFoldedPaths[] = "[folded: deeper paths were not kept]";

void add_top_down(const NamedPaths& paths, TreeBuilder* builder) {
  const PathTree& tree = paths.tree();
  std::vector<uint32_t> places(tree.size());
  for (uint32_t node = 0; node < tree.size(); ++node) {
    uint32_t at = tree[node].parent == PathTreeNode::kNoParent ? kOutermost : places[tree[node].parent];
    for (const StackFrame& frame : paths.frames(node)) {
      at = builder->child(at, frame);
      if (frame.inlined && paths.is_inexact(node)) builder->set_inexact(at);
    }
    places[node] = at;
    if (tree[node].self != 0) {
      const uint32_t own = at == kOutermost ? builder->bracketed(kOutermost, kNoFunction) : at;
      builder->add(own, tree[node].self);
      builder->add_self(own, tree[node].self);
    }
    if (tree[node].folded != 0) {
      const uint32_t deeper = builder->bracketed(at, kFoldedPaths);
      builder->add(deeper, tree[node].folded);
      builder->add_self(deeper, tree[node].folded);
    }
  }
}

/// From the node to the outermost function, below `at`.
void add_callers(const NamedPaths& paths, uint32_t node, uint32_t at, TreeBuilder* builder) {
  const PathTree& tree = paths.tree();
  const uint64_t ticks = at == kOutermost ? tree[node].self : tree[node].folded;
  if (ticks == 0) return;
  bool is_innermost = at == kOutermost;
  for (uint32_t step = node; step != PathTreeNode::kNoParent; step = tree[step].parent) {
    const std::vector<StackFrame>& frames = paths.frames(step);
    for (size_t i = frames.size(); i-- > 0;) {
      at = builder->child(at, frames[i]);
      const bool is_rest = !is_innermost && paths.is_rest(node);  // of all callers together it is exact
      if (is_rest || (frames.back().inlined && paths.is_inexact(node))) builder->set_inexact(at);
      if (is_innermost) builder->add_self(at, ticks);
      is_innermost = false;
    }
  }
  if (at == kOutermost) {
    at = builder->bracketed(kOutermost, kNoFunction);
    builder->add_self(at, ticks);
  }
  builder->add(at, ticks);
}

void add_bottom_up(const NamedPaths& paths, TreeBuilder* builder) {
  const PathTree& tree = paths.tree();
  for (uint32_t node = 0; node < tree.size(); ++node) {
    add_callers(paths, node, kOutermost, builder);
    if (tree[node].folded != 0)
      add_callers(paths, node, builder->bracketed(kOutermost, kFoldedPaths), builder);
  }
}

}  // namespace

CallTreeNode call_tree(const NamedPaths& paths, bool bottom_up) {
  TreeBuilder builder;
  if (bottom_up)
    add_bottom_up(paths, &builder);
  else
    add_top_down(paths, &builder);
  if (paths.lost() != 0) {
    const uint32_t lost = builder.bracketed(kOutermost, "[lost]");
    builder.add(lost, paths.lost());
    builder.add_self(lost, paths.lost());
  }
  return builder.take();
}

CallTreeNode small_paths_bottom_up(const CallTreeNode& tree, uint64_t least) {
  TreeBuilder builder;
  std::vector<const CallTreeNode*> path;
  std::vector<std::pair<const CallTreeNode*, size_t>> pending{{&tree, 0}};  // with its depth
  while (!pending.empty()) {
    const auto [node, depth] = pending.back();
    pending.pop_back();
    path.resize(depth);
    path.push_back(node);
    for (const CallTreeNode& child : node->children) pending.emplace_back(&child, depth + 1);
    if (node->ticks >= least || node->self == 0) continue;
    const bool is_rest =
        std::ranges::any_of(node->children, [](const CallTreeNode& child) { return child.inexact; });
    uint32_t at = kOutermost;
    for (size_t i = depth; i > 0; --i) {
      at = builder.child(at, *path[i]->frame);
      if (node->inexact || (is_rest && i < depth)) builder.set_inexact(at);
    }
    builder.add(at, node->self);
  }
  return builder.take();
}

}  // namespace pctally
