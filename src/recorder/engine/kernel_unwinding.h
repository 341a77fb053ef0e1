// Loads the tables that the BPF program needs to follow the stacks of observed processes: of processes in
// which it met unknown code, and of loaded ones that have mapped something since.
//
// Only the cost depends on it: see bpf/path_tables.h.
#pragma once
#include <unordered_map>
#include <unordered_set>

#include "bpf/kernel_paths.h"
#include "task/task_table.h"

namespace pctally {

class KernelUnwinding {
 public:
  /// A tick of the process met something unknown.
  void want(pid_t pid, uint32_t exec_id) { wanted_[pid] = exec_id; }

  /// Call it with every record of what processes do, after it was applied.
  void note(const PerfRecord& record, KernelPaths* paths);

  /// Loads what is known by now. True if that is something new.
  bool tell(TaskTable* tasks, KernelPaths* paths);

 private:
  uint32_t table_of(const ObjectFrames* frames, RuleTables* rules);

  std::unordered_map<pid_t, uint32_t> wanted_;  ///< by process: its exec
  std::unordered_set<pid_t> changed_;
  std::unordered_map<const ObjectFrames*, uint32_t> tables_;
  std::vector<pctally_range> ranges_;  ///< of one process; kept for its memory
};

}  // namespace pctally
