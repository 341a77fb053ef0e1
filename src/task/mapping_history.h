// Compares successive readings of /proc/PID/maps. So engines in the program notice that one library was
// replaced by another: the only unload that is reported to them is that of dlclose(3).
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "process/proc_maps.h"

namespace pctally {

/// A value per process. Not thread-safe.
class MappingHistory {
 public:
  /// After a reading there is none for `pause` times the CPU time that it took. Time for which it waited for
  /// a CPU does not count: it then holds no lock of the process.
  explicit MappingHistory(uint64_t pause = 25) : pause_(pause) {}

  /// A library in [start, end) was unloaded: until the next reading another file may be there. If that
  /// happened while maps were read, the last reading may have found the other file already.
  void note_unload(uint64_t start, uint64_t end);
  [[nodiscard]] bool waits_for_reading() const { return !unloaded_.empty(); }

  /// Reads /proc/PID/maps again, unless the last reading was too short ago. True if a file has gone from a
  /// place or another has taken it, or a library was unloaded since the last reading.
  bool read(pid_t pid);

  /// True if a tick at `pc` may belong to a file that is no longer there. That is so if a library there was
  /// unloaded since the last reading, if a file was there and nothing is now, or if another file was there
  /// within the last 50 readings and no note_unload() says when it went.
  [[nodiscard]] bool is_doubtful(uint64_t pc) const;

 private:
  struct Range {
    uint64_t end = 0;
    uint64_t device = 0, inode = 0, offset = 0;
    uint64_t seen = 0;     ///< the last reading that had it
    uint64_t changed = 0;  ///< the last reading that found another file there than the one before; 0: none
    uint64_t changed_before = 0;  ///< the same without the last reading
    [[nodiscard]] bool same_file(const Range& other) const {
      return end == other.end && device == other.device && inode == other.inode && offset == other.offset;
    }
  };
  bool take(const ExecutableMapping& mapping);
  [[nodiscard]] bool was_unloaded(uint64_t start, uint64_t end) const;

  std::map<uint64_t, Range> ranges_;  ///< by start; disjoint; also of files that are gone
  uint64_t readings_ = 0;
  uint64_t next_ns_ = 0;
  uint64_t pause_;
  std::vector<std::pair<uint64_t, uint64_t>> unloaded_;  ///< [start, end), since the last reading
};

}  // namespace pctally
