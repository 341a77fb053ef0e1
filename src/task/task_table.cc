#include "task/task_table.h"

#include <limits.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/proc_file.h"
#include "perf/process_tree.h"
#include "process/proc_maps.h"

namespace pctally {
namespace {

constexpr uint64_t kEndedKeptNs = 1000000000;
constexpr size_t kMostReplacements = 4096;

/// Code without a file gets windows where it is hot.
bool has_file(std::string_view path) { return path == "[vdso]" || (path.size() > 1 && !is_anonymous(path)); }

ObjectIdentity object_of(const PerfRecord& record, std::string_view path) {
  ObjectIdentity object;
  object.kind = path == "[vdso]" ? ObjectKind::kVdso : ObjectKind::kFile;
  object.path = path;
  object.build_id = record.build_id;
  object.build_id_bytes = record.build_id_bytes;
  object.device = record.device;
  object.inode = record.inode;
  return object;
}

/// All processes outside this pid namespace have the number 0: which of them has what mapped nobody knows.
bool is_outside(pid_t pid) { return pid == 0; }

/// Joins it with those it touches.
void add_range(uint64_t start, uint64_t end, std::map<uint64_t, uint64_t>* ranges) {
  auto at = ranges->upper_bound(start);
  if (at != ranges->begin() && std::prev(at)->second >= start) --at;
  while (at != ranges->end() && at->first <= end) {
    start = std::min(start, at->first);
    end = std::max(end, at->second);
    at = ranges->erase(at);
  }
  (*ranges)[start] = end;
}

/// CLOCK_MONOTONIC, which stands still while the machine sleeps, as time of day.
uint64_t unix_ns(uint64_t monotonic) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t age = monotonic_ns() - monotonic;
  return to_ns(now) - std::min(age, to_ns(now));
}

/// Empty if it is gone, or not ours to ask.
std::string program_path(pid_t pid) {
  char path[PATH_MAX];
  const ssize_t bytes = readlink(("/proc/" + std::to_string(pid) + "/exe").c_str(), path, sizeof path);
  return bytes < 0 ? std::string() : std::string(path, static_cast<size_t>(bytes));
}

uint64_t process_start_unix_ns(pid_t pid) {
  ProcStat stat;
  return pid == 0 || !read_proc_stat(pid, &stat) ? 0 : start_ns(stat, CLOCK_REALTIME);
}

/// The place of an address in the profile file; false if no region has it, or the file has no room for it.
bool code_address(const RegionTable& table, uint64_t address, CodeAddress* found) {
  uint64_t index = 0;
  const Region* region = find_region(table, address, &index);
  if (region == nullptr || region->waits) return false;
  *found = {region->segment, index + region->tree_bias};
  return true;
}

}  // namespace

void TaskTable::limit_users() { shares_.limit_users(geteuid()); }

void TaskTable::expect(pid_t pid) {
  Task& task = tasks_[pid];
  task.comm = "(starting)";
  task.held = true;
}

void TaskTable::adopt(pid_t pid) {
  if (!tasks_.contains(pid)) add_running(pid);
}

TaskTable::Task& TaskTable::add_running(pid_t pid) {
  Task& task = tasks_[pid];
  task.comm = comm_of(pid);
  if (task.comm.empty()) task.comm = is_outside(pid) ? "(outside)" : "(unknown)";
  task.started_unix_ns = process_start_unix_ns(pid);
  find_threads(pid, task);
  find_root(pid, task);
  find_user(pid, task);
  map_running(pid, task);
  return task;
}

void TaskTable::find_threads(pid_t pid, Task& task) {
  const std::vector<pid_t> threads = threads_of(pid);
  task.threads = std::max(1, static_cast<int>(threads.size()));
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
  task.space.clear();
  task.anonymous.clear();
  task.table_valid = false;
  if (is_outside(pid)) return;
  const std::string program = program_path(pid);
  const auto add = [&](const ExecutableMapping& mapping) { add_mapping(pid, task, program, mapping); };
  task.maps_unreadable = !ProcMaps(pid).visit(add);
  if (task.maps_unreadable && files_ != nullptr)
    if (auto opened = files_->open_maps(pid))
      task.maps_unreadable = !ProcMaps(pid, std::move(*opened)).visit(add);
  task.table_valid = false;
}

