#include "engine/ring_engine.h"

#include <errno.h>
#include <string.h>

#include <algorithm>

namespace pctally {
namespace {

constexpr uint64_t kShiftPeriods = 300;  ///< mean time between two phase shifts: each costs half a tick
constexpr uint32_t kFewestPages = 1;
constexpr unsigned kTicksPerRoomCheck = 256;  ///< each may take three units

/// Tries the call again with less and less of what older kernels and smaller limits refuse.
Result<PerfRing> open_as_permitted(pid_t target, int cpu, PerfSettings* settings) {
  for (;;) {
    auto ring = PerfRing::open(target, cpu, *settings);
    if (ring) return ring;
    int error = ring.error().code;
    bool refused = error == EACCES || error == EPERM;
    if (refused && settings->kernel) {
      settings->kernel = false;
    } else if ((refused || error == ENOMEM) && settings->ring_pages > kFewestPages) {
      settings->ring_pages /= 2;
    } else if (error == EINVAL && settings->lost_count) {
      settings->lost_count = false;
    } else if (error == EINVAL && settings->build_ids) {
      settings->build_ids = false;
    } else {
      return ring;
    }
  }
}

}  // namespace

Result<void> RingEngine::open_rings(pid_t target) {
  PerfSettings settings;
  settings.period_ns = settings_.period_ns;
  settings.children = settings_.children;
  settings.kernel = true;
  long cpus = sysconf(_SC_NPROCESSORS_CONF);
  for (int cpu = 0; cpu < cpus; ++cpu) {
    auto ring = open_as_permitted(target, cpu, &settings);
    if (ring) {
      rings_.push_back(std::move(*ring));
    } else if (ring.error().code != ENODEV) {  // ENODEV: that CPU is offline
      return std::unexpected(ring.error());
    }
  }
  kernel_ = settings.kernel;
  if (rings_.empty()) return fail(ENODEV, "no CPU accepts a perf event");
  return {};
}

Result<void> RingEngine::start(ProfileFile* file, pid_t target, Environment*) {
  file_ = file;
  if (auto opened = open_rings(target); !opened) return opened;
  file->header().kernel_observed = kernel_;
  tasks_[target].comm = "(starting)";
  next_shift_ns_ = monotonic_ns() + random_.below(2 * kShiftPeriods * settings_.period_ns);
  return {};
}

std::vector<int> RingEngine::descriptors() const {
  std::vector<int> descriptors;
  for (const PerfRing& ring : rings_) descriptors.push_back(ring.fd());
  return descriptors;
}

std::string RingEngine::blind_spots() const {
  return kernel_ ? ""
                 : "kernel mode (kernel.perf_event_paranoid forbids it): its time is in the unsampled line";
}

void RingEngine::drain() {
  // Whatever was written before this moment is in the rings when their heads are read after it; what is
  // younger may still be missing from a ring already read and waits for the next turn. So records are
  // replayed in true order.
  uint64_t until = monotonic_ns();
  collect();
  replay(until);
  shift_phases();
  file_->make_room(0);
  file_->beat();
}

void RingEngine::collect() {
  for (PerfRing& ring : rings_)
    ring.drain(
        [this](const unsigned char* bytes, size_t length) { store(parse_perf_record(bytes, length)); });
}

void RingEngine::store(const PerfRecord& record) {
  if (record.kind == PerfRecord::Kind::kSample) {
    samples_.push_back({record.time, record.pc, record.pid, record.kernel});
  } else if (record.kind != PerfRecord::Kind::kOther) {
    events_.push_back({record, std::string(record.text)});
  }
}

void RingEngine::replay(uint64_t until) {
  auto by_time = [](const auto& a, const auto& b) { return a.time < b.time; };
  std::stable_sort(samples_.begin(), samples_.end(), by_time);
  std::stable_sort(events_.begin(), events_.end(),
                   [](const Event& a, const Event& b) { return a.record.time < b.record.time; });
  size_t sample = 0, event = 0;
  for (;;) {
    bool more_samples = sample < samples_.size() && samples_[sample].time <= until;
    bool more_events = event < events_.size() && events_[event].record.time <= until;
    if (!more_samples && !more_events) break;
    if (!more_samples || (more_events && events_[event].record.time <= samples_[sample].time)) {
      apply(events_[event++]);
    } else {
      if (sample % kTicksPerRoomCheck == 0) file_->make_room(kTicksPerRoomCheck * 3);
      count(samples_[sample++]);
    }
  }
  samples_.erase(samples_.begin(), samples_.begin() + static_cast<ptrdiff_t>(sample));
  events_.erase(events_.begin(), events_.begin() + static_cast<ptrdiff_t>(event));
}

void RingEngine::apply(const Event& event) {
  switch (event.record.kind) {
    case PerfRecord::Kind::kMmap:
      return apply_mmap(event);
    case PerfRecord::Kind::kComm:
      return apply_comm(event);
    case PerfRecord::Kind::kFork:
      return apply_fork(event.record);
    case PerfRecord::Kind::kExit:
      return apply_exit(event.record);
    case PerfRecord::Kind::kLost:
      lost_told_ += event.record.lost;
      return;
    case PerfRecord::Kind::kThrottle:
      ++file_->header().throttled;
      return;
    default:
      return;
  }
}

void RingEngine::apply_mmap(const Event& event) {
  const PerfRecord& record = event.record;
  bool has_file =
      event.text == "[vdso]" || (!event.text.empty() && event.text[0] == '/' && event.text[1] != '/');
  if (!record.executable || !has_file) return;  // code without a file gets windows where it is hot
  Task& owner = task(record.pid);
  ObjectIdentity object;
  object.kind = event.text == "[vdso]" ? ObjectKind::kVdso : ObjectKind::kFile;
  object.path = event.text;
  object.build_id = record.build_id;
  object.build_id_bytes = record.build_id_bytes;
  object.device = record.device;
  object.inode = record.inode;
  file_->make_room(segment_units(record.bytes));
  owner.space.map(*file_, record.start, record.start + record.bytes,
                  object.kind == ObjectKind::kVdso ? 0 : record.offset, object);
  owner.table_valid = false;
}

void RingEngine::apply_comm(const Event& event) {
  Task& named = task(event.record.pid);
  if (event.record.pid == event.record.tid) named.comm = event.text;
  if (event.record.exec) {
    named.space.clear();
    named.table_valid = false;
    register_task(event.record.pid, named);
  }
  if (named.record != 0) rename_process(pool_at<ProcessRecord>(file_->pool(), named.record), named.comm);
}

void RingEngine::apply_fork(const PerfRecord& record) {
  Task& parent = task(record.parent);
  if (record.pid == record.parent) {
    ++parent.threads;
    return;
  }
  Task child;
  child.parent = record.parent;
  child.comm = parent.comm;
  (void)child.space.copy_from(parent.space);
  tasks_[record.pid] = std::move(child);
}

void RingEngine::apply_exit(const PerfRecord& record) {
  auto found = tasks_.find(record.pid);
  if (found == tasks_.end() || --found->second.threads > 0) return;
  if (found->second.record != 0)
    pool_at<ProcessRecord>(file_->pool(), found->second.record)->flags |= kProcessExited;
  tasks_.erase(found);
}

RingEngine::Task& RingEngine::task(int32_t pid) {
  auto [found, added] = tasks_.try_emplace(pid);
  if (added) {  // its FORK record was lost, or it is older than the events
    found->second.comm = "(unknown)";
    found->second.space.map_process(*file_, pid);
  }
  return found->second;
}

void RingEngine::register_task(int32_t pid, Task& task) {
  if (task.record == 0) task.record = add_process(*file_, pid, task.parent, task.comm, name());
  task.table_valid = false;
}

const RegionTable& RingEngine::table_of(Task& task) {
  if (!task.table_valid) task.table = task.space.table(*file_, task.record);
  task.table_valid = true;
  return task.table;
}

const RegionTable& RingEngine::kernel_table(const Task& task, uint64_t pc) {
  uint64_t index = 0;
  if (find_region(kernel_table_, pc, &index) == nullptr) {
    file_->make_room(segment_units(uint64_t{64} << 10));
    kernel_space_.map_window(*file_, pc, kernel_object());
    kernel_table_ = kernel_space_.table(*file_, 0);
  }
  kernel_table_.process_ticks = task.table.process_ticks;
  return kernel_table_;
}

void RingEngine::count(const Sample& sample) {
  Task& owner = task(sample.pid);
  if (owner.record == 0) register_task(sample.pid, owner);
  uint64_t index = 0;
  const RegionTable* table = &table_of(owner);
  if (sample.kernel) {
    table = &kernel_table(owner, sample.pc);
  } else if (find_region(*table, sample.pc, &index) == nullptr) {
    file_->make_room(segment_units(uint64_t{64} << 10));
    owner.space.map_window(*file_, sample.pc, private_object(sample.pid));
    owner.table_valid = false;
    table = &table_of(owner);
  }
  tick(*table, sample.pc, 1);
}

void RingEngine::shift_phases() {
  uint64_t now = monotonic_ns();
  if (!settings_.randomise || now < next_shift_ns_) return;
  for (PerfRing& ring : rings_) ring.shift_phase(settings_.period_ns);
  next_shift_ns_ = now + random_.below(2 * kShiftPeriods * settings_.period_ns);
}

void RingEngine::settle_losses() {
  uint64_t lost = 0;
  for (const PerfRing& ring : rings_) {
    PerfCount count = ring.count();
    lost += count.lost;
    cpu_ns_ += count.cpu_ns;
  }
  add_relaxed(&file_->header().ledger.lost, std::max(lost, lost_told_));
}

void RingEngine::stop() {
  for (PerfRing& ring : rings_) ring.disable();
  collect();
  replay(UINT64_MAX);
  settle_losses();
  rings_.clear();
  file_->beat();
}

}  // namespace pctally
