// One process that is observed: who it is, and what it has mapped.
#pragma once
#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "process/address_space.h"
#include "task/pool_shares.h"
#include "task/task_scopes.h"

namespace pctally {

/// All processes outside this pid namespace have the number 0: their mappings cannot be kept apart.
inline bool is_outside(pid_t pid) { return pid == 0; }

struct Task {
  static constexpr size_t kMostMappings = size_t{1} << 17;  ///< twice what kernels let a process have
  /// Text that took the place of other text.
  struct Replacement {
    uint64_t time, start, end;
  };

  uint32_t record = 0;  ///< unit of its ProcessRecord, 0 until it executes something of its own
  pid_t parent = 0;
  int threads = 1;
  bool threads_read = false;      ///< in /proc, between records of what they do: their number is a guess
  uint64_t ended_ns = 0;          ///< by its last EXIT record; kept a little longer for its last ticks
  bool held = false;              ///< before its exec: not the target's doing
  bool executed = false;          ///< it was seen to exec
  bool starting = false;          ///< and no tick since was its new program's
  uint32_t exec_id = 0;           ///< of its program image, as the kernel numbers them; 0: not known
  uint32_t execs = 0;             ///< since then, by their records
  bool exec_id_in_doubt = false;  ///< one too low, if that tick came in the middle of the last exec
  bool image_passed = false;      ///< another image has taken its place meanwhile
  bool read = false;              ///< its mappings were read since: one that was ending has none
  std::string root;               ///< ProcessRoots::root_of(), or that of its parent
  bool root_hidden = false;       ///< it may have another since its last exec
  uint64_t met_ns = 0;            ///< when it was last read of, in unknown code
  bool maps_unreadable = false;   ///< what it had mapped when it was met is not known
  uint64_t started_unix_ns = 0;
  uid_t user = kUnknownUser;  ///< known where users are limited
  std::string comm;
  TaskScope scope;

  AddressSpace space;
  std::map<uint64_t, uint64_t> anonymous;  ///< executable memory without a file: start -> end
  size_t most_mappings = kMostMappings;    ///< known at a time
  RegionTable table{};
  bool table_valid = false;
  uint64_t version = 0;               ///< of the table: no other has the same
  std::vector<Replacement> replaced;  ///< the newest, in the order of their times

  /// A process that `parent` has forked, with all that fork(2) hands down but the mappings with a file.
  static Task forked(pid_t number, const Task& parent);

  /// True if it is known to have code of its own.
  [[nodiscard]] bool runs_program() const { return executed || mappings() != 0; }
  [[nodiscard]] size_t mappings() const { return space.size() + anonymous.size(); }
  void forget_mappings();

  /// Executable memory without a file: joined with what it touches.
  void add_anonymous(uint64_t start, uint64_t end);
  [[nodiscard]] bool has_anonymous(uint64_t pc) const;

  /// Other text is there from `time` on.
  void note_replacement(const Replacement& replacement);
  /// True if other text was at `pc` at some time from `first` to `last`.
  [[nodiscard]] bool was_replaced(uint64_t pc, uint64_t first, uint64_t last) const;
};

}  // namespace pctally