void TaskTable::add_mapping(pid_t pid, Task& task, const std::string& program, ExecutableMapping mapping) {
  if (mapping.object.kind == ObjectKind::kPrivate)
    return add_range(mapping.start, mapping.end, &task.anonymous);
  const bool is_program = mapping.object.path == program;
  std::string path = place_of(pid, task, mapping.object.path, mapping.object);
  mapping.object.path = path;
  stamp(&mapping.object);
  const bool is_vdso = mapping.object.kind == ObjectKind::kVdso;
  map_object(task, mapping.start, mapping.end, is_vdso ? 0 : mapping.file_offset, mapping.object, is_program);
}

void TaskTable::stamp(ObjectIdentity* object) {
  if (files_ != nullptr) return files_->stamp(object);
  stamp_file(object);
}

void TaskTable::resync() {
  expect_losses(true);
  std::vector<pid_t> known;
  for (const auto& [pid, task] : tasks_) known.push_back(pid);
  for (pid_t pid : known) {
    Task& task = tasks_[pid];
    std::vector<pid_t> family = process_tree(pid);
    if (family.empty()) {
      task.threads = 1;
      apply_exit({.kind = PerfRecord::Kind::kExit, .pid = pid});
      continue;
    }
    if (task.held && command_line_of(pid) == command_line_of(getpid())) continue;  // not yet at its exec
    task.held = false;
    task.comm = comm_of(pid);
    rows_.rename(task.record, task.comm);
    find_root(pid, task);
    find_threads(pid, task);
    map_running(pid, task);
    for (pid_t descendant : family)
      if (children_) adopt(descendant);
  }
}

TaskTable::Task* TaskTable::find(pid_t pid) {
  auto found = tasks_.find(pid);
  if (found != tasks_.end()) return &found->second;
  return unknown_processes_ == Unknown::kAdopt ? &add_running(pid) : nullptr;
}

void TaskTable::apply(const PerfRecord& record, std::string_view text) {
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
  if (is_outside(record.pid)) return;
  Task* task = find(record.pid);
  if (task == nullptr) return;
  uint64_t before = task->space.replacements();
  if (has_file(path)) {
    map_file(record, path, *task);
  } else {
    add_range(record.start, record.start + record.bytes, &task->anonymous);
    task->space.unmap_files(record.start, record.start + record.bytes);
  }
  if (task->space.replacements() != before) note_replacement(record, *task);
  if (task->space.size() + task->anonymous.size() > task->most_mappings) forget_mappings(record.pid, *task);
  task->table_valid = false;
}

/// Nothing tells when memory is unmapped: who maps and unmaps without end has his mappings read again.
void TaskTable::forget_mappings(pid_t pid, Task& task) {
  map_running(pid, task);
  task.most_mappings = std::max(kMostMappings, 2 * (task.space.size() + task.anonymous.size()));
}

