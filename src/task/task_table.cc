#include "task/task_table.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/kernel/proc_file.h"
#include "base/kernel/vdso_path.h"
#include "base/time_ns.h"
#include "perf/process_tree.h"
#include "process/proc_maps.h"
#include "task/privileged_program.h"

namespace pctally {
namespace {

constexpr uint64_t kEndedKeptNs = kNsPerSecond;

/// Code without a file gets windows where it is hot.
bool has_file(std::string_view path) { return path == "[vdso]" || (path.size() > 1 && !is_anonymous(path)); }

ObjectIdentity object_of(const PerfRecord& record, std::string_view path) {
  ObjectIdentity object;
  object.kind = path == "[vdso]" ? ObjectKind::kVdso : ObjectKind::kFile;
  object.path = object.kind == ObjectKind::kVdso ? vdso_path(record.start + record.bytes) : path;
  object.build_id = record.build_id;
  object.build_id_bytes = record.build_id_bytes;
  object.device = record.device;
  object.inode = record.inode;
  return object;
}

/// CLOCK_MONOTONIC, which stands still while the machine sleeps, as time of day.
uint64_t unix_ns(uint64_t monotonic) {
  const uint64_t now = realtime_ns(), age = monotonic_ns() - monotonic;
  return now - std::min(age, now);
}

/// Empty if it is gone, or not ours to ask.
std::string program_path(pid_t pid) {
  char path[PATH_MAX];
  const ssize_t bytes = readlink((directory_of(pid) + "/exe").c_str(), path, sizeof path);
  return bytes < 0 ? std::string() : std::string(path, static_cast<size_t>(bytes));
}

/// True if the task's process still runs. If the task has ended, a process that started after that is another
/// one with its number.
bool lives(pid_t pid, const Task& task) {
  ProcStat stat;
  if (!read_proc_stat(pid, &stat) || stat.has_ended()) return false;
  return task.ended_ns == 0 || start_ns(stat, CLOCK_MONOTONIC) < task.ended_ns;
}

/// A thread by whose number /proc shows what the process has mapped: not a main thread that has ended.
pid_t thread_with_memory(pid_t pid) {
  ProcStat stat;
  if (!read_proc_stat(pid, &stat) || stat.state != 'Z') return pid;
  for (const pid_t thread : threads_of(pid))
    if (thread != pid) return thread;
  return pid;
}

uint64_t process_start_unix_ns(pid_t pid) {
  ProcStat stat;
  return pid == 0 || !read_proc_stat(pid, &stat) ? 0 : start_ns(stat, CLOCK_REALTIME);
}

}  // namespace

void TaskTable::limit_users() { shares_.limit_users(geteuid()); }

bool TaskTable::runs_program(pid_t pid) const {
  const auto found = tasks_.find(pid);
  return found != tasks_.end() && found->second.runs_program();
}

void TaskTable::expect(pid_t pid) {
  Task& task = tasks_[pid];
  task.comm = "(starting)";
  task.held = true;
  if (scopes_ != nullptr) scopes_->meet(pid, &task.scope);
}

void TaskTable::adopt(pid_t pid) {
  if (!tasks_.contains(pid)) add_running(pid);
}

void TaskTable::leave_out_descendants(pid_t pid) {
  ProcStat stat;
  for (const pid_t descendant : process_tree(pid))
    if (descendant != pid && read_proc_stat(descendant, &stat)) left_out_[descendant] = stat.started;
}

/// Another process may have the number of one that has ended.
std::set<pid_t> TaskTable::left_out_now() {
  std::erase_if(left_out_, [](const auto& process) { return !is_there(process.first, process.second); });
  std::set<pid_t> pids;
  for (const auto& [pid, started] : left_out_) pids.insert(pid);
  return pids;
}

Task& TaskTable::add_running(pid_t pid) {
  Task& task = tasks_[pid];
  if (is_outside(pid)) {  // to /proc the number is this process's own
    task.comm =
        in_first_pid_namespace() ? "(idle)" : "(outside)";  // where nothing is outside 0 is the idle task
    return task;
  }
  task.comm = comm_of(pid);
  if (task.comm.empty()) task.comm = pid < 0 ? "(ending)" : "(unknown)";
  task.started_unix_ns = process_start_unix_ns(pid);
  if (scopes_ != nullptr) scopes_->meet(pid, &task.scope);
  find_threads(pid, task);
  find_root(pid, task);
  find_user(pid, task);
  map_running(pid, task);
  return task;
}

void TaskTable::find_threads(pid_t pid, Task& task) {
  const std::vector<pid_t> threads = threads_of(pid);
  task.threads = std::max(1, static_cast<int>(threads.size()));
  task.threads_read = true;
  if (scopes_ != nullptr) scopes_->adopt(threads, &task.scope);
}

/// One that is gone keeps its parent's.
void TaskTable::find_user(pid_t pid, Task& task) {
  if (!shares_.limits_users()) return;
  if (const uid_t user = user_of(pid); user != kUnknownUser) task.user = user;
}

/// A process that is gone, or not ours to ask, seems to have what its parent had.
void TaskTable::find_root(pid_t pid, Task& task) {
  ProcessRoots::Root root = roots_.root_of(pid);
  task.root_hidden = root.hidden;
  if (root.known) task.root = root.path;
}

std::string TaskTable::place_of(pid_t pid, const Task& task, std::string_view path,
                                const ObjectIdentity& object) {
  return task.root_hidden ? roots_.find_proved(task.root, path, pid, object)
                          : roots_.find(task.root, path, object);
}

void TaskTable::map_running(pid_t pid, Task& task) {
  task.forget_mappings();
  const pid_t thread = thread_with_memory(pid);
  const Program program = program_of(thread);
  const auto add = [&](const ExecutableMapping& mapping) { add_mapping(pid, task, program, mapping); };
  task.maps_unreadable = !visit_maps(thread, add);
  task.table_valid = false;
}

/// Adds the mapping that is at `pc` now.
void TaskTable::map_moved(pid_t pid, Task& task, uint64_t pc) {
  (void)visit_maps(thread_with_memory(pid), [&](const ExecutableMapping& mapping) {
    if (mapping.start <= pc && pc < mapping.end) add_mapping(pid, task, {}, mapping);
  });
  task.table_valid = false;
}

bool TaskTable::visit_maps(pid_t thread, const ProcessFiles::VisitMapping& visit) {
  return files_ != nullptr ? files_->visit_maps(thread, visit) : ProcMaps(thread).visit(visit);
}

/// By the helper where the link is not ours to read: by its file, for an inode is all that the helper tells.
TaskTable::Program TaskTable::program_of(pid_t pid) {
  Program program{program_path(pid)};
  if (!program.path.empty() || files_ == nullptr) return program;
  if (const auto facts = files_->facts_of(directory_of(pid) + "/exe")) program.inode = facts->inode;
  return program;
}

void TaskTable::add_mapping(pid_t pid, Task& task, const Program& program, ExecutableMapping mapping) {
  if (mapping.object.kind == ObjectKind::kPrivate) return task.add_anonymous(mapping.start, mapping.end);
  const bool is_program = program.path.empty() ? program.inode != 0 && mapping.object.inode == program.inode
                                               : mapping.object.path == program.path;
  std::string path = place_of(pid, task, mapping.object.path, mapping.object);
  mapping.object.path = path;
  find_build_id(path, &mapping);
  stamp(&mapping.object);
  const bool is_vdso = mapping.object.kind == ObjectKind::kVdso;
  map_object(task, mapping.start, mapping.end, is_vdso ? 0 : mapping.file_offset, mapping.object, is_program);
}

/// It is read from the process's memory, which may not be ours to read.
void TaskTable::find_build_id(const std::string& path, ExecutableMapping* mapping) {
  ObjectIdentity& object = mapping->object;
  if (files_ == nullptr || object.kind != ObjectKind::kFile || mapping->header_read) return;
  const std::string& id = files_->build_id_of_mapped(path, object.inode);
  memcpy(mapping->build_id, id.data(), id.size());
  object.build_id = mapping->build_id;
  object.build_id_bytes = static_cast<uint32_t>(id.size());
}

void TaskTable::stamp(ObjectIdentity* object) {
  if (files_ != nullptr) return files_->stamp(object);
  stamp_file(object);
}

void TaskTable::resync() {
  expect_losses(true);
  std::vector<pid_t> known;
  for (const auto& [pid, task] : tasks_) known.push_back(pid);
  const std::set<pid_t> left_out = left_out_now();
  for (pid_t pid : known) {
    const auto found = tasks_.find(pid);
    if (found == tasks_.end() || is_outside(pid)) continue;
    Task& task = found->second;
    if (!lives(pid, task)) {
      if (task.ended_ns != 0) continue;
      task.threads = 1;
      apply_exit({.kind = PerfRecord::Kind::kExit, .pid = pid, .time = monotonic_ns()});
      continue;
    }
    // Where unknown processes are observed, a descendant is met at its first record or tick.
    const bool has_family = children_ && unknown_processes_ == Unknown::kIgnore;
    const std::vector<pid_t> family = has_family ? process_tree(pid, left_out) : std::vector<pid_t>();
    if (task.held && command_line_of(pid) == command_line_of(getpid())) continue;  // not yet at its exec
    task.held = false;
    take_end_back(task);
    meet_again(pid, task);
    for (pid_t descendant : family) adopt(descendant);
  }
}

void TaskTable::meet_again(pid_t pid, Task& task) {
  if (is_outside(pid)) return;
  task.comm = comm_of(pid);
  rows_.rename(task.record, task.comm);
  find_root(pid, task);
  find_threads(pid, task);
  map_running(pid, task);
  task.read = true;
}

Task* TaskTable::find(pid_t pid) {
  auto found = tasks_.find(pid);
  if (found != tasks_.end()) return &found->second;
  return unknown_processes_ == Unknown::kAdopt ? &add_running(pid) : nullptr;
}

/// Processes outside are not distinguished: they are never renamed and never end. One may start or become a
/// process inside.
void TaskTable::apply(const PerfRecord& record, std::string_view text) {
  if (is_outside(record.pid)) return;
  switch (record.kind) {
    case PerfRecord::Kind::kMmap:
      return apply_mmap(record, text);
    case PerfRecord::Kind::kComm:
      return apply_comm(record, text);
    case PerfRecord::Kind::kFork:
      return apply_fork(record);
    case PerfRecord::Kind::kExit:
      return apply_exit(record);
    default:
      return;
  }
}

void TaskTable::apply_mmap(const PerfRecord& record, std::string_view path) {
  if (!record.executable || static_cast<int64_t>(record.start) < 0) return;
  Task* task = find(record.pid);
  if (task == nullptr) return;
  uint64_t before = task->space.replacements();
  if (has_file(path)) {
    map_file(record, path, *task);
  } else {
    task->add_anonymous(record.start, record.start + record.bytes);
    task->space.unmap_files(record.start, record.start + record.bytes);
  }
  if (task->space.replacements() != before) {
    ++replacements_;
    task->note_replacement({record.time, record.start, record.start + record.bytes});
  }
  if (task->mappings() > task->most_mappings) read_again(record.pid, *task);
  task->table_valid = false;
}

/// Nothing tells when memory is unmapped: who maps and unmaps without end has his mappings read again.
void TaskTable::read_again(pid_t pid, Task& task) {
  map_running(pid, task);
  task.most_mappings = std::max(Task::kMostMappings, 2 * task.mappings());
}

void TaskTable::map_file(const PerfRecord& record, std::string_view path, Task& task) {
  ObjectIdentity object = object_of(record, path);
  std::string place = place_of(record.pid, task, object.path, object);
  object.path = place;
  stamp(&object);
  const bool is_vdso = object.kind == ObjectKind::kVdso;
  // The kernel maps the program before it maps the program's interpreter.
  map_object(task, record.start, record.start + record.bytes, is_vdso ? 0 : record.offset, object, !is_vdso);
}

/// `is_program`: it is the program's file if the task has none yet.
void TaskTable::map_object(Task& task, uint64_t start, uint64_t end, uint64_t position,
                           const ObjectIdentity& object, bool is_program) {
  if (objects_.are_many()) forget_unmapped();
  const uint32_t number = objects_.number_of(object);
  (void)task.space.map_later(*file_, start, end, position, number, objects_.segments(number));
  if (scopes_ != nullptr && is_program) scopes_->set_program(object, &task.scope);
}

void TaskTable::forget_unmapped() {
  std::vector<bool> mapped(objects_.end_number());
  for (const auto& [pid, task] : tasks_)
    task.space.for_each_waiting([&mapped](uint32_t number) { mapped[number] = true; });
  objects_.forget_others(mapped);
}

void TaskTable::apply_comm(const PerfRecord& record, std::string_view comm) {
  Task* task = find(record.pid);
  if (task == nullptr) return;
  if (record.pid == record.tid) task->comm = comm;
  if (scopes_ != nullptr && record.exec) task->scope = TaskScopes::executed(task->scope);
  if (scopes_ != nullptr) scopes_->rename(record.tid, comm, &task->scope);
  if (record.exec) {
    task->forget_mappings();
    task->maps_unreadable = false;
    task->held = task->read = false;
    task->executed = task->starting = true;
    ++task->execs;
    find_root(record.pid, *task);
    find_user(record.pid, *task);
    register_task(record.pid, *task);
  }
  rows_.rename(task->record, task->comm);
}

/// The record of an exec comes just before the kernel gives its number: a tick between the two, which is the
/// kernel's, has the number of the image before. Whether the number may be one too low another tick tells.
void TaskTable::expect_image(pid_t pid, uint32_t exec_id, bool kernel, bool has_passed) {
  const auto found = tasks_.find(pid);
  if (found == tasks_.end()) return;
  Task& task = found->second;
  task.image_passed = has_passed;
  const bool is_first = task.exec_id == 0, was_in_doubt = task.exec_id_in_doubt;
  if (task.exec_id == exec_id) {
    task.exec_id_in_doubt = was_in_doubt && task.execs != 0;
    return;
  }
  const uint32_t next = task.exec_id + task.execs;
  const bool in_exec = kernel && !is_first && task.execs > 1 && exec_id + 1 == next;
  const bool is_known = is_first || exec_id == next || in_exec || (was_in_doubt && exec_id == next + 1);
  task.exec_id_in_doubt = kernel && task.execs != 0 && !in_exec;
  task.exec_id = exec_id;
  task.execs = in_exec ? 1 : 0;
  if (is_known) return;
  task.forget_mappings();
  task.held = task.read = false;
  task.executed = task.starting = true;
  if (scopes_ != nullptr) task.scope = TaskScopes::executed(task.scope);
  register_task(pid, task);
  if (!has_passed) meet_again(pid, task);
}

bool TaskTable::has_ended(pid_t pid) const {
  const auto found = tasks_.find(pid);
  return found == tasks_.end() || found->second.ended_ns != 0;
}

std::vector<pid_t> TaskTable::living() const {
  std::vector<pid_t> pids;
  for (const auto& [pid, task] : tasks_)
    if (task.ended_ns == 0 && !task.held) pids.push_back(pid);
  std::sort(pids.begin(), pids.end());
  return pids;
}

void TaskTable::apply_fork(const PerfRecord& record) {
  Task* parent = find(record.parent);
  if (parent == nullptr) return;
  const bool is_thread = record.pid == record.parent;
  if (is_thread || children_) ++starts_;
  if (is_thread) {
    ++parent->threads;
    if (scopes_ != nullptr) scopes_->start_thread(record.tid, record.parent_thread, &parent->scope);
    return;
  }
  if (!children_) return;
  Task child = Task::forked(record.parent, *parent);
  if (scopes_ != nullptr) child.scope = scopes_->forked(&parent->scope, record);
  child.started_unix_ns = unix_ns(record.time);
  (void)child.space.copy_from(parent->space);
  parent->table_valid = false;  // its regions may lie elsewhere now
  tasks_[record.pid] = std::move(child);
}

void TaskTable::apply_exit(const PerfRecord& record) {
  if (record.time > kEndedKeptNs) forget_ended(record.time - kEndedKeptNs);
  auto found = tasks_.find(record.pid);
  if (found == tasks_.end()) return;
  if (scopes_ != nullptr) scopes_->end_thread(record.tid, &found->second.scope);
  if (is_removal(found->second) && !removal_) return map_running(record.pid, found->second);
  if (--found->second.threads > 0) return;
  if (found->second.record != 0) book_end(record.pid, found->second);
  found->second.ended_ns = record.time;
  ended_.push_back({record.pid, record.time});
}

/// The records of its threads' starts were lost, and those of their ends were not.
void TaskTable::take_end_back(Task& task) {
  if (task.ended_ns == 0) return;
  task.ended_ns = 0;
  if (task.record != 0) pool_at<ProcessRecord>(file_->pool(), task.record)->flags &= ~kProcessExited;
}

/// A process with the number of one that ended has another end, or none yet.
void TaskTable::forget_ended(uint64_t before_ns) {
  for (; !ended_.empty() && ended_.front().ns < before_ns; ended_.pop_front()) {
    auto found = tasks_.find(ended_.front().pid);
    if (found == tasks_.end() || found->second.ended_ns != ended_.front().ns) continue;
    if (found->second.threads_read && lives(found->first, found->second)) {
      take_end_back(found->second);
      find_threads(found->first, found->second);
      continue;
    }
    rows_.end(found->second.record);
    tasks_.erase(found);
  }
}

/// At an exec that gains privileges the kernel takes off the events of the process, which is reported like
/// its end: before the new program is mapped, as no other end is.
bool TaskTable::is_removal(const Task& task) const {
  return task.executed && task.space.size() == 0 && !task.read && !losses_;
}

/// One that the kernel kills within its exec, as for want of memory, ends likewise: then it lives no more.
void TaskTable::book_end(pid_t pid, const Task& task) {
  auto* record = pool_at<ProcessRecord>(file_->pool(), task.record);
  record->flags |= kProcessExited;
  if (!is_removal(task) || (!lives(pid, task) && !may_be_privileged(task.comm))) return;
  record->note = ProcessNote::kPrivileged;
  if (record->ticks != 0) return;
  record->flags &= ~kProcessObserved;
  memset(record->engine, 0, sizeof record->engine);
}

void TaskTable::register_task(pid_t pid, Task& task) {
  if (task.record == 0) task.record = rows_.add(std::max(pid, 0), task.parent, task.comm);
  if (task.record != 0 && task.ended_ns != 0)
    pool_at<ProcessRecord>(file_->pool(), task.record)->flags |= kProcessExited;
  task.table_valid = false;
}

const RegionTable& TaskTable::table_of(Task& task) {
  if (!task.table_valid) task.version = ++versions_;
  if (!task.table_valid) task.table = task.space.table(*file_, task.record);
  task.table_valid = true;
  task.table.pool = file_->pool();  // it may have grown
  return task.table;
}

}  // namespace pctally
