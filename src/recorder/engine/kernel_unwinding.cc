#include "recorder/engine/kernel_unwinding.h"

#include "base/time_ns.h"

namespace pctally {

/// What has the number of a process that ended, or executes something else, is unknown again.
void KernelUnwinding::note(const PerfRecord& record, ProcessTables* processes) {
  using Kind = PerfRecord::Kind;
  const bool other_image = (record.kind == Kind::kComm && record.exec) ||
                           (record.kind == Kind::kFork && record.pid != record.parent) ||
                           (record.kind == Kind::kExit && record.pid == record.tid);
  if (other_image) {
    processes->forget(record.pid);
    changed_.erase(record.pid);
  } else if (record.kind == Kind::kMmap && record.executable) {
    changed_.insert(record.pid);
  }
}

void KernelUnwinding::forget_ended(const TaskTable& tasks, ProcessTables* processes) {
  processes->forget_if([&tasks](pid_t pid) { return tasks.has_ended(pid); });
}

/// At least one in each turn.
bool KernelUnwinding::may_build() const { return built_ == 0 || monotonic_ns() < deadline_ns_; }

/// Built once; what finds no room, or is too much work, is not tried again. What was dropped meanwhile is.
uint32_t KernelUnwinding::table_of(const TaskTable::CodeRange& range, RuleTables* rules) {
  if (!range.known) return PCTALLY_TABLE_UNKNOWN;
  if (range.frames == nullptr) return PCTALLY_TABLE_NONE;
  const auto built = tables_.find(range.frames);
  if (built != tables_.end()) return built->second;
  if (!may_build()) {
    left_ = true;
    return PCTALLY_TABLE_UNKNOWN;
  }
  if (range.frames->is_dropped()) return PCTALLY_TABLE_UNKNOWN;
  ++built_;
  const auto rows = range.frames->rows();
  return tables_[range.frames] = rows ? rules->add(*rows) : uint32_t{PCTALLY_TABLE_UNKNOWN};
}

/// Nothing is loaded for a process that has ended: the record of its end came before, and nobody would take
/// it out again.
bool KernelUnwinding::load_process(pid_t pid, uint32_t exec_id, TaskTable* tasks, RuleTables* rules,
                                   ProcessTables* processes) {
  if (tasks->has_ended(pid)) return false;
  ranges_.clear();
  for (const TaskTable::CodeRange& range : tasks->code_of(pid))
    ranges_.push_back({range.start, range.end, range.position, table_of(range, rules), 0});
  return processes->set(pid, exec_id, ranges_);
}

bool KernelUnwinding::load(TaskTable* tasks, RuleTables* rules, ProcessTables* processes, uint64_t most_ns) {
  for (pid_t pid : changed_)
    if (const auto exec_id = processes->known(pid); exec_id) wanted_.try_emplace(pid, *exec_id);
  changed_.clear();
  deadline_ns_ = monotonic_ns() + most_ns;
  built_ = 0;
  left_ = false;
  bool news = false;
  while (!wanted_.empty()) {
    const auto [pid, exec_id] = *wanted_.begin();
    news = load_process(pid, exec_id, tasks, rules, processes) || news;
    if (left_) break;
    wanted_.erase(pid);
  }
  return news;
}

}  // namespace pctally
