#include "path/path_counter.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace pctally {
namespace {

constexpr uint64_t kUnitsPerFrame = 2;  ///< a node in each tree, at most
constexpr uint32_t kKeptPercent = 70;   ///< of the nodes, by pruning

uint64_t weight_of(const PathNode& node) noexcept { return node.self + node.folded; }

/// A scope and a mark stay: they say what the ticks below them are.
bool is_code(const PathNode& node) noexcept {
  return node.parent != 0 && PathPlace::segment(node.place) != 0;
}

/// The nodes of a tree, and how many children each node number has.
struct Family {
  std::vector<uint32_t> nodes;
  std::vector<uint32_t> children;
};

Family family_of(const Pool& pool, const PathTreeHead& tree) {
  Family family;
  family.nodes.reserve(tree.nodes);
  family.children.resize(uint64_t{pool.head->used} * kNodesPerUnit);
  const uint32_t* slots = pool_at<uint32_t>(pool, tree.directory);
  for (uint64_t slot = 0; slot < uint64_t{1} << tree.slots_log2; ++slot) {
    for (uint32_t number = slots[slot]; number != 0; number = path_node(pool, number)->next) {
      family.nodes.push_back(number);
      ++family.children[path_node(pool, number)->parent];
    }
  }
  return family;
}

}  // namespace

PathCounter::PathCounter(ProfileFile* file) : file_(file), paths_(call_paths(*file)) {}

void PathCounter::count(uint32_t scope, std::span<const PathFrame> frames, PathEnd end, uint64_t ticks) {
  file_->make_room((frames.size() + 2) * kUnitsPerFrame);
  count_context(scope, frames, end, ticks);
  count_plane(scope, frames, ticks);
}

/// Freed nodes are used before new ones are taken.
uint32_t PathCounter::child(PathTreeHead* tree, uint32_t parent, uint64_t place) {
  const bool reuse = tree == &paths_->context && tree->spare == 0 && !freed_.empty();
  const uint32_t again = reuse ? freed_.back() : 0;
  if (reuse) tree->spare = again;
  const uint32_t node = path_child(file_->pool(), tree, parent, place);
  if (!reuse) return node;
  if (tree->spare == again)
    tree->spare = 0;
  else
    freed_.pop_back();
  return node;
}

void PathCounter::count_context(uint32_t scope, std::span<const PathFrame> frames, PathEnd end,
                                uint64_t ticks) {
  const Pool pool = file_->pool();
  PathTreeHead* tree = &paths_->context;
  if (tree->nodes + frames.size() + 2 > tree->most_nodes) prune();
  uint32_t node = child(tree, 0, PathPlace::mark(PathPlace::kScope, scope));
  if (node == 0) {
    add_relaxed(&paths_->no_room, ticks);
    return;
  }
  uint32_t next = node;
  if (end != PathEnd::kComplete)
    next = child(tree, node, PathPlace::mark(PathPlace::kCut, static_cast<uint32_t>(end)));
  for (size_t i = frames.size(); i != 0 && next != 0; --i) {
    node = next;
    next = child(tree, node, frames[i - 1].place);
  }
  add_relaxed(next != 0 ? &path_node(pool, next)->self : &path_node(pool, node)->folded, ticks);
}

void PathCounter::count_once(uint32_t node, uint32_t scope, uint64_t ticks) {
  const Pool pool = file_->pool();
  if (node == 0) {
    if (scope != 0) add_relaxed(&path_node(pool, scope)->folded, ticks);
    return;
  }
  if (node >= seen_.size()) seen_.resize(std::max(node + 1, paths_->plane.most_nodes));
  if (std::exchange(seen_[node], turn_) == turn_) return;
  add_relaxed(&path_node(pool, node)->self, ticks);
}

void PathCounter::count_plane(uint32_t scope, std::span<const PathFrame> frames, uint64_t ticks) {
  PathTreeHead* tree = &paths_->plane;
  if (tree->directory == 0) return;
  const uint32_t root = child(tree, 0, PathPlace::mark(PathPlace::kScope, scope));
  if (++turn_ == 0) seen_.assign(seen_.size(), turn_++);
  for (size_t i = 0; i < frames.size(); ++i) {
    const uint32_t function = root == 0 ? 0 : child(tree, root, frames[i].function);
    count_once(function, root, ticks);
    if (i + 1 == frames.size() || function == 0) continue;
    count_once(child(tree, function, frames[i + 1].place), root, ticks);
  }
}

/// Takes a leaf out of the tree: its counts go to its parent. A reader that finds them twice sees `pruning`.
void PathCounter::remove(uint32_t number) {
  const Pool pool = file_->pool();
  PathNode* node = path_node(pool, number);
  PathNode* parent = path_node(pool, node->parent);
  uint32_t* link = path_slot(pool, paths_->context, node->parent, node->place);
  while (*link != number && *link != 0) link = &path_node(pool, *link)->next;
  if (*link == 0) return;
  __atomic_store_n(&paths_->pruning, number, __ATOMIC_RELEASE);
  add_relaxed(&parent->folded, weight_of(*node));
  store_relaxed(&node->self, 0);
  store_relaxed(&node->folded, 0);
  __atomic_store_n(link, node->next, __ATOMIC_RELEASE);
  __atomic_store_n(&paths_->pruning, 0, __ATOMIC_RELEASE);
  --paths_->context.nodes;
  ++paths_->pruned;
  resting_.push_back(number);
}

void PathCounter::prune() {
  const Pool pool = file_->pool();
  const PathTreeHead& tree = paths_->context;
  using Leaf = std::pair<uint64_t, uint32_t>;  // weight, node
  std::priority_queue<Leaf, std::vector<Leaf>, std::greater<>> coldest;
  Family family = family_of(pool, tree);
  const auto add = [&](uint32_t number) {
    if (const PathNode& node = *path_node(pool, number); is_code(node))
      coldest.push({weight_of(node), number});
  };
  for (uint32_t number : family.nodes)
    if (family.children[number] == 0) add(number);
  add_relaxed(&paths_->prunes, 1);
  freed_.insert(freed_.end(), resting_.begin(), resting_.end());
  resting_.clear();
  const uint64_t kept = uint64_t{tree.most_nodes} * kKeptPercent / 100;
  for (; tree.nodes > kept && !coldest.empty();) {
    const uint32_t number = coldest.top().second, parent = path_node(pool, number)->parent;
    coldest.pop();
    remove(number);
    if (--family.children[parent] == 0) add(parent);
  }
  add_relaxed(&paths_->prunes, 1);
}

}  // namespace pctally
