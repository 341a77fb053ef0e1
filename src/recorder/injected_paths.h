// Call paths that the observed processes hand over (tick/path_slots.h): out of their slots, into the trees.
//
// The programs write the slots: nothing in them is believed that is not checked.
#pragma once
#include <functional>
#include <unordered_map>
#include <vector>

#include "path/path_counter.h"
#include "path/program_scopes.h"

namespace pctally {

class InjectedPaths {
 public:
  /// PathPlace of an address in a process that its record's unit names; 0: nothing is known to be there.
  using PlaceOf = std::function<uint64_t(uint32_t process, uint64_t address)>;

  /// REQUIRES: `file` has slots, and outlives this.
  explicit InjectedPaths(ProfileFile* file);

  /// Counts all paths that are ready and frees their slots.
  void drain(const PlaceOf& place_of);

  /// Ticks that may come between two drains and fill no more than half of the slots, if their paths are as
  /// long as the longest of the last drain.
  [[nodiscard]] uint64_t room() const { return slots_.count / 2 / slots_per_path_; }

 private:
  void count(uint32_t first, const PlaceOf& place_of);
  PathEnd take_frames(uint32_t process, uint32_t first, PathEnd end, const PlaceOf& place_of);
  bool add_frame(uint32_t process, const PathSlotFrame& frame, const PlaceOf& place_of);
  uint32_t scope_of(uint32_t program);
  void free_stuck(uint32_t index, uint32_t process);

  ProfileFile* file_;
  PathSlots slots_;
  PathCounter counter_;
  ProgramScopes scopes_;
  std::unordered_map<uint32_t, uint32_t> scope_by_segment_;
  std::vector<uint8_t> turns_;  ///< per slot: drains that found it taken and not ready
  std::vector<PathFrame> frames_;
  uint32_t slots_per_path_ = 2;
  uint64_t no_slot_ = 0;  ///< ticks booked as without a slot
};

}  // namespace pctally
