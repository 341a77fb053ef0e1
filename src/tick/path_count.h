// Counts a path in the two trees of a profile file. The recorder calls it when it empties slots and rings,
// a signal handler where there is no recorder (own_path.h). Calls nothing but `child`.
//
//  1. Every tick ends in exactly one node of the context tree. All nodes are there before a count is raised.
//  2. A function and a call of the call plane are counted once a tick, however often they recur. No mark in a
//     shared node says so: others may count at the same moment.
#pragma once
#include "tick/context_tree.h"
#include "tick/unwind/unwind_rule.h"

namespace pctally {

/// Both trees, as this process has them mapped. A value.
struct PathTrees {
  Pool pool;
  PathTreeHead* context = nullptr;
  PathTreeHead* plane = nullptr;  ///< without a directory: no call plane is kept
  uint64_t* no_room = nullptr;    ///< ticks that neither a scope's node took, nor that of their cut
};

/// Says of the frames of one path, innermost first, which are the first of their function or call. A frame
/// whose bit is fresh is; the others are compared with those before, from the next one inwards: recursion
/// ends that search after one round of it.
template <class Frames>
class FirstFrames {
 public:
  explicit FirstFrames(const Frames& frames) noexcept : frames_(frames) {
    for (uint32_t& word : bits_) {
      word = 0;
      __asm__ volatile("" ::: "memory");  // else it is made a call of memset
    }
  }

  // REQUIRES: asked of each frame once, in ascending order.

  bool of_function(uint32_t i) noexcept {
    const uint64_t function = frames_[i].function;
    if (mark(function)) return true;
    for (uint32_t j = i; j-- > 0;)
      if (frames_[j].function == function) return false;
    return true;
  }

  /// The call of its function by the frame i + 1, which REQUIRES that frame.
  bool of_call(uint32_t i) noexcept {
    const uint64_t function = frames_[i].function, site = frames_[i + 1].place;
    if (mark(function * 31 + site)) return true;
    for (uint32_t j = i; j-- > 0;)
      if (frames_[j].function == function && frames_[j + 1].place == site) return false;
    return true;
  }

 private:
  static constexpr unsigned kBitsLog2 = 10;

  /// False if the key's bit was set before.
  bool mark(uint64_t key) noexcept {
    const auto bit = static_cast<uint32_t>(key * 0x9e3779b97f4a7c15u >> (64 - kBitsLog2));
    uint32_t* word = &bits_[bit / 32];  // machines of 32 bits would call a function to shift 64
    const uint32_t mask = 1u << bit % 32;
    const bool fresh = (*word & mask) == 0;
    *word |= mask;
    return fresh;
  }

  const Frames& frames_;
  uint32_t bits_[(1u << kBitsLog2) / 32];
};

template <class Frames, class Child>
void count_in_context(const PathTrees& trees, uint64_t scope, const Frames& frames, PathEnd end,
                      uint64_t ticks, Child& child) {
  uint32_t node = child(trees.context, 0, scope);
  if (node == 0) {
    add_relaxed(trees.no_room, ticks);
    return;
  }
  uint32_t next = node;
  if (end != PathEnd::kComplete) {
    next = child(trees.context, node, PathPlace::mark(PathPlace::kCut, static_cast<uint32_t>(end)));
    if (next == 0) {  // below the scope it would count as complete
      add_relaxed(trees.no_room, ticks);
      return;
    }
  }
  for (auto i = static_cast<uint32_t>(frames.size()); i != 0 && next != 0; --i) {
    node = next;
    next = child(trees.context, node, frames[i - 1].place);
  }
  PathNode* last = path_node(trees.pool, next != 0 ? next : node);
  add_relaxed(next != 0 ? &last->self : &last->folded, ticks);
}

/// What finds no room is added to `folded` of its scope.
template <class Frames, class Child>
void count_in_plane(const PathTrees& trees, uint64_t scope, const Frames& frames, uint64_t ticks,
                    Child& child) {
  const uint32_t root = child(trees.plane, 0, scope);
  if (root == 0) return;
  const auto add = [&](uint32_t node) {
    add_relaxed(node != 0 ? &path_node(trees.pool, node)->self : &path_node(trees.pool, root)->folded, ticks);
  };
  FirstFrames<Frames> first(frames);
  const auto count = static_cast<uint32_t>(frames.size());
  for (uint32_t i = 0; i < count; ++i) {
    const bool called = i + 1 < count && first.of_call(i), met = first.of_function(i);
    if (!called && !met) continue;
    const uint32_t function = child(trees.plane, root, frames[i].function);
    if (met) add(function);
    if (called && function != 0) add(child(trees.plane, function, frames[i + 1].place));
  }
}

/// Counts `ticks` of one path. `scope`: PathPlace. `frames`: innermost first; `size()` of them, each with
/// `place` and `function` as PathFrame's. `child(tree, parent, place)`: as path_child().
template <class Frames, class Child>
void count_path(const PathTrees& trees, uint64_t scope, const Frames& frames, PathEnd end, uint64_t ticks,
                Child&& child) {
  count_in_context(trees, scope, frames, end, ticks, child);
  if (trees.plane->directory != 0) count_in_plane(trees, scope, frames, ticks, child);
}

}  // namespace pctally
