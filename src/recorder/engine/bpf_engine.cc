#include "recorder/engine/bpf_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "bpf/capabilities.h"
#include "perf/blind_cpus.h"
#include "perf/process_tree.h"
#include "recorder/engine/bpf_probe.h"
#include "recorder/engine/sample_stack.h"

namespace pctally {
namespace {

constexpr int kNice = -10;  ///< tables and rings are emptied in time on a busy machine, too
constexpr int kEventDrainMs = 10;
constexpr int kNewsDrainMs = 10, kQuietDrainMs = 100;  ///< of paths
constexpr uint64_t kMostLoadNs = 10000000;             ///< of a drain, spent on building tables
constexpr uint64_t kSeparateNs = 2000000000;
constexpr unsigned kPlacesPerRoomCheck = 256;  ///< each may take three units

pctally_filter filter_for(const Target& target) {
  if (target.kind == Target::Kind::kMachine) return PCTALLY_FILTER_ALL;
  if (target.kind == Target::Kind::kCgroup) return PCTALLY_FILTER_CGROUP;
  return PCTALLY_FILTER_FOLLOWED;
}

}  // namespace

Result<void> BpfEngine::load(const Target& target) {
  BpfCounter::Settings settings;
  settings.event = settings_.event;
  settings.period = settings_.period;
  settings.filter = filter_for(target);
  settings.children = settings_.children;
  settings.paths = settings_.paths;
  phases_ = TickPhases(settings_.event, settings_.period, settings_.randomise);
  settings.streams = phases_.further_periods();
  UniqueFd cgroup;
  if (target.kind == Target::Kind::kCgroup) {
    auto directory = target.open_cgroup();
    if (!directory) return std::unexpected(directory.error());
    cgroup = std::move(*directory);
    if (struct statfs system = {};
        fstatfs(cgroup.get(), &system) == 0 && system.f_type != CGROUP2_SUPER_MAGIC)
      return fail(EBADF,
                  "%s: not a cgroup v2 directory, which bpf needs; findmnt -t cgroup2 lists their roots",
                  target.cgroup.c_str());
    settings.cgroup = cgroup.get();
  }
  auto counter = BpfCounter::load(settings);
  if (!counter) return std::unexpected(counter.error());
  counter_ = std::move(*counter);
  return {};
}

/// A process tree's own records, at 0.1 us per switch between its threads: those of the whole machine
/// would cost it nothing, but where others start processes by the thousand they overrun the rings and take
/// the recorder's time. Many threads that run already need more descriptors than there are: then the
/// machine's after all.
Result<void> BpfEngine::open_records(const Target& target) {
  PerfSettings records;
  records.samples = records.whole_machine = false;
  records.children = settings_.children;
  if (rings_.open(target, records)) return {};
  return rings_.open(Target::machine(), records);
}

/// From now on nothing that the processes do is missed; what they did before is in /proc, which is read while
/// that is still permitted.
Result<void> BpfEngine::watch_processes(const Target& target) {
  if (auto opened = open_records(target); !opened) return opened;
  tasks_ = TaskTable(file_, name(),
                     target.is_process_tree() ? TaskTable::Unknown::kIgnore : TaskTable::Unknown::kAdopt);
  tasks_.use_files(settings_.files);
  tasks_.follow_children(settings_.children || !target.is_process_tree());
  if (target.kind == Target::Kind::kMachine) tasks_.limit_users();
  if (target.kind == Target::Kind::kCgroup) tasks_.expect_absences();
  if (settings_.scope) tasks_.keep_scopes(*settings_.scope, settings_.paths);
  if (settings_.paths) {
    rings_.keep_stacks_out_of_dumps();
    call_paths(*file_)->stack_bytes = PCTALLY_STACK_BYTES;
  }
  if (target.kind != Target::Kind::kCommand || !rings_.settings().at_exec) rings_.enable();
  for (pid_t pid : target.processes)
    if (!counter_.follow(pid)) return fail(ESRCH, "no process has the number %d", pid);
  if (target.kind == Target::Kind::kCommand) {
    tasks_.expect(target.processes.at(0));
  } else {
    for (pid_t pid : target.is_process_tree() ? target.processes : all_processes()) tasks_.adopt(pid);
    for (pid_t pid : target.processes) tasks_.leave_out_descendants(pid);
  }
  return {};
}

Result<void> BpfEngine::start(ProfileFile* file, const Target& target, Environment*) {
  file_ = file;
  has_command_ = target.kind == Target::Kind::kCommand;
  if (!in_first_pid_namespace()) return fail(ENOTSUP, "in a pid namespace; give it the host's (--pid=host)");
  if (auto loaded = load(target); !loaded) return loaded;
  if (auto watching = watch_processes(target); !watching) return watching;
  file->header().kernel_observed = true;
  file->header().machine_cpus = static_cast<uint32_t>(std::max(1l, sysconf(_SC_NPROCESSORS_ONLN)));
  counter_.separate_ticks(knows_threads());
  phases_.draw_first_ticks(counter_.rings_of_ticks());
  if (auto enabled = counter_.enable(&random_); !enabled) return enabled;
  phases_.begin(counter_.rings_of_ticks(), monotonic_ns());
  setpriority(PRIO_PROCESS, 0, kNice);  // if it is permitted
  return {};
}

/// The descriptor of the paths becomes readable when their ring is half full.
std::vector<int> BpfEngine::descriptors() const {
  std::vector<int> descriptors = rings_.descriptors();
  if (counter_.paths() != nullptr) descriptors.push_back(counter_.paths()->ring().fd());
  return descriptors;
}

Result<void> BpfEngine::drop_privileges() { return drop_capabilities(has_command_); }

/// A CPU's table fills up between two drains only if the recorder gets no CPU; with other events than CPU
/// time, whose rate is unknown, also if they have more places than it has slots. While the program meets code
/// it has no tables for, and copies stacks, drains are frequent: each loads tables.
int BpfEngine::drain_interval_ms() const {
  if (!settings_.event.is_cpu_time()) return kEventDrainMs;
  const auto at_most =
      static_cast<int>(std::clamp<uint64_t>(settings_.period * PCTALLY_TABLE_SLOTS / 2000000, 5, 100));
  const int ms = phases_.ms_until_due(at_most, monotonic_ns());
  return settings_.paths ? std::min(ms, paths_drain_ms_) : ms;
}

/// Ticks of one pc stand at the time of the last of them. They have no stack: the ring had no room for it.
void BpfEngine::fetch() {
  counter_.drain(
      [this](const pctally_slot& slot) {
        RingSet::Sample sample{slot.last_ns, slot.pc, static_cast<pid_t>(slot.tgid),
                               static_cast<int64_t>(slot.pc) < 0};
        sample.ticks = slot.ticks;
        sample.first = slot.first_ns;
        sample.tid = static_cast<pid_t>(slot.tid);
        sample.stack_missed = true;
        sample.exec_id = slot.exec_id;
        add(sample);
      },
      [this](const pctally_full& full) {
        rings_.add({full.first_ns, 0, static_cast<pid_t>(full.tgid), false, false, full.ticks});
      });
  counter_.visit_paths([this](const pctally_path& path) { take_path(path); });
}

void BpfEngine::add(const RingSet::Sample& sample) {
  uint32_t& newest = newest_images_[sample.pid];
  newest = std::max(newest, sample.exec_id);
  rings_.add(sample);
}

void BpfEngine::take_path(const pctally_path& path) {
  RingSet::Sample sample{path.time_ns, path.pc, static_cast<pid_t>(path.tgid),
                         static_cast<int64_t>(path.pc) < 0};
  const auto* words = reinterpret_cast<const uint64_t*>(path.data);
  const size_t calls = std::min<size_t>(path.kernel_calls, PCTALLY_KERNEL_CALLS);
  sample.tid = static_cast<pid_t>(path.tid);
  sample.exec_id = path.exec_id;
  sample.ticks = path.ticks;
  sample.has_registers = (path.flags & PCTALLY_PATH_REGISTERS) != 0;
  std::copy(std::begin(path.registers), std::end(path.registers), sample.registers);
  if (calls > 1) sample.kernel_calls = {words + 1, calls - 1};
  sample.stack_chunks = {words + calls, path.words};
  sample.stack = {reinterpret_cast<const unsigned char*>(words + calls + path.words), path.stack_bytes};
  sample.stack_address = path.stack_address;
  sample.stack_cut_off = (path.flags & PCTALLY_PATH_CUT_OFF) != 0;
  sample.stack_missed = (path.flags & PCTALLY_PATH_NO_ROOM) != 0;
  sample.exiting = (path.flags & PCTALLY_PATH_EXITING) != 0;
  add(sample);
  if ((path.flags & PCTALLY_PATH_UNKNOWN) != 0) unwinding_.want(sample.pid, path.exec_id);
}

/// In parts: the tables of a compiler take 0.1 s of CPU time, in which a ring on a busy machine fills up.
void BpfEngine::load_tables() {
  KernelPaths* paths = counter_.paths();
  const bool news = unwinding_.load(&tasks_, &paths->rules(), &paths->processes(), kMostLoadNs);
  if (unwinding_.has_more())
    paths_drain_ms_ = 0;
  else if (news)
    paths_drain_ms_ = kNewsDrainMs;
  else
    paths_drain_ms_ = std::clamp(2 * paths_drain_ms_, kNewsDrainMs, kQuietDrainMs);
}

void BpfEngine::drain() {
  uint64_t until = monotonic_ns();  // as in RingEngine: what is older is complete after fetching, not before
  newest_images_.clear();
  fetch();
  book_missed();
  rings_.collect();
  tasks_.expect_losses(rings_.pressed());
  replay(until);
  make_up_for_losses();
  counter_.release_paths();
  if (counter_.paths() != nullptr) load_tables();
  separate_where_needed();
  if (phases_.due(monotonic_ns())) {
    phases_.move(counter_.rings_of_ticks());
    counter_.divide_ticks(phases_.events());
  }
  file_->make_room(0);
  file_->beat();
}

/// Ticks that the kernel's throttling kept back: by how much of each CPU was the target's when the kernel
/// stopped the ticks, which is a guess beside other busy programs. Never more than its CPU time leaves.
uint64_t BpfEngine::throttled_ticks() const {
  uint64_t cpu_ns =
      missed_ > 0 && settings_.event.is_cpu_time() && settings_.target_cpu_ns ? settings_.target_cpu_ns() : 0;
  if (cpu_ns == 0) return static_cast<uint64_t>(std::llround(missed_));
  double due = static_cast<double>(cpu_ns) / static_cast<double>(settings_.period);
  double left = due - static_cast<double>(counter_.totals().passed);
  return static_cast<uint64_t>(std::llround(std::clamp(left, 0.0, missed_)));
}

/// What the kernel kept back, and what found no room in its tables.
void BpfEngine::book_missed() {
  missed_ += counter_.take_missed();
  FileHeader& header = file_->header();
  header.throttled = counter_.throttled();
  __atomic_store_n(&header.ledger.lost, throttled_ticks() + counter_.totals().unowned, __ATOMIC_RELAXED);
}

/// Where a program loads libraries one in place of another, only the time of a tick tells whose it is. A
/// thread's tick has a slot of its own.
void BpfEngine::separate_where_needed() {
  uint64_t now = monotonic_ns();
  if (tasks_.replacements() != replacements_) separate_until_ = now + kSeparateNs;
  replacements_ = tasks_.replacements();
  counter_.separate_ticks(knows_threads() || now < separate_until_);
}

void BpfEngine::replay(uint64_t until) {
  rings_.replay(
      until, [this](const RingSet::Sample& sample) { count(sample); },
      [this](const RingSet::Record& event) {
        lost_record_ = lost_record_ || event.record.kind == PerfRecord::Kind::kLost;
        if (counter_.paths() != nullptr) unwinding_.note(event.record, &counter_.paths()->processes());
        count_left_out();
        tasks_.apply(event.record, event.text);
      });
}

/// Without the records of what processes did (an exec, say) their ticks would be found in the code they had
/// before: what they have mapped is read again. A ring that is full gets no record of what it loses.
void BpfEngine::make_up_for_losses() {
  if (!lost_record_ && !rings_.pressed()) return;
  const uint64_t lost = rings_.count().lost;
  if (lost_record_ || lost != lost_records_) {
    tasks_.resync();
    if (KernelPaths* paths = counter_.paths(); paths != nullptr)
      KernelUnwinding::forget_ended(tasks_, &paths->processes());
    count_left_out();
  }
  lost_record_ = false;
  lost_records_ = lost;
}

void BpfEngine::count(const RingSet::Sample& sample) {
  if (counted_++ % kPlacesPerRoomCheck == 0) file_->make_room(kPlacesPerRoomCheck * 3);
  if (!tasks_.observes(sample.pid)) tasks_.adopt(sample.pid);  // the record of its birth was lost
  if (sample.exec_id != 0)
    tasks_.expect_image(sample.pid, sample.exec_id, sample.kernel,
                        newest_images_[sample.pid] > sample.exec_id);
  bool counted = !sample.placed    ? tasks_.book_full(sample.pid, sample.ticks)
                 : settings_.scope ? count_path(sample)
                                   : tasks_.count(sample.pid, sample.pc, sample.kernel, sample.ticks,
                                                  sample.first, sample.time);
  if (!counted) before_exec_ += sample.ticks;
}

/// Before a program ends, for its code: their stacks were not read.
void BpfEngine::count_left_out() {
  static const StackSample kNotRead{.registers = {}, .stack = {}, .without = PathEnd::kMemoryGone};
  if (counter_.paths() == nullptr) return;
  for (const ProcessTables::LeftOut& of : counter_.paths()->processes().take_left_out())
    if (!tasks_.count({of.pid, of.tid}, of.pc, static_cast<int64_t>(of.pc) < 0, kNotRead, of.ticks))
      before_exec_ += of.ticks;
}

bool BpfEngine::count_path(const RingSet::Sample& sample) {
  StackSample stack = stack_of(sample);
  if (sample.stack_missed && !sample.has_registers) stack.without = PathEnd::kNoRoom;
  if (sample.exiting && !sample.stack_missed) stack.missing = PathEnd::kMemoryGone;
  return tasks_.count({sample.pid, sample.tid}, sample.pc, sample.kernel, stack, sample.ticks, sample.first,
                      sample.time);
}

void BpfEngine::stop() {
  counter_.disable();
  rings_.disable();
  fetch();
  book_missed();
  rings_.collect();
  replay(UINT64_MAX);
  if (KernelPaths* paths = counter_.paths(); paths != nullptr)
    paths->processes().forget_if([](pid_t) { return true; });
  count_left_out();
  blind_cpus_ = blind_cpus_text(counter_.rings_of_ticks());
  counter_.close();
  rings_.close();
  file_->beat();
}

}  // namespace pctally
