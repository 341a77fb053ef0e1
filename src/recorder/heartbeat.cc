#include "recorder/heartbeat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <unordered_set>

#include "histfile/histogram.h"
#include "perf/process_tree.h"

namespace pctally {
namespace {

constexpr uint64_t kShortestSilenceNs = 50000000;

/// The kernel's number for the CPU clock of a process.
clockid_t clock_of(pid_t pid) { return static_cast<clockid_t>((~static_cast<unsigned>(pid) << 3) | 2u); }

std::string file_text(const std::string& path) {
  char text[4096];
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ssize_t bytes = fd.valid() ? read(fd.get(), text, sizeof text) : 0;
  return {text, bytes > 0 ? static_cast<size_t>(bytes) : 0};
}

std::string proc_of(pid_t pid) { return "/proc/" + std::to_string(pid); }

uint64_t user_ns(pid_t pid) {
  std::string stat = file_text(proc_of(pid) + "/stat");
  size_t name_end = stat.rfind(')');
  unsigned long long ticks = 0;
  if (name_end == std::string::npos ||
      sscanf(stat.c_str() + name_end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu", &ticks) != 1)
    return 0;
  return ticks * (1000000000u / static_cast<uint64_t>(sysconf(_SC_CLK_TCK)));
}

bool thread_blocks(pid_t pid, pid_t thread, uint32_t signal) {
  std::string status = file_text(proc_of(pid) + "/task/" + std::to_string(thread) + "/status");
  size_t line = status.find("SigBlk:");
  if (line == std::string::npos) return true;
  return (strtoull(status.c_str() + line + strlen("SigBlk:"), nullptr, 16) >> (signal - 1) & 1) != 0;
}

bool all_threads_block(pid_t pid, uint32_t signal) {
  std::vector<pid_t> threads = threads_of(pid);
  return std::all_of(threads.begin(), threads.end(),
                     [&](pid_t thread) { return thread_blocks(pid, thread, signal); });
}

}  // namespace

void Heartbeat::suspect(ProcessRecord* record, Pulse* pulse, uint64_t silence_ns) {
  uint64_t now_ns = user_ns(record->pid);
  if (!pulse->suspected) {
    pulse->suspected = true;
    pulse->user_ns = now_ns;
  } else if (now_ns > pulse->user_ns + silence_ns && !all_threads_block(record->pid, record->signal)) {
    if (record->note != ProcessNote::kSignalTaken) pulse->note = record->note;
    record->note = ProcessNote::kSignalTaken;
  }
}

void Heartbeat::feel(ProcessRecord* record, Pulse* pulse, uint64_t period_ns) {
  timespec used;
  uint64_t ticks = load_relaxed(&record->ticks);
  pulse->gone = clock_gettime(clock_of(record->pid), &used) != 0;
  if (pulse->gone) return;
  uint64_t cpu_ns = to_ns(used);
  uint64_t silence_ns = std::max(3 * period_ns, kShortestSilenceNs);
  if (ticks != pulse->ticks || pulse->cpu_ns == 0) {
    if (record->note == ProcessNote::kSignalTaken) record->note = pulse->note;
    *pulse = {ticks, cpu_ns, 0, ProcessNote::kNone, false, false};
  } else if (cpu_ns > pulse->cpu_ns + silence_ns / 2) {
    suspect(record, pulse, silence_ns / 2);
  }
}

void Heartbeat::look(ProfileFile* file) {
  Pool pool = file->pool();
  std::unordered_set<pid_t> seen;  // a program image that another followed in the same process has ended
  for (uint32_t unit = __atomic_load_n(&file->header().processes, __ATOMIC_ACQUIRE);
       pool_holds(pool, unit, sizeof(ProcessRecord) / kUnitBytes);) {
    auto* record = pool_at<ProcessRecord>(pool, unit);
    Pulse& pulse = pulses_[unit];
    bool lives = !pulse.gone && record->signal != 0 && (record->flags & kProcessExited) == 0;
    if (lives && seen.insert(record->pid).second) feel(record, &pulse, file->header().period_ns);
    unit = record->next;
  }
}

}  // namespace pctally
