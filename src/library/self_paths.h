// Call paths of a program that records itself: without a recorder, its signal handlers count them into the
// file's trees. The frames of a tick lie in slots of this process's own memory while they are counted.
#pragma once
#include "base/file/mapped_array.h"
#include "histfile/call_paths.h"
#include "tick/own_path.h"

namespace pctally {

class SelfPaths {
 public:
  /// Bytes of a file that hold both trees when they are full.
  static uint64_t file_bytes(uint64_t path_bytes) noexcept;

  /// False where no handler can follow a stack: other machines than x86-64 and aarch64, C
  /// libraries without _dl_find_object.
  static bool work_here() noexcept;

  /// Makes the trees, one scope in them, and puts the fault guard in front. Errors: no room in the file
  /// (no_room_code()), ENOMEM, those of the guard. REQUIRES: the file has the room; work_here(). Once.
  Result<void> start(ProfileFile* file, uint64_t path_bytes) noexcept;

  /// For the tables of this process; null before start(). Outlives this only in the child of a fork, which
  /// has no table.
  [[nodiscard]] const OwnPaths* own() const noexcept { return own_.trees == nullptr ? nullptr : &own_; }

 private:
  bool make_slots() noexcept;

  OwnPaths own_;
  PathTrees trees_;
  PathSlotsHead head_{};
  MappedArray<uint32_t> states_;
  MappedArray<PathSlot> slots_;
};

}  // namespace pctally
