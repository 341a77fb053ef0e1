#include "recorder/engine/kernel_unwinding.h"

namespace pctally {

/// What has the number of a process that ended, or executes something else, is unknown again.
void KernelUnwinding::note(const PerfRecord& record, KernelPaths* paths) {
  using Kind = PerfRecord::Kind;
  const bool other_image = (record.kind == Kind::kComm && record.exec) ||
                           (record.kind == Kind::kFork && record.pid != record.parent) ||
                           (record.kind == Kind::kExit && record.pid == record.tid);
  if (other_image) {
    paths->processes().forget(record.pid);
    changed_.erase(record.pid);
  } else if (record.kind == Kind::kMmap && record.executable) {
    changed_.insert(record.pid);
  }
}

/// Built once; what finds no room finds none later.
uint32_t KernelUnwinding::table_of(const ObjectFrames* frames, RuleTables* rules) {
  if (frames == nullptr) return PCTALLY_TABLE_NONE;
  const auto [entry, fresh] = tables_.try_emplace(frames, PCTALLY_TABLE_UNKNOWN);
  if (fresh) entry->second = rules->add(frames->rows());
  return entry->second;
}

bool KernelUnwinding::tell(TaskTable* tasks, KernelPaths* paths) {
  for (pid_t pid : changed_)
    if (const auto exec_id = paths->processes().known(pid); exec_id) wanted_.try_emplace(pid, *exec_id);
  bool news = false;
  for (const auto& [pid, exec_id] : wanted_) {
    ranges_.clear();
    for (const TaskTable::CodeRange& range : tasks->code_of(pid)) {
      const uint32_t table =
          range.known ? table_of(range.frames, &paths->rules()) : uint32_t{PCTALLY_TABLE_UNKNOWN};
      ranges_.push_back({range.start, range.end, range.position, table, 0});
    }
    news = paths->processes().set(pid, exec_id, ranges_) || news;
  }
  wanted_.clear();
  changed_.clear();
  return news;
}

}  // namespace pctally
