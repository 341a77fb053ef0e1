// The part of a profile file that holds call paths: made by the recorder before the first tick.
#pragma once
#include "histfile/histogram.h"
#include "tick/path_count.h"
#include "tick/path_slots.h"

namespace pctally {

/// Bounds of a tree that may be asked for; both trees fit a file.
inline constexpr uint64_t kLeastPathBytes = 64 << 10;
inline constexpr uint64_t kMostPathBytes = 24 << 20;

/// Most bytes of nodes in each tree; those that pruning has freed take up to 30 % more. Without a plane there
/// are no call paths: the context tree then has the place of each tick below its scope.
struct PathLimits {
  uint64_t context_bytes = 8 << 20;
  uint64_t plane_bytes = 16 << 20;
  bool whole_directories = false;  ///< from the start: nobody will call grow_path_tree()
};

/// A tree for so many nodes, with a directory that keeps the mean chain short once it is full. No
/// unit is taken.
PathTreeHead tree_head_for(uint64_t most_nodes) noexcept;
inline uint32_t path_directory_units(uint32_t slots_log2) noexcept {
  return static_cast<uint32_t>((uint64_t{sizeof(uint32_t)} << slots_log2) / kUnitBytes);
}

/// Makes both trees, empty, and the file one with call paths. Errors: no room for their directories, with
/// the code of no_room_code(). Recorder only.
Result<void> add_call_paths(ProfileFile* file, const PathLimits& limits) noexcept;

/// Gives a tree that has a node per slot of its directories a larger one. Where the file has no room for it
/// the chains grow instead. Returns the nodes that may be in the tree before it is to be asked again.
/// Recorder only.
uint32_t grow_path_tree(ProfileFile* file, PathTreeHead* tree) noexcept;

/// Calls visit(number, node) for all nodes, each once. Where others write into the file: for no more than fit
/// the pool, some of them again; a node may change while it is visited. REQUIRES: the tree's writer rests.
template <class Visit>
void visit_nodes(const Pool& pool, const PathTreeHead& tree, Visit&& visit) {
  uint64_t left = uint64_t{pool_units(pool)} * kNodesPerUnit;
  for (PathDirectory directory = first_directory(tree); directory.directory != 0;
       directory = next_directory(pool, directory)) {
    if (directory.slots_log2 > kMostSlotsLog2 ||
        !pool_holds(pool, directory.directory, path_directory_units(directory.slots_log2)))
      return;
    const auto* slots = pool_at<uint32_t>(pool, directory.directory);
    for (uint64_t slot = 0; slot < uint64_t{1} << directory.slots_log2; ++slot) {
      for (uint32_t number = __atomic_load_n(&slots[slot], __ATOMIC_RELAXED); number != 0;
           number = __atomic_load_n(&path_node(pool, number)->next, __ATOMIC_RELAXED)) {
        if (left == 0 || !pool_holds(pool, number / kNodesPerUnit, 1)) break;
        --left;
        visit(number, *path_node(pool, number));
      }
    }
  }
}

/// Makes room for the paths that processes hand over: `count` slots at least, a power of two. Errors: as
/// above. REQUIRES: add_call_paths(). Recorder only.
Result<void> add_path_slots(ProfileFile* file, uint32_t count) noexcept;

/// Those of a file that may have been changed by others; none if it has none.
PathSlots path_slots(const ProfileFile& file) noexcept;

/// The call paths of a file that others may have changed; null if it has none.
PathRecord* call_paths(const ProfileFile& file) noexcept;

/// The trees of `paths`, which is the file's.
inline PathTrees trees_of(const ProfileFile& file, PathRecord* paths) noexcept {
  return {file.pool(), &paths->context, &paths->plane, &paths->no_room};
}

// Each returns the unit of a new scope; 0 when the pool is used up.

uint32_t add_program_scope(const ProfileFile& file, const ObjectIdentity& program) noexcept;
/// `program`: with an empty path if it is not known. `thread`: at most kThreadNameBytes of it are kept.
uint32_t add_thread_scope(const ProfileFile& file, const ObjectIdentity& program,
                          std::string_view thread) noexcept;
uint32_t add_group_scope(const ProfileFile& file, std::string_view path) noexcept;

}  // namespace pctally