void TaskTable::map_file(const PerfRecord& record, std::string_view path, Task& task) {
  ObjectIdentity object = object_of(record, path);
  std::string place = place_of(record.pid, task, path, object);
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

/// Its user is asked again: a process may have changed it without an exec.
bool TaskTable::may_add_directory(pid_t pid, Task& task, uint64_t bytes) {
  find_user(pid, task);
  refusal_ = shares_.refuse(task.user, directory_units(bytes));
  return refusal_.empty();
}

/// What `take` takes from the pool counts as the user's.
template <class Take>
void TaskTable::charge(const Task& task, Take&& take) {
  const auto used = [this] { return __atomic_load_n(&file_->header().pool.used, __ATOMIC_RELAXED); };
  const uint32_t before = used();
  take();
  shares_.take(task.user, used() - before);
}

/// For the first tick in a mapping. Without room the mapping goes on waiting, and its ticks are full.
void TaskTable::make_segment(pid_t pid, Task& task, uint64_t pc) {
  const WaitingText text = task.space.waiting_at(pc);
  if (text.object == 0) return;
  MappedObjects::Segment segment = objects_.find_segment(text.object, text.range);
  if (segment.unit == 0) {
    if (!may_add_directory(pid, task, text.range.bytes)) return;
    charge(task, [&] { segment = objects_.add_segment(text.object, text.range); });
    if (segment.unit == 0) return;
    const ObjectIdentity& object = objects_.identity(text.object);
    const int held = files_ != nullptr ? files_->hold(object) : -1;
    if (paths_ != nullptr) paths_->add_segment(segment.unit, segment.range.start, object, held);
  }
  const size_t regions = task.space.size();
  task.space.give_segment(*file_, pc, segment.unit, segment.range);
  if (task.space.size() != regions) task.table_valid = false;
}

void TaskTable::note_replacement(const PerfRecord& record, Task& task) {
  ++replacements_;
  if (task.replaced.size() >= kMostReplacements)
    task.replaced.erase(task.replaced.begin(), task.replaced.begin() + kMostReplacements / 2);
  task.replaced.push_back({record.time, record.start, record.start + record.bytes});
}

bool TaskTable::was_replaced(const Task& task, uint64_t pc, uint64_t first, uint64_t last) {
  return std::any_of(task.replaced.rbegin(), task.replaced.rend(), [=](const Replacement& replacement) {
    return replacement.time >= first && replacement.time <= last && pc >= replacement.start &&
           pc < replacement.end;
  });
}

void TaskTable::apply_comm(const PerfRecord& record, std::string_view comm) {
  Task* task = find(record.pid);
  if (task == nullptr) return;
  if (record.pid == record.tid) task->comm = comm;
  if (scopes_ != nullptr && record.exec) task->scope = {};
  if (scopes_ != nullptr) scopes_->rename(record.tid, comm, &task->scope);
  if (record.exec) {
    task->space.clear();
    task->anonymous.clear();
    task->maps_unreadable = false;
    task->held = false;
    task->executed = true;
    find_root(record.pid, *task);
    find_user(record.pid, *task);
    register_task(record.pid, *task);
  }
  rows_.rename(task->record, task->comm);
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
  if (record.pid == record.parent) {
    ++parent->threads;
    if (scopes_ != nullptr) scopes_->start_thread(record.tid, record.parent_thread, &parent->scope);
    return;
  }
  if (!children_) return;
  Task child;
  child.parent = record.parent;
  child.comm = parent->comm;
  child.held = parent->held;
  child.root = parent->root;
  child.root_hidden = parent->root_hidden;
  child.maps_unreadable = parent->maps_unreadable;
  child.anonymous = parent->anonymous;
  child.user = parent->user;
  if (scopes_ != nullptr) child.scope = scopes_->forked(parent->scope, record);
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
  if (found->second.record != 0) book_end(found->second);
  found->second.ended_ns = record.time;
  ended_.push_back({record.pid, record.time});
}

/// A process with the number of one that ended has another end, or none yet.
void TaskTable::forget_ended(uint64_t before_ns) {
  for (; !ended_.empty() && ended_.front().ns < before_ns; ended_.pop_front()) {
    auto found = tasks_.find(ended_.front().pid);
    if (found == tasks_.end() || found->second.ended_ns != ended_.front().ns) continue;
    rows_.end(found->second.record);
    tasks_.erase(found);
  }
}

/// At an exec that gains privileges the kernel takes off the events of the process, which is reported like
/// its end: before the new program is mapped, as no other end is.
bool TaskTable::is_removal(const Task& task) const {
  return task.executed && task.space.size() == 0 && !losses_;
}

void TaskTable::book_end(const Task& task) {
  auto* record = pool_at<ProcessRecord>(file_->pool(), task.record);
  record->flags |= kProcessExited;
  if (!is_removal(task)) return;
  record->note = ProcessNote::kPrivileged;
  if (record->ticks != 0) return;
  record->flags &= ~kProcessObserved;
  memset(record->engine, 0, sizeof record->engine);
}

void TaskTable::register_task(pid_t pid, Task& task) {
  if (task.record == 0) task.record = rows_.add(pid, task.parent, task.comm);
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

std::string_view TaskTable::reason_of(pid_t pid, const Task& task) const {
  if (is_outside(pid)) return kOtherNamespace;
  return task.maps_unreadable ? kMapsUnreadable : kUnknownCode;
}

/// Makes cells' place for code that is counted for the first time. False if nothing is known to be mapped
/// there.
bool TaskTable::has_text(pid_t pid, Task& task, uint64_t pc) {
  uint64_t index = 0;
  if (const Region* region = find_region(table_of(task), pc, &index); region != nullptr) {
    if (region->waits) make_segment(pid, task, pc);
    return true;
  }
  auto after = task.anonymous.upper_bound(pc);
  if (after == task.anonymous.begin() || std::prev(after)->second <= pc) return false;
  if (!may_add_directory(pid, task, kWindowBytes)) return true;
  file_->make_room(segment_units(kWindowBytes));
  ObjectIdentity object = private_object(pid);
  object.time_unix_ns = task.started_unix_ns;
  charge(task, [&] { task.space.map_window(*file_, pc, object); });
  if (files_ != nullptr) files_->hold_perf_map(pid, task.root, task.started_unix_ns);
  task.table_valid = false;
  return true;
}

TaskTable::Place TaskTable::unknown_place(Task& task, std::string_view reason) {
  uint64_t place = 0;
  RegionTable& table = unknown_.table(reason, &place);
  table.process_ticks = table_of(task).process_ticks;
  return {&table, place};
}

const RegionTable& TaskTable::kernel_table(Task& task, uint64_t pc) {
  uint64_t index = 0;
  if (find_region(kernel_table_, pc, &index) == nullptr) {
    file_->make_room(segment_units(kWindowBytes));
    kernel_space_.map_window(*file_, pc, kernel_object());
    kernel_table_ = kernel_space_.table(*file_, 0);
  }
  kernel_table_.process_ticks = table_of(task).process_ticks;
  kernel_table_.pool = file_->pool();
  return kernel_table_;
}

TaskTable::Task* TaskTable::counting(pid_t pid) {
  Task* task = find(pid);
  if (task == nullptr || task->held) return nullptr;
  if (task->record == 0) register_task(pid, *task);
  return task;
}

/// Who has had a share of the pool may count on in the cells there are.
std::string_view TaskTable::refuse_cell(Task& task, uint64_t pc) {
  const std::string_view refusal = shares_.refuse(task.user, kBlockUnits + kLeafUnits);
  if (refusal.empty()) return {};
  uint64_t index = 0;
  const RegionTable& table = table_of(task);
  const Region* region = find_region(table, pc, &index);
  const bool has = region != nullptr && has_cell(table.pool, region->directory, index + region->tree_bias);
  return has ? std::string_view() : refusal;
}

TaskTable::Place TaskTable::place_tick(pid_t pid, Task& task, uint64_t pc, bool kernel) {
  if (kernel) return {&kernel_table(task, pc), pc};
  refusal_ = {};
  if (!has_text(pid, task, pc)) return unknown_place(task, reason_of(pid, task));
  if (refusal_.empty()) refusal_ = refuse_cell(task, pc);
  if (!refusal_.empty()) return unknown_place(task, refusal_);
  return {&table_of(task), pc};
}

void TaskTable::book(const Task& task, const Place& place, uint64_t ticks) {
  charge(task, [&] { tick_times(*place.table, place.pc, ticks); });
}

bool TaskTable::count(pid_t pid, uint64_t pc, bool kernel, uint64_t ticks, uint64_t first, uint64_t last) {
  Task* task = counting(pid);
  if (task == nullptr) return false;
  if (!kernel && ticks > 1 && first < last && was_replaced(*task, pc, first, last)) {
    const Place place = unknown_place(*task, kSinceUnmapped);
    book(*task, place, ticks - 1);
    ticks = 1;
  }
  const Place place = place_tick(pid, *task, pc, kernel);
  book(*task, place, ticks);
  return true;
}

/// The code of one task, for the unwinder.
class TaskTable::TaskCode : public CodeSpace {
 public:
  /// `chunks`: StackSample::chunks, where some code may be, too: the recorder may not
  /// be allowed to read it.
  TaskCode(TaskTable* table, pid_t pid, Task* task, std::span<const uint64_t> chunks)
      : table_(table), pid_(pid), task_(task), chunks_(chunks) {}
  bool find(uint64_t address, CodeAddress* found) override {
    return table_->has_text(pid_, *task_, address) && code_address(table_->table_of(*task_), address, found);
  }
  uint64_t version() override {
    (void)table_->table_of(*task_);
    return task_->version;
  }
  bool read(uint64_t address, std::span<unsigned char> bytes) override {
    if (chunks_.read(address, bytes)) return true;
    iovec to{bytes.data(), bytes.size()}, from{reinterpret_cast<void*>(address), bytes.size()};
    return process_vm_readv(pid_, &to, 1, &from, 1, 0) == static_cast<ssize_t>(bytes.size());
  }

 private:
  TaskTable* table_;
  pid_t pid_;
  Task* task_;
  StackChunks chunks_;
};

/// The bytes before the return addresses, which belong to the calls.
std::span<const CodeAddress> TaskTable::kernel_calls(Task& task, std::span<const uint64_t> returns) {
  kernel_calls_.clear();
  for (const uint64_t address : returns) {
    CodeAddress call;
    if (code_address(kernel_table(task, address - 1), address - 1, &call)) kernel_calls_.push_back(call);
  }
  return kernel_calls_;
}

/// Below its scope.
void TaskTable::book(ThreadId thread, Task& task, const Place& place, bool kernel, const StackSample& stack,
                     uint64_t ticks) {
  book(task, place, ticks);
  TickPlace tick;
  tick.kernel = kernel;
  (void)code_address(*place.table, place.pc, &tick.code);
  if (kernel) tick.kernel_calls = kernel_calls(task, stack.kernel_calls);
  TaskCode code(this, thread.pid, &task, stack.chunks);
  paths_->count(scopes_->scope_of(thread, &task.scope), code, stack, tick, ticks);
}

bool TaskTable::count(ThreadId thread, uint64_t pc, bool kernel, const StackSample& stack, uint64_t ticks,
                      uint64_t first, uint64_t last) {
  Task* task = counting(thread.pid);
  if (task == nullptr) return false;
  if (!kernel && ticks > 1 && first < last && was_replaced(*task, pc, first, last)) {
    book(thread, *task, unknown_place(*task, kSinceUnmapped), kernel, stack, ticks - 1);
    ticks = 1;
  }
  book(thread, *task, place_tick(thread.pid, *task, pc, kernel), kernel, stack, ticks);
  return true;
}

/// An object that another process has run is known as well.
TaskTable::CodeRange TaskTable::code_range(const Pool& pool, const Region& region) {
  CodeRange range{region.low, region.last + 1, region.tree_bias, true, nullptr};
  uint32_t segment = region.segment;
  if (region.waits) {
    const std::span<const uint32_t> segments = objects_.segments(region.segment);
    range.known = !segments.empty();
    segment = range.known ? segments[0] : 0;
  } else {
    range.position += pool_at<SegmentRecord>(pool, segment)->start;
  }
  if (range.known) range.frames = paths_->frames_of(segment);
  return range;
}

/// Code without a file has windows around its ticks, and is known where it is mapped.
std::vector<TaskTable::CodeRange> TaskTable::code_of(pid_t pid) {
  std::vector<CodeRange> ranges;
  const auto found = tasks_.find(pid);
  if (found == tasks_.end()) return ranges;
  Task& task = found->second;
  const RegionTable& table = table_of(task);
  auto next = task.anonymous.begin();
  uint64_t done = 0;
  const auto add_anonymous = [&](uint64_t until) {
    for (; next != task.anonymous.end() && std::max(next->first, done) < until; ++next) {
      const uint64_t start = std::max(next->first, done), end = std::min(next->second, until);
      if (start < end) ranges.push_back({start, end, 0, true, nullptr});
      if (next->second > until) return;
    }
  };
  for (const Region& region : std::span(table.regions, table.count)) {
    if (region.without_file || region.last == UINT64_MAX) continue;
    add_anonymous(region.low);
    ranges.push_back(code_range(table.pool, region));
    done = region.last + 1;
  }
  add_anonymous(UINT64_MAX);
  return ranges;
}

void TaskTable::keep_scopes(ScopeKind kind, bool paths) {
  paths_ = std::make_unique<PathRecorder>(file_, paths);
  scopes_ = std::make_unique<TaskScopes>(file_, kind);
}

bool TaskTable::book_full(pid_t pid, uint64_t ticks) {
  Task* task = counting(pid);
  if (task == nullptr) return false;
  const RegionTable& table = table_of(*task);
  book_deliveries(table.ledger, ticks);
  add_relaxed(&table.ledger->full, ticks);
  if (paths_ != nullptr) add_relaxed(&call_paths(*file_)->no_room, ticks);
  if (table.process_ticks != nullptr) add_relaxed(table.process_ticks, ticks);
  return true;
}

}  // namespace pctally
