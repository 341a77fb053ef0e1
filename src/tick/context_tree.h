// A tree of places with counts, in the shared pool: call paths from the outermost frame to the innermost.
//
//   directory            node (32 bytes)
//   u32 per slot  --->   next, parent, place, self, folded  --->  next node of the slot
//   larger directory, once the first has a node per slot  --->  nodes made since then
//
//  1. A node is the path from its root down to it. Its key is (parent, place); it never moves, nor does the
//     chain it hangs on: a tree grows by one more directory, which the nodes to come hang on.
//  2. `self` counts ticks whose path ends here, `folded` those whose path continued but found no room. Only
//     pruning lowers them.
//  3. A node is filled before it is put at the head of its slot's chain, by compare-and-swap: whoever loses
//     the race leaves an unused node, and two equal nodes may come to be. Readers add up.
//  4. A mark (a scope, a cut) finds room in a full tree, too: what is below it would pass for something else.
//  5. No walk is longer than kMostAttempts; then there is no room.
#pragma once
#include "tick/counter.h"
#include "tick/pool.h"

namespace pctally {

struct PathNode {
  uint32_t next;    ///< node of the same slot, 0 at the end
  uint32_t parent;  ///< 0: a root
  uint64_t place;   ///< PathPlace
  uint64_t self;
  uint64_t folded;
};
static_assert(sizeof(PathNode) == 32, "shared-memory layout");

/// A tree. Node numbers count halves of units: 2 * unit, or 2 * unit + 1.
struct PathTreeHead {
  uint32_t directory;   ///< the first one's first unit; 0: no tree
  uint32_t slots_log2;  ///< of that directory
  uint32_t nodes;       ///< in the tree
  uint32_t most_nodes;
  uint32_t spare;  ///< second half of the unit taken last, 0 if it is used
  uint32_t more;   ///< unit of the next directory's PathDirectory, 0: there is one alone
};
static_assert(sizeof(PathTreeHead) == 24, "shared-memory layout");

/// In a unit of its own, once a tree has grown.
struct PathDirectory {
  uint32_t directory;  ///< first unit
  uint32_t slots_log2;
  uint32_t more;  ///< as in the head
};
static_assert(sizeof(PathDirectory) == 12, "shared-memory layout");

inline constexpr uint32_t kNodesPerUnit = 2;
inline constexpr uint32_t kMostSlotsLog2 = 24;  ///< of a directory; what says more is damaged
inline constexpr unsigned kMeanChainLog2 = 2;   ///< nodes per slot of a full tree, log2
inline constexpr uint32_t kMoreMarks = 32;      ///< beyond most_nodes: the first cut of a kind, say

/// Where a node of a path lies: a segment's unit and the distance from its start, or, with segment
/// 0, a mark.
struct PathPlace {
  static constexpr unsigned kSegmentShift = 40;
  static constexpr uint64_t kMostIndex = (uint64_t{1} << kSegmentShift) - 1;
  enum Mark : uint64_t { kScope = 1, kCut = 2, kOthers = 3 };
  static constexpr unsigned kMarkShift = 32;

