#include "recorder/engine/heartbeat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "base/proc_file.h"
#include "histfile/chain.h"
#include "perf/process_tree.h"

namespace pctally {
namespace {

constexpr uint64_t kShortestSilenceNs = 50000000;
constexpr size_t kMostPulses = 2 * kMostProcessRecords;  ///< of a file that makes up ever new ones

/// The kernel's number for the CPU clock of a process.
clockid_t cpu_clock_of(pid_t pid) { return static_cast<clockid_t>((~static_cast<unsigned>(pid) << 3) | 2u); }

std::string file_text(const std::string& path) {
  char text[4096];
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ssize_t bytes = fd.valid() ? read(fd.get(), text, sizeof text) : 0;
  return {text, bytes > 0 ? static_cast<size_t>(bytes) : 0};
}

uint64_t user_ns(pid_t pid) {
  ProcStat stat;
  if (!read_proc_stat(pid, &stat)) return 0;
  return stat.user * (1000000000u / static_cast<uint64_t>(sysconf(_SC_CLK_TCK)));
}

bool thread_blocks(pid_t pid, pid_t thread, uint32_t signal) {
  std::string status = file_text(directory_of(pid) + "/task/" + std::to_string(thread) + "/status");
  size_t line = status.find("SigBlk:");
  if (line == std::string::npos) return true;
  if (signal - 1 >= 64) return true;
  return (strtoull(status.c_str() + line + strlen("SigBlk:"), nullptr, 16) >> (signal - 1) & 1) != 0;
}

bool all_threads_block(pid_t pid, uint32_t signal) {
  std::vector<pid_t> threads = threads_of(pid);
  return std::all_of(threads.begin(), threads.end(),
                     [&](pid_t thread) { return thread_blocks(pid, thread, signal); });
}

}  // namespace

void Heartbeat::suspect(ProcessRecord* record, pid_t pid, Pulse* pulse, uint64_t silence_ns) {
  uint64_t now_ns = user_ns(pid);
  const uint32_t signal = __atomic_load_n(&record->signal, __ATOMIC_RELAXED);
  if (!pulse->suspected) {
    pulse->suspected = true;
    pulse->user_ns = now_ns;
  } else if (now_ns > pulse->user_ns + silence_ns && !all_threads_block(pid, signal)) {
    if (record->note != ProcessNote::kSignalTaken) pulse->note = record->note;
    record->note = ProcessNote::kSignalTaken;
    pulse->noted = true;
  }
}

void Heartbeat::update(ProcessRecord* record, pid_t pid, Pulse* pulse, uint64_t period_ns) {
  timespec used;
  uint64_t ticks = load_relaxed(&record->ticks);
  pulse->gone = clock_gettime(cpu_clock_of(pid), &used) != 0;
  if (pulse->gone) return;
  uint64_t cpu_ns = to_ns(used);
  uint64_t silence_ns = std::max(3 * period_ns, kShortestSilenceNs);
  if (ticks != pulse->ticks || pulse->cpu_ns == 0) {
    if (record->note == ProcessNote::kSignalTaken) record->note = pulse->note;
    *pulse = {ticks, cpu_ns};
  } else if (cpu_ns > pulse->cpu_ns + silence_ns / 2) {
    suspect(record, pid, pulse, silence_ns / 2);
  }
}

void Heartbeat::poll(ProfileFile* file, const TrustedProcesses& trusted) {
  // A program image that another one followed in the same process has ended. Where we are not in that one,
  // what looked like a signal taken was the exec.
  std::unordered_map<pid_t, bool> images;
  const uint64_t period_ns = load_relaxed(&file->header().period_ns);
  for_each_process(*file, kMostProcessRecords, [&](ProcessRecord& record, uint32_t unit) {
    const pid_t pid = __atomic_load_n(&record.pid, __ATOMIC_RELAXED);
    if (!trusted.in_tree(pid) || pulses_.size() > kMostPulses) return false;
    Pulse& pulse = pulses_[unit];
    const bool living = record.signal != 0 && (record.flags & kProcessExited) == 0;
    auto [image, last] = images.try_emplace(pid, record.engine[0] != '\0');
    if (!last && !image->second && pulse.noted) record.note = pulse.note;
    if (last && living && !pulse.gone) update(&record, pid, &pulse, period_ns);
    return false;
  });
}

}  // namespace pctally
