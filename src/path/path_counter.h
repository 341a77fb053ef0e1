// Counts call paths into the two trees of a profile file. The recorder's side: one writer.
//
//  1. Every tick ends in exactly one node of the context tree: Σ (self + folded) + no_room is the number of
//     ticks given to count(). How a path is counted: tick/path_count.h.
//  2. When the context tree is full its coldest leaves are folded into their parents until 30 % is free. The
//     whole count of a node that stays, its own and that below it, does not change.
//  3. A tree that has another number of nodes than its head says was written into by a program. If pruning
//     does not help there, it is not tried again at every tick.
#pragma once
#include <vector>

#include "histfile/call_paths.h"
#include "path/unwinder.h"

namespace pctally {

class PathCounter {
 public:
  PathCounter() = default;
  /// REQUIRES: `file` has call paths, and outlives this.
  explicit PathCounter(ProfileFile* file);

  /// Counts `ticks` of one path. `scope`: unit of its scope, 0 if there was no room for one. `frames`:
  /// innermost first; the first is where the ticks fell.
  void count(uint32_t scope, std::span<const PathFrame> frames, PathEnd end, uint64_t ticks);

 private:
  void grow(PathTreeHead* tree, uint32_t* most);
  uint32_t child(PathTreeHead* tree, uint32_t parent, uint64_t place);
  void prune();
  void remove(uint32_t number, uint32_t parent);

  ProfileFile* file_ = nullptr;
  PathRecord* paths_ = nullptr;
  uint32_t most_context_ = 0, most_plane_ = 0;  ///< nodes that the trees' directories are for
  size_t without_prune_ = 0;                    ///< calls of count() that do not prune
  std::vector<uint32_t> freed_;                 ///< nodes of the context tree to be used again
  std::vector<uint32_t> resting_;  ///< freed in the last pass: a reader may still be on its way through them
};

}  // namespace pctally
