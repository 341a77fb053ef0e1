#include "recorder/engine/ring_engine.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "base/kernel/proc_file.h"
#include "perf/blind_cpus.h"
#include "perf/process_tree.h"
#include "perf/stack_room.h"
#include "recorder/engine/sample_stack.h"

namespace pctally {
namespace {

constexpr unsigned kTicksPerRoomCheck = 256;  ///< each may take three units

/// Running processes, and all that descend from them.
std::set<pid_t> processes_of(const Target& target) {
  std::set<pid_t> processes;
  if (target.kind == Target::Kind::kProcesses)
    for (const pid_t pid : target.processes)
      std::ranges::copy(process_tree(pid), std::inserter(processes, processes.end()));
  return processes;
}

}  // namespace

/// An event of a thread counts from zero on every CPU it comes to, is no more where exec gains privileges,
/// and waits for CPUs that are off; an event of a CPU is the other way round.
std::string ring_blindness(bool per_thread, bool kernel) {
  return std::string(kernel ? "" : "kernel mode; ") +
         (per_thread
              ? "half a period of each thread per CPU, so most children shorter than that; setuid programs"
              : "CPUs that are switched on after the start");
}

Result<void> RingEngine::start(ProfileFile* file, const Target& target, Environment*) {
  file_ = file;
  PerfSettings settings;
  settings.event = settings_.event;
  settings.period = settings_.period;
  // Events counted one by one leave no part of a period behind in any thread: the command's own are all.
  settings.whole_machine = settings_.period > 1 || target.kind != Target::Kind::kCommand;
  settings.children = settings_.children;
  settings.lost_count = settings_.lost_count;
  settings.kernel = true;
  phases_ = TickPhases(settings_.event, settings_.period, settings_.randomise);
  settings.streams = phases_.further_periods();
  if (settings_.paths) {
    choose_stack_room(&settings);
    settings.whole_machine = false;  // so that no stack of another program is copied
  }
  const std::set<pid_t> older = processes_of(target);
  if (auto opened = rings_.open(target, settings); !opened) return opened;
  file->header().kernel_observed = rings_.settings().kernel;
  losses_.resize(rings_.size());
  for (Losses& losses : losses_) losses.throttle = ThrottleMeter(settings_.event, settings_.period);
  per_thread_ = target.is_process_tree() && !rings_.sees_machine();
  all_cpus_ = rings_.sees_machine() || target.kind == Target::Kind::kMachine;
  file->header().machine_cpus = all_cpus_ ? static_cast<uint32_t>(rings_.size() / 2) : 0;
  tasks_ = TaskTable(file, name(),
                     rings_.sees_machine() ? TaskTable::Unknown::kIgnore : TaskTable::Unknown::kAdopt);
  tasks_.use_files(settings_.files);
  tasks_.follow_children(settings_.children || !target.is_process_tree());
  tasks_.expect_removal(per_thread_);
  if (target.kind == Target::Kind::kMachine) tasks_.limit_users();
  if (settings_.scope) tasks_.keep_scopes(*settings_.scope, settings_.paths);
  if (settings_.paths) {
    call_paths(*file)->stack_bytes = rings_.settings().stack_bytes;
  }
  bool at_exec = rings_.settings().at_exec && target.is_process_tree();
  if (!at_exec) rings_.enable_records();
  for (pid_t pid : target.processes) {
    target.kind == Target::Kind::kCommand ? tasks_.expect(pid) : tasks_.adopt(pid);
    if (target.kind == Target::Kind::kProcesses) tasks_.leave_out_descendants(pid);
  }
  adopt_running(target);
  const uint64_t wait_ns = all_cpus_ ? phases_.draw_first_ticks(rings_.rings_of_ticks()) : 0;
  if (!at_exec) rings_.enable();
  if (per_thread_ && settings_.children) adopt_younger(target, older);
  sleep_ns(wait_ns);
  begin_window();
  phases_.begin(rings_.rings_of_ticks(), monotonic_ns());
  return {};
}

/// Those that have started since the events were opened: they have these, but no record of their start, for
/// the events were off.
void RingEngine::adopt_younger(const Target& target, const std::set<pid_t>& older) {
  for (const pid_t pid : processes_of(target))
    if (!older.contains(pid)) tasks_.adopt(pid);
}

/// One that ends before the first drain is known, too.
void RingEngine::adopt_running(const Target& target) {
  std::vector<pid_t> processes;
  if (target.kind == Target::Kind::kMachine) processes = all_processes();
  if (target.kind == Target::Kind::kCgroup) {
    tasks_.expect_absences();
    processes = processes_of_group(target.cgroup);
  }
  for (pid_t pid : processes) tasks_.adopt(pid);
}

std::string RingEngine::blind_spots() const {
  bool kernel = rings_.settings().kernel;
  if (settings_.event.is_cpu_time()) return ring_blindness(per_thread_, kernel);
  return kernel ? "" : "kernel mode (kernel.perf_event_paranoid forbids it)";
}

void RingEngine::drain() {
  // Whatever was written before this moment is in the rings when their heads are read after it; what is
  // younger may still be missing from a ring already read and waits for the next turn. So records are
  // replayed in true order.
  uint64_t until = monotonic_ns();
  rings_.collect();
  tasks_.expect_losses(rings_.pressed());
  replay(until);
  if (rings_.pressed() || loss_pending_)
    book_losses();
  else
    begin_window();
  if (phases_.due(monotonic_ns())) {
    phases_.move(rings_.rings_of_ticks());
    for (Losses& losses : losses_) losses.throttle.divide(phases_.events());
  }
  file_->header().starts_in_step = per_thread_ ? tasks_.starts() : 0;
  file_->make_room(0);
  file_->beat();
}

void RingEngine::replay(uint64_t until) {
  rings_.replay(
      until, [this](const RingSet::Sample& sample) { count(sample); },
      [this](const RingSet::Record& event) { apply(event); });
}

void RingEngine::apply(const RingSet::Record& event) {
  ++losses_[event.ring].recent.all;
  if (event.record.kind == PerfRecord::Kind::kLost)
    apply_lost(event);
  else if (event.record.kind == PerfRecord::Kind::kThrottle ||
           event.record.kind == PerfRecord::Kind::kUnthrottle)
    apply_throttle(event);
  else
    tasks_.apply(event.record, event.text);
}

void RingEngine::apply_lost(const RingSet::Record& event) {
  losses_[event.ring].by_records += event.record.lost;
  loss_pending_ = true;
  tasks_.expect_losses(true);
}

void RingEngine::apply_throttle(const RingSet::Record& event) {
  losses_[event.ring].throttle.apply(event.record);
  loss_pending_ = true;
  if (event.record.kind == PerfRecord::Kind::kThrottle) ++file_->header().throttled;
}

bool RingEngine::is_kernel_worker(const RingSet::Sample& sample) {
  constexpr size_t kMost = 1024;
  if (kernel_workers_.contains({sample.pid, sample.tid})) return true;
  ProcStat stat;
  if (!read_proc_stat(sample.pid, &stat, sample.tid) || !stat.kernel_worker) return false;
  if (kernel_workers_.size() >= kMost) kernel_workers_.clear();
  kernel_workers_.insert({sample.pid, sample.tid});
  return true;
}

/// A process that is ending has no user mode any more once its memory is gone.
StackSample RingEngine::stack_at(const RingSet::Sample& sample) {
  StackSample stack = stack_of(sample);
  if (sample.without_user_mode && tasks_.runs_program(sample.pid) && !is_kernel_worker(sample))
    stack.without = PathEnd::kMemoryGone;
  return stack;
}

void RingEngine::count(const RingSet::Sample& sample) {
  if (samples_++ % kTicksPerRoomCheck == 0) file_->make_room(kTicksPerRoomCheck * 3);
  const ThreadId thread{sample.pid, sample.tid};
  bool own = sample.guest      ? tasks_.count_guest(thread, stack_at(sample))
             : settings_.scope ? tasks_.count(thread, sample.pc, sample.kernel, stack_at(sample))
                               : tasks_.count(sample.pid, sample.pc, sample.kernel, 1);
  window_own_ += own ? 1 : 0;
  for (Tally* tally : {&losses_[sample.ring].recent, &sum_}) {
    ++tally->all;
    tally->own += own ? 1 : 0;
  }
}

uint64_t RingEngine::target_cpu_ns() const {
  bool tells = settings_.event.is_cpu_time() && rings_.sees_machine() && settings_.target_cpu_ns;
  return tells ? settings_.target_cpu_ns() : 0;
}

void RingEngine::begin_window() {
  for (Losses& losses : losses_) losses.recent = {};
  window_cpu_ns_ = target_cpu_ns();
  window_own_ = 0;
  window_lost_ = 0;
}

/// Assumes that the target's share of the lost ticks equals its share of the ticks received around that time.
double RingEngine::target_part(size_t ring) const {
  const Tally& tally = losses_[ring].recent.all != 0 ? losses_[ring].recent : sum_;
  return tally.all == 0 ? 0 : static_cast<double>(tally.own) / static_cast<double>(tally.all);
}

/// Where ticks are CPU time and the target's is known, what it used since the rings were last emptied in time
/// tells how many ticks should have come through; no more are lost than the kernel says. Before Linux 6.0 it
/// says so only with the next record, after the rings were emptied.
void RingEngine::book_losses() {
  uint64_t records = 0;
  double ticks = 0, own = 0;
  for (size_t i = 0; i < losses_.size(); ++i) {
    uint64_t lost = std::max({rings_.count(i).lost, losses_[i].by_records, losses_[i].booked});
    uint64_t fresh = lost - losses_[i].booked;
    losses_[i].booked = lost;
    records += fresh;
    if (!rings_.has_ticks(i)) continue;
    double missed = static_cast<double>(fresh) + losses_[i].throttle.take_missed();
    ticks += missed;
    own += missed * target_part(i);
  }
  if (uint64_t cpu = target_cpu_ns(); cpu > window_cpu_ns_) {
    double due = static_cast<double>(cpu - window_cpu_ns_) / static_cast<double>(settings_.period);
    own = std::clamp(due - static_cast<double>(window_own_) - window_lost_, 0.0, ticks);
  }
  lost_ += own;
  window_lost_ += own;
  loss_pending_ = false;
  __atomic_store_n(&file_->header().ledger.lost, static_cast<uint64_t>(std::llround(lost_)),
                   __ATOMIC_RELAXED);
  if (records != 0) tasks_.resync();
}

void RingEngine::stop() {
  rings_.disable();
  rings_.collect();
  replay(UINT64_MAX);
  for (Losses& losses : losses_) losses.throttle.finish(monotonic_ns());
  book_losses();
  if (knows_cpu_time()) cpu_ns_ = rings_.count().value;
  // A thread's events go with it to any CPU, and a group's are there while it runs.
  if (all_cpus_) blind_cpus_ = blind_cpus_text(rings_.rings_of_ticks());
  rings_.close();
  file_->beat();
}

}  // namespace pctally
