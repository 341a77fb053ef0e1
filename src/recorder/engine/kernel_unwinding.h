// Loads the tables that the BPF program needs to follow stacks: for processes in which it met unknown code,
// and for loaded processes that have mapped something since.
//
// Wrong or missing tables cost time or cut a path; they make no wrong one: see bpf/path_tables.h.
#pragma once
#include <unordered_map>
#include <unordered_set>

#include "bpf/unwind_tables.h"
#include "task/task_table.h"

namespace pctally {

class KernelUnwinding {
 public:
  /// A tick of the process met something unknown.
  void want(pid_t pid, uint32_t exec_id) { wanted_[pid] = exec_id; }

  /// Call it with every record of what processes do, before it is applied: what was left out of a program is
  /// of the code that it had.
  void note(const PerfRecord& record, ProcessTables* processes);

  /// After records were lost, and the tasks were resynchronised: the ends of processes may be among them.
  static void forget_ended(const TaskTable& tasks, ProcessTables* processes);

  /// Loads what is known by now. After `most_ns` it builds no further table, for the ring of paths fills
  /// meanwhile: has_more() then says so. True if something new was loaded.
  bool load(TaskTable* tasks, RuleTables* rules, ProcessTables* processes, uint64_t most_ns);
  [[nodiscard]] bool has_more() const { return !wanted_.empty(); }

 private:
  bool may_build() const;
  uint32_t table_of(const TaskTable::CodeRange& range, RuleTables* rules);
  bool load_process(pid_t pid, uint32_t exec_id, TaskTable* tasks, RuleTables* rules,
                    ProcessTables* processes);

  std::unordered_map<pid_t, uint32_t> wanted_;  ///< by process: its exec
  std::unordered_set<pid_t> changed_;
  std::unordered_map<const ObjectFrames*, uint32_t> tables_;
  std::vector<pctally_range> ranges_;  ///< of one process; kept for its memory
  uint64_t deadline_ns_ = 0;           ///< of the running load()
  size_t built_ = 0;                   ///< tables, by it
  bool left_ = false;                  ///< it has not built one
};

}  // namespace pctally
