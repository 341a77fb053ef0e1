// Call paths that the observed processes hand over (tick/path_slots.h): out of their slots, into the trees.
//
// The programs write the slots: nothing in them is believed that is not checked.
#pragma once
#include <functional>
#include <unordered_map>
#include <vector>

#include "path/path_counter.h"
#include "path/scopes.h"

namespace pctally {

class InjectedPaths {
 public:
  /// PathPlace of an address in a process that its record's unit names; 0: nothing is known to be there.
  using PlaceOf = std::function<uint64_t(uint32_t process, uint64_t address)>;

  /// REQUIRES: `file` has slots, and outlives this.
  explicit InjectedPaths(ProfileFile* file);

  /// Copies all paths that are ready and frees their slots. True if some have addresses to be looked up: whom
  /// to trust with that is to be asked now, when nobody can write into them any more.
  bool take();

  /// Counts the paths taken.
  void count(const PlaceOf& place_of);

  /// Ticks that may come between two drains and fill no more than half of the slots, if their paths are as
  /// long as the longest of the last drain.
  [[nodiscard]] uint64_t room() const { return slots_.count / 2 / slots_per_path_; }

 private:
  /// A path out of its slots.
  struct Taken {
    uint64_t ticks;
    uint32_t process, program;
    PathEnd end;
    bool by_table;
    size_t first, count;  ///< of taken_frames_
  };
  void take_path(uint32_t first);
  PathEnd place_frames(const Taken& path, const PlaceOf& place_of);
  bool add_frame(uint32_t process, const PathSlotFrame& frame, const PlaceOf& place_of);
  uint32_t scope_of(uint32_t program);
  void find_segments();
  void free_stuck(uint32_t index, uint32_t process);

  ProfileFile* file_;
  PathSlots slots_;
  PathCounter counter_;
  Scopes scopes_;
  std::unordered_map<uint32_t, uint32_t> object_by_segment_;  ///< as the file was when one was not known
  std::unordered_map<uint32_t, uint32_t> scope_by_segment_;   ///< of programs that are in it
  bool has_found_segments_ = false;                           ///< in this drain: once is enough, and bounded
  std::vector<uint8_t> turns_;  ///< per slot: drains that found it taken and not ready
  std::vector<Taken> taken_;
  std::vector<PathSlotFrame> taken_frames_;
  std::vector<PathFrame> frames_;  ///< of one path
  uint32_t slots_per_path_ = 2;
  uint64_t no_slot_ = 0;  ///< ticks booked as without a slot
};

}  // namespace pctally