  static uint64_t code(uint32_t segment, uint64_t index) noexcept {
    return uint64_t{segment} << kSegmentShift | (index & kMostIndex);
  }
  /// A scope's unit, a PathEnd, or 0.
  static uint64_t mark(Mark mark, uint32_t value) noexcept { return uint64_t{mark} << kMarkShift | value; }
  static uint32_t segment(uint64_t place) noexcept { return static_cast<uint32_t>(place >> kSegmentShift); }
  static uint64_t index(uint64_t place) noexcept { return place & kMostIndex; }
};

inline PathNode* path_node(const Pool& pool, uint32_t number) noexcept {
  return pool_at<PathNode>(pool, number / kNodesPerUnit) + number % kNodesPerUnit;
}

inline PathDirectory first_directory(const PathTreeHead& head) noexcept {
  return {head.directory, head.slots_log2, __atomic_load_n(&head.more, __ATOMIC_ACQUIRE)};
}

/// The one after it; none at the end, or where the file is damaged: each is larger than the one before, so
/// that a walk ends.
inline PathDirectory next_directory(const Pool& pool, const PathDirectory& before) noexcept {
  if (!pool_holds(pool, before.more, 1)) return {};
  const auto* found = pool_at<PathDirectory>(pool, before.more);
  const uint32_t slots_log2 = found->slots_log2;
  if (slots_log2 <= before.slots_log2 || slots_log2 > kMostSlotsLog2) return {};
  return {found->directory, slots_log2, __atomic_load_n(&found->more, __ATOMIC_ACQUIRE)};
}

inline uint32_t* path_slot(const Pool& pool, const PathDirectory& directory, uint32_t parent,
                           uint64_t place) noexcept {
  if (directory.slots_log2 > kMostSlotsLog2) return nullptr;
  const uint64_t mixed = (place + uint64_t{parent} * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
  const uint32_t slot = static_cast<uint32_t>(mixed ^ mixed >> 32) & ((1u << directory.slots_log2) - 1);
  const uint64_t unit = uint64_t{directory.directory} + (slot >> 4);
  if (directory.directory == 0 || unit > UINT32_MAX || !pool_holds(pool, static_cast<uint32_t>(unit), 1))
    return nullptr;
  return pool_at<uint32_t>(pool, static_cast<uint32_t>(unit)) + (slot & 15);
}

/// A node nobody uses yet; 0 when there is no room. `is_mark`: a full tree has room for it.
inline uint32_t take_path_node(const Pool& pool, PathTreeHead* head, bool is_mark = false) noexcept {
  const uint64_t most = uint64_t{head->most_nodes} + (is_mark ? kMoreMarks : 0);
  if (__atomic_load_n(&head->nodes, __ATOMIC_RELAXED) >= most) return 0;
  __atomic_fetch_add(&head->nodes, 1, __ATOMIC_RELAXED);
  if (const uint32_t spare = __atomic_exchange_n(&head->spare, 0, __ATOMIC_ACQ_REL); spare != 0)
    return pool_holds(pool, spare / kNodesPerUnit, 1) ? spare : 0;
  const uint32_t unit = pool_take(pool, 1);
  if (unit == 0) {
    __atomic_fetch_sub(&head->nodes, 1, __ATOMIC_RELAXED);
    return 0;
  }
  __atomic_store_n(&head->spare, unit * kNodesPerUnit + 1, __ATOMIC_RELEASE);
  return unit * kNodesPerUnit;
}

/// Number of the node with that key in the chain from `first` on, or 0. *steps counts down.
inline uint32_t find_in_chain(const Pool& pool, uint32_t first, uint32_t parent, uint64_t place,
                              uint32_t* steps) noexcept {
  for (uint32_t number = first; number != 0 && *steps != 0; --*steps) {
    if (!pool_holds(pool, number / kNodesPerUnit, 1)) return 0;
    const PathNode* node = path_node(pool, number);
    if (node->parent == parent && node->place == place) return number;
    number = __atomic_load_n(&node->next, __ATOMIC_ACQUIRE);
  }
  return 0;
}

/// Number of the child of `parent` (0: of the root) at `place`, made now if there is none; 0 when there is no
/// room. Any thread, signal handler or process.
inline uint32_t path_child(const Pool& pool, PathTreeHead* head, uint32_t parent, uint64_t place) noexcept {
  uint32_t steps = kMostAttempts, made = 0;
  PathDirectory directory = first_directory(*head);
  uint32_t* slot = path_slot(pool, directory, parent, place);
  while (slot != nullptr && directory.more != 0) {
    const uint32_t first = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (const uint32_t found = find_in_chain(pool, first, parent, place, &steps); found != 0) return found;
    directory = next_directory(pool, directory);
    slot = path_slot(pool, directory, parent, place);
  }
  if (slot == nullptr) return 0;
  uint32_t first = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  while (steps != 0) {
    if (const uint32_t found = find_in_chain(pool, first, parent, place, &steps); found != 0) return found;
    if (made == 0) made = take_path_node(pool, head, PathPlace::segment(place) == 0);
    if (made == 0 || steps == 0) return 0;
    PathNode* node = path_node(pool, made);
    node->parent = parent;
    node->place = place;
    node->self = node->folded = 0;
    node->next = first;
    if (__atomic_compare_exchange_n(slot, &first, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return made;
    --steps;
  }
  return 0;
}

}  // namespace pctally
