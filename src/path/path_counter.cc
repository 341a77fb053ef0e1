#include "path/path_counter.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace pctally {
namespace {

constexpr uint64_t kUnitsPerFrame = 2;  ///< a node in each tree, at most
constexpr uint32_t kKeptPercent = 70;   ///< of the nodes, by pruning
constexpr size_t kNodesPerTick = 64;    ///< looked at, at most, where the file is damaged

uint64_t weight_of(const PathNode& node) noexcept { return node.self + node.folded; }

/// A scope and a mark stay: they say what the ticks below them are.
bool is_code(const PathNode& node) noexcept {
  return node.parent != 0 && PathPlace::segment(node.place) != 0;
}

/// The nodes of a tree, and how many children each node number has. Where the file is damaged: those that can
/// be nodes.
struct Family {
  std::vector<uint32_t> nodes;
  std::vector<uint32_t> children;

  /// 0: of a root, or of a node whose parent cannot be one.
  [[nodiscard]] uint32_t parent_of(const PathNode& node) const {
    const uint32_t parent = __atomic_load_n(&node.parent, __ATOMIC_RELAXED);
    return parent < children.size() ? parent : 0;
  }
};

Family family_of(const Pool& pool, const PathTreeHead& tree) {
  Family family;
  const uint64_t numbers = uint64_t{std::min(pool.head->used, pool_units(pool))} * kNodesPerUnit;
  family.nodes.reserve(std::min<uint64_t>(tree.nodes, numbers));
  family.children.resize(numbers);
  visit_nodes(pool, tree, [&](uint32_t number, const PathNode& node) {
    if (number >= numbers) return;
    family.nodes.push_back(number);
    ++family.children[family.parent_of(node)];
  });
  return family;
}

/// What refers to a node in its chain: a slot, or another's `next`. Null: none does, as the file is damaged.
uint32_t* link_to(const Pool& pool, const PathTreeHead& tree, uint32_t number) {
  const PathNode& node = *path_node(pool, number);
  uint32_t steps = kMostAttempts;
  for (PathDirectory directory = first_directory(tree); directory.directory != 0;
       directory = next_directory(pool, directory)) {
    uint32_t* link = path_slot(pool, directory, node.parent, node.place);
    for (uint32_t at = 0; link != nullptr && (at = __atomic_load_n(link, __ATOMIC_RELAXED)) != 0;
         link = &path_node(pool, at)->next) {
      if (at == number) return link;
      if (steps-- == 0 || !pool_holds(pool, at / kNodesPerUnit, 1)) return nullptr;
    }
  }
  return nullptr;
}

}  // namespace

PathCounter::PathCounter(ProfileFile* file) : file_(file), paths_(call_paths(*file)) {}

void PathCounter::count(uint32_t scope, std::span<const PathFrame> frames, PathEnd end, uint64_t ticks) {
  if (without_prune_ != 0)
    --without_prune_;
  else if (paths_->context.nodes + frames.size() + 2 > paths_->context.most_nodes)
    prune();
  grow(&paths_->context, &most_context_);
  grow(&paths_->plane, &most_plane_);
  file_->make_room((frames.size() + 2) * kUnitsPerFrame);
  count_path(
      trees_of(*file_, paths_), PathPlace::mark(PathPlace::kScope, scope), frames, end, ticks,
      [this](PathTreeHead* tree, uint32_t parent, uint64_t place) { return child(tree, parent, place); });
}

void PathCounter::grow(PathTreeHead* tree, uint32_t* most) {
  if (tree->nodes >= *most) *most = grow_path_tree(file_, tree);
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

/// Takes a leaf out of the tree: its counts go to its parent. A reader that finds them twice, because this
/// process was killed here, knows it by `pruning` and `pruned_to`.
void PathCounter::remove(uint32_t number, uint32_t parent) {
  const Pool pool = file_->pool();
  PathNode* node = path_node(pool, number);
  uint32_t* link = link_to(pool, paths_->context, number);
  if (link == nullptr) return;
  uint64_t* folded = &path_node(pool, parent)->folded;
  store_relaxed(&paths_->pruned_to, *folded + weight_of(*node));
  __atomic_store_n(&paths_->pruning, number, __ATOMIC_RELEASE);
  __atomic_store_n(folded, paths_->pruned_to, __ATOMIC_RELEASE);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
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
  const bool is_damaged = family.nodes.size() != tree.nodes;
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
    const uint32_t number = coldest.top().second, parent = family.parent_of(*path_node(pool, number));
    coldest.pop();
    if (parent == 0) continue;  // it was another: the file is damaged
    remove(number, parent);
    if (--family.children[parent] == 0) add(parent);
  }
  add_relaxed(&paths_->prunes, 1);
  if (is_damaged && tree.nodes > kept) without_prune_ = family.children.size() / kNodesPerTick;
}

}  // namespace pctally
