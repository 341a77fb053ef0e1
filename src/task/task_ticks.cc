// The part of TaskTable that counts the ticks of its processes.
#include <stdint.h>

#include <algorithm>
#include <vector>

#include "base/time_ns.h"
#include "perf/process_tree.h"
#include "process/proc_maps.h"
#include "task/task_table.h"
#include "tick/unwind/stack_walk.h"

namespace pctally {
namespace {

/// The place of an address in the profile file; false if no region has it, or the file has no room for it.
bool code_address(const RegionTable& table, uint64_t address, CodeAddress* found) {
  uint64_t index = 0;
  const Region* region = find_region(table, address, &index);
  if (region == nullptr || region->waits) return false;
  *found = {region->segment, index + region->tree_bias};
  return true;
}

}  // namespace

/// Its user is asked again: a process may have changed it without an exec.
bool TaskTable::may_add_directory(pid_t pid, Task& task, uint64_t bytes) {
  find_user(pid, task);
  refusal_ = shares_.refusal_for(task.user, directory_units(bytes));
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
    const int held = files_ != nullptr ? files_->hold(object, pid) : -1;
    if (paths_ != nullptr) paths_->add_segment(segment.unit, segment.range.start, object, held);
  }
  const size_t regions = task.space.size();
  task.space.give_segment(*file_, pc, segment.unit, segment.range);
  if (task.space.size() != regions) task.table_valid = false;
}

std::string_view TaskTable::reason_of(pid_t pid, const Task& task) const {
  if (is_outside(pid)) return kOtherNamespace;
  return task.maps_unreadable ? kMapsUnreadable : kUnknownCode;
}

/// Makes cells' place for code that is counted for the first time. False if nothing is known to
/// be mapped there.
bool TaskTable::has_text(pid_t pid, Task& task, uint64_t pc) {
  uint64_t index = 0;
  if (const Region* region = find_region(table_of(task), pc, &index); region != nullptr) {
    if (region->waits) make_segment(pid, task, pc);
    return true;
  }
  if (!task.has_anonymous(pc)) return false;
  if (!may_add_directory(pid, task, kWindowBytes)) return true;
  file_->make_room(segment_units(kWindowBytes));
  ObjectIdentity object = private_object(pid);
  object.time_unix_ns = task.started_unix_ns;
  charge(task, [&] { task.space.map_window(*file_, pc, object); });
  if (files_ != nullptr && !files_->hold_jit_dump(pid, task.root, task.started_unix_ns))
    files_->hold_perf_map(pid, task.root, task.started_unix_ns);
  task.table_valid = false;
  return true;
}

/// Unknown code: what the process has there now is read, at most once a second, for no record tells of
/// memory that mremap(2) moves. One that may have been away, or whose records were lost, may execute another
/// program.
bool TaskTable::has_text_again(pid_t pid, Task& task, uint64_t pc) {
  const bool were_lost = losses_ && task.exec_id != 0;
  if (is_outside(pid) || (task.image_passed && !absences_)) return false;
  const uint64_t now = monotonic_ns();
  if (now - task.met_ns < kNsPerSecond || task.ended_ns != 0 || comm_of(pid).empty()) return false;
  task.met_ns = now;
  if (!absences_ && !were_lost) {
    map_moved(pid, task, pc);
    return has_text(pid, task, pc);
  }
  if (absences_) task.scope = {};
  meet_again(pid, task);
  return has_text(pid, task, pc);
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

Task* TaskTable::counting(pid_t pid) {
  Task* task = find(pid);
  if (task == nullptr || task->held) return nullptr;
  if (task->record == 0) register_task(pid, *task);
  return task;
}

/// Who has had a share of the pool may count on in the cells there are.
std::string_view TaskTable::refuse_cell(Task& task, uint64_t pc) {
  const std::string_view refusal = shares_.refusal_for(task.user, kBlockUnits + kLeafUnits);
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
  if (!has_text(pid, task, pc) && !has_text_again(pid, task, pc))
    return unknown_place(task, reason_of(pid, task));
  if (refusal_.empty()) refusal_ = refuse_cell(task, pc);
  if (!refusal_.empty()) return unknown_place(task, refusal_);
  return {&table_of(task), pc};
}

/// Several samples, or one of several ticks.
void TaskTable::book(const Task& task, const Place& place, uint64_t samples, uint64_t weight) {
  charge(task, [&] {
    if (samples == 1)
      tick(*place.table, place.pc, weight);
    else
      tick_times(*place.table, place.pc, samples);
  });
}

bool TaskTable::count(pid_t pid, uint64_t pc, bool kernel, uint64_t ticks, uint64_t first, uint64_t last) {
  Task* task = counting(pid);
  if (task == nullptr) return false;
  if (!kernel && ticks > 1 && first < last && task->was_replaced(pc, first, last)) {
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
  std::optional<bool> has_trampoline(uint64_t address) override {
    unsigned char bytes[kTrampolineBytes];
    if (chunks_.read(address, bytes)) return std::ranges::equal(bytes, kTrampoline);
    if (!task_->has_anonymous(address)) return std::nullopt;
    return table_->files_ != nullptr ? table_->files_->has_trampoline(pid_, address)
                                     : read_trampoline(pid_, address);
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

/// Until the new program starts, the kernel runs with the registers of the old one, whose memory is gone.
bool TaskTable::is_in_exec(pid_t pid, Task& task, bool kernel, const StackSample& stack) {
  if (!task.starting || !stack.attempted) return false;
  task.starting = kernel && !has_text(pid, task, stack.registers.pc);
  return task.starting;
}

/// Below its scope.
void TaskTable::book(ThreadId thread, Task& task, const Place& place, bool kernel, const StackSample& stack,
                     uint64_t samples, uint64_t weight) {
  book(task, place, samples, weight);
  TickPlace tick;
  tick.kernel = kernel;
  (void)code_address(*place.table, place.pc, &tick.code);
  if (kernel) tick.kernel_calls = kernel_calls(task, stack.kernel_calls);
  TaskCode code(this, thread.pid, &task, stack.chunks);
  static const StackSample kGone{.registers = {}, .stack = {}, .without = PathEnd::kMemoryGone};
  const StackSample& sample = is_in_exec(thread.pid, task, kernel, stack) ? kGone : stack;
  paths_->count(scopes_->scope_of(thread, &task.scope), code, sample, tick, samples * weight);
}

bool TaskTable::count(ThreadId thread, uint64_t pc, bool kernel, const StackSample& stack, uint64_t ticks,
                      uint64_t first, uint64_t last) {
  Task* task = counting(thread.pid);
  if (task == nullptr) return false;
  if (!kernel && ticks > 1 && first < last && task->was_replaced(pc, first, last)) {
    book(thread, *task, unknown_place(*task, kSinceUnmapped), kernel, stack, ticks - 1);
    ticks = 1;
  }
  const Place place = place_tick(thread.pid, *task, pc, kernel);
  first == 0 ? book(thread, *task, place, kernel, stack, 1, ticks)
             : book(thread, *task, place, kernel, stack, ticks);
  return true;
}

/// Its registers and stack are those of the call that entered the machine, as for a tick in the kernel.
bool TaskTable::count_guest(ThreadId thread, const StackSample& stack) {
  Task* task = counting(thread.pid);
  if (task == nullptr) return false;
  const Place place = unknown_place(*task, kGuestCode);
  if (paths_ != nullptr)
    book(thread, *task, place, true, stack, 1);
  else
    book(*task, place, 1);
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
  paths_ = std::make_unique<PathRecorder>(file_, paths, files_);
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
