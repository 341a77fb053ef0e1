#include "task/task_scopes.h"

#include <algorithm>

#include "base/kernel/proc_file.h"
#include "base/time_ns.h"
#include "perf/process_tree.h"

namespace pctally {
namespace {

constexpr size_t kEndedKept = 256;  ///< threads of a process, for the ticks of their last breath
constexpr std::string_view kRemoved = " (deleted)";  ///< of a group that a zombie was in
constexpr uint64_t kGroupNs = kNsPerSecond;          ///< a process may be moved to another

/// Threads of the kernel execute no file.
bool is_of_kernel(pid_t pid) {
  ProcStat stat;
  return pid != 0 && read_proc_stat(pid, &stat) && stat.kernel_thread;
}

/// Empty if it is gone. In hierarchies of version 1 one that is about to be gone is in the root.
std::string group_of(pid_t pid) {
  char text[8192];
  const size_t bytes = pid == 0 ? 0 : read_proc_file(pid, "cgroup", text, sizeof text);
  std::string group = group_in({text, bytes});
  ProcStat stat;
  if (group == "/" && (!read_proc_stat(pid, &stat) || stat.exiting)) group.clear();
  return group;
}

}  // namespace

std::string group_in(std::string_view text) {
  std::string_view unified, longest;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t first = line.find(':'), second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    std::string_view path = line.substr(second + 1);
    if (path.ends_with(kRemoved)) path.remove_suffix(kRemoved.size());
    if (line.starts_with("0::")) unified = path;
    if (path.size() > longest.size()) longest = path;
  }
  return std::string(unified.size() > 1 ? unified : longest);
}

void TaskScopes::meet(pid_t pid, TaskScope* task) const {
  if (kind_ == ScopeKind::kGroup) task->group = group_of(pid);
}

void TaskScopes::adopt(const std::vector<pid_t>& threads, TaskScope* task) const {
  if (kind_ != ScopeKind::kThread) return;
  task->threads.clear();
  for (pid_t thread : threads) task->threads[thread].name = comm_of(thread);
}

void TaskScopes::set_program(const ObjectIdentity& program, TaskScope* task) {
  if (task->program == 0) task->program = scopes_.program_of(program);
}

void TaskScopes::rename(pid_t thread, std::string_view name, TaskScope* task) const {
  if (kind_ == ScopeKind::kThread) task->threads[thread] = {std::string(name), 0};
}

void TaskScopes::start_thread(pid_t thread, pid_t by, TaskScope* task) const {
  if (kind_ != ScopeKind::kThread) return;
  const auto known = task->threads.find(by);
  if (known == task->threads.end()) return;
  const TaskScope::Thread copy = known->second;
  task->threads[thread] = copy;
}

void TaskScopes::end_thread(pid_t thread, TaskScope* task) const {
  if (kind_ != ScopeKind::kThread) return;
  task->ended.push_back(thread);
  if (task->ended.size() <= kEndedKept) return;
  task->threads.erase(task->ended.front());
  task->ended.pop_front();
}

TaskScope TaskScopes::forked(TaskScope* parent, const PerfRecord& fork) const {
  TaskScope child;
  child.program = parent->program;
  child.asked = parent->asked;
  if (parent->group.empty()) meet(fork.parent, parent);
  child.group = parent->group;
  if (kind_ == ScopeKind::kProgram) child.unit = parent->unit;
  const auto known = parent->threads.find(fork.parent_thread);
  if (known != parent->threads.end()) child.threads[fork.tid] = known->second;
  return child;
}

TaskScope TaskScopes::executed(const TaskScope& before) {
  TaskScope after;
  after.group = before.group;
  return after;
}

uint32_t TaskScopes::scope_of(ThreadId thread, TaskScope* task) {
  if (kind_ == ScopeKind::kThread) return scope_of_thread(thread, task);
  if (kind_ == ScopeKind::kGroup) return scope_of_group(thread.pid, task);
  if (task->unit != 0) return task->unit;
  const uint32_t program = program_of(thread.pid, task);
  return program == 0 ? 0 : task->unit = scopes_.scope_of(program);
}

uint32_t TaskScopes::program_of(pid_t pid, TaskScope* task) {
  if (task->program != 0 || task->asked) return task->program;
  task->asked = true;
  ObjectIdentity kernel;
  kernel.kind = ObjectKind::kKernel;
  kernel.path = "[kernel]";
  if (is_of_kernel(pid)) task->program = scopes_.program_of(kernel);
  return task->program;
}

/// A thread that was not seen to start has the name it has now.
uint32_t TaskScopes::scope_of_thread(ThreadId thread, TaskScope* task) {
  const auto [entry, fresh] = task->threads.try_emplace(thread.tid);
  TaskScope::Thread& known = entry->second;
  if (fresh && thread.tid != 0) known.name = comm_of(thread.tid);
  if (known.unit != 0) return known.unit;
  const uint32_t program = program_of(thread.pid, task);
  const uint32_t unit = scopes_.scope_of_thread(program, known.name);
  if (program != 0) known.unit = unit;  // an exec's first ticks come before its program is mapped
  return unit;
}

/// A process that is gone has the group it had, or its parent.
uint32_t TaskScopes::scope_of_group(pid_t pid, TaskScope* task) {
  const uint64_t now = monotonic_ns();
  if (task->unit != 0 && now - task->asked_ns < kGroupNs) return task->unit;
  if (std::string group = group_of(pid); !group.empty()) task->group = std::move(group);
  task->asked_ns = now;
  return task->unit = task->group.empty() ? 0 : scopes_.scope_of_group(task->group);
}

}  // namespace pctally
