#include "recorder/engine/heartbeat.h"

#include <algorithm>

#include "base/kernel/proc_file.h"
#include "base/time_ns.h"
#include "histfile/chain.h"
#include "perf/process_tree.h"

namespace pctally {
namespace {

constexpr uint64_t kShortestSilenceNs = 200000000;
constexpr size_t kMostPulses = 2 * kMostProcessRecords;  ///< of a file that makes up ever new ones

uint64_t user_ns(pid_t pid) {
  ProcStat stat;
  if (!read_proc_stat(pid, &stat)) return 0;
  return clock_ticks_to_ns(stat.user);
}

/// It is silent because the next image still begins: its record says that it executed it, or the new memory
/// does.
bool has_executed(const ProcessRecord& record, pid_t pid, const NotEntered& entered) {
  return load_relaxed(&record.cpu_ns) != 0 || entered.maps_recording(pid) == false;
}

}  // namespace

/// User time of the threads of a process, each since it was first found to block the signal, or not to.
/// Threads that have ended meanwhile are none of them; and pthread_create(3) blocks all signals for a moment.
struct Heartbeat::Threads {
  uint64_t open_ns = 0;
  uint64_t blocked_ns = 0;
};

Heartbeat::Threads Heartbeat::sample_threads(pid_t pid, uint32_t signal, Pulse* pulse) {
  Threads all;
  for (const pid_t thread : threads_of(pid)) {
    ProcStatus status;
    ProcStat stat;
    if (!read_proc_status(pid, &status, thread) || !read_proc_stat(pid, &stat, thread)) continue;
    const bool blocks = (status.blocked >> (signal - 1) & 1) != 0;
    const uint64_t used_ns = clock_ticks_to_ns(stat.user);
    FirstReading& first = pulse->threads.try_emplace(thread, FirstReading{used_ns, blocks}).first->second;
    if (first.blocks != blocks) first = {used_ns, blocks};
    (blocks ? all.blocked_ns : all.open_ns) += used_ns - std::min(used_ns, first.user_ns);
  }
  return all;
}

void Heartbeat::note(ProcessRecord* record, Pulse* pulse, ProcessNote note) {
  if (record->note != note) pulse->note = record->note;
  record->note = note;
  pulse->noted = true;
}

void Heartbeat::suspect(ProcessRecord* record, pid_t pid, Pulse* pulse, uint64_t silence_ns,
                        const NotEntered& entered) {
  const uint64_t now_ns = user_ns(pid);
  const uint32_t signal = __atomic_load_n(&record->signal, __ATOMIC_RELAXED);
  if (signal - 1 >= 64) return;
  const Threads threads = sample_threads(pid, signal, pulse);
  if (!pulse->suspected) {
    pulse->suspected = true;
    pulse->user_ns = now_ns;
  } else if (now_ns > pulse->user_ns + silence_ns && !has_executed(*record, pid, entered)) {
    if (threads.open_ns > silence_ns)
      note(record, pulse, ProcessNote::kSignalTaken);
    else if (threads.blocked_ns > silence_ns && record->note == ProcessNote::kNone)
      note(record, pulse, ProcessNote::kBlocked);
  }
}

void Heartbeat::update(ProcessRecord* record, pid_t pid, Pulse* pulse, uint64_t period_ns,
                       const NotEntered& entered) {
  uint64_t ticks = load_relaxed(&record->ticks);
  const auto used = cpu_ns_of(pid);
  pulse->gone = !used;
  if (pulse->gone) return;
  const uint64_t cpu_ns = *used;
  uint64_t silence_ns = std::max(3 * period_ns, kShortestSilenceNs);
  if (ticks != pulse->ticks || pulse->cpu_ns == 0) {
    if (record->note == ProcessNote::kSignalTaken) record->note = pulse->note;
    *pulse = Pulse();
    pulse->pid = pid;
    pulse->ticks = ticks;
    pulse->cpu_ns = cpu_ns;
  } else if (cpu_ns > pulse->cpu_ns + silence_ns / 2) {
    suspect(record, pid, pulse, silence_ns / 2, entered);
  }
}

/// A record of the library has its process's number in its own pid namespace, which others may have here; the
/// recorder's own rows, without an engine, have the number here.
void Heartbeat::find(const ProcessRecord& record, uint32_t unit, bool living, Pulse* pulse,
                     NotEntered* entered) {
  if (living)
    pulse->pid = entered->find_process(unit, record);
  else if (record.engine[0] == '\0')
    pulse->pid = __atomic_load_n(&record.pid, __ATOMIC_RELAXED);
  pulse->gone = living && pulse->pid == 0;
}

void Heartbeat::poll(ProfileFile* file, const TrustedProcesses& trusted, NotEntered* entered) {
  // A program image that another one followed in the same process has ended. Where we are not in that one,
  // what looked like a signal taken was the exec.
  std::unordered_map<pid_t, bool> images;
  const uint64_t period_ns = load_relaxed(&file->header().period_ns);
  for_each_process(*file, kMostProcessRecords, [&](ProcessRecord& record, uint32_t unit) {
    if (pulses_.size() > kMostPulses) return true;
    Pulse& pulse = pulses_[unit];
    const bool living = record.signal != 0 && (record.flags & kProcessExited) == 0;
    if (pulse.pid == 0 && !pulse.gone) find(record, unit, living, &pulse, entered);
    if (!trusted.in_tree(pulse.pid)) return false;
    auto [image, last] = images.try_emplace(pulse.pid, record.engine[0] != '\0');
    if (!last && !image->second && pulse.noted) record.note = pulse.note;
    if (last && living && !pulse.gone) update(&record, pulse.pid, &pulse, period_ns, *entered);
    return false;
  });
}

}  // namespace pctally
