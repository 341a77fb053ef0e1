#include "recorder/cpu_account.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/kernel/proc_file.h"
#include "base/time_ns.h"
#include "histfile/profile_file.h"
#include "perf/process_tree.h"

namespace pctally {
namespace {

std::string text_of(const std::string& path) {
  char text[4096];
  return {text, read_proc_file(path.c_str(), text, sizeof text)};
}

std::optional<CpuTime> time_of_process(pid_t pid, const ProcStat& stat, bool children) {
  const auto used = cpu_ns_of(pid);
  if (!used) return {};
  CpuTime time;
  time.system_ns = std::min(*used, clock_ticks_to_ns(stat.system));
  time.user_ns = *used - time.system_ns;
  if (children) {
    time.user_ns += clock_ticks_to_ns(stat.children_user);
    time.system_ns += clock_ticks_to_ns(stat.children_system);
  }
  return time;
}

uint64_t value_after(const std::string& text, const char* name) {
  size_t at = text.find(name);
  return at == std::string::npos ? 0 : strtoull(text.c_str() + at + strlen(name), nullptr, 10);
}

std::optional<CpuTime> time_of_cgroup(const std::string& directory) {
  std::string stat = text_of(directory + "/cpu.stat");
  if (stat.find("usage_usec") == std::string::npos) {  // version 1
    std::string user = text_of(directory + "/cpuacct.usage_user");
    if (user.empty()) return {};
    return CpuTime{strtoull(user.c_str(), nullptr, 10),
                   strtoull(text_of(directory + "/cpuacct.usage_sys").c_str(), nullptr, 10)};
  }
  uint64_t total = value_after(stat, "usage_usec ") * 1000;
  uint64_t system = std::min(total, value_after(stat, "system_usec ") * 1000);
  return CpuTime{total - system, system};
}

uint64_t stolen_so_far_ns() { return clock_ticks_to_ns(read_machine_ticks().steal); }

std::optional<MachineReading> read_machine() {
  const MachineTicks ticks = read_machine_ticks();
  if (ticks.user + ticks.nice + ticks.system == 0) return {};
  return MachineReading{monotonic_ns(), ticks};
}

uint64_t growth(uint64_t from, uint64_t to) { return to > from ? to - from : 0; }

/// Divided as these two are.
CpuTime divided(uint64_t total_ns, uint64_t user, uint64_t system) {
  const double share =
      user + system == 0 ? 0 : static_cast<double>(system) / static_cast<double>(user + system);
  const auto system_ns = std::min(total_ns, static_cast<uint64_t>(static_cast<double>(total_ns) * share));
  return {total_ns - system_ns, system_ns};
}

}  // namespace

CpuTime used_between(const MachineReading& first, const MachineReading& last, long cpus) noexcept {
  const MachineTicks &from = first.ticks, &to = last.ticks;
  const uint64_t all = growth(first.wall_ns, last.wall_ns) * static_cast<uint64_t>(std::max(cpus, 1l));
  const uint64_t away = clock_ticks_to_ns(growth(from.idle, to.idle) + growth(from.wait, to.wait) +
                                          growth(from.steal, to.steal));
  const uint64_t in_user = growth(from.user + from.nice, to.user + to.nice);
  const uint64_t in_system = growth(from.system + from.irq + from.softirq, to.system + to.irq + to.softirq);
  const uint64_t busy = growth(away, all);
  return divided(busy, in_user, in_system);
}

CpuTime cpu_time_of(pid_t pid, bool children) {
  ProcStat stat;
  if (!read_proc_stat(pid, &stat)) return {};
  return time_of_process(pid, stat, children).value_or(CpuTime{});
}

void CpuAccount::count_tree(const Target& target) {
  if (!target.is_process_tree() || !may_observe_machine()) return;
  if (auto clock = TaskClock::open(target, children_)) tree_ = std::move(*clock);
}

void CpuAccount::start(const Target& target) {
  target_ = target;
  if (children_) older_.find(target.processes);
  for (pid_t pid : target.processes) meet(pid);
  known_ = true;
  cpus_ = sysconf(_SC_NPROCESSORS_ONLN);
  tree_first_ns_ = tree_ ? tree_->ns() : 0;
  poll();
  first_ = last_;
  machine_first_ = machine_last_;
  stolen_first_ns_ = stolen_last_ns_ = stolen_so_far_ns();
}

void CpuAccount::meet(pid_t pid) {
  Process process;
  process.pid = pid;
  ProcStat stat;
  process.gone = !read_proc_stat(pid, &stat);
  if (!process.gone) process.last = time_of_process(pid, stat, children_).value_or(CpuTime{});
  process.first = process.last;
  process.started = stat.started;
  process.of_another = std::ranges::count(target_.processes, stat.parent) != 0;
  processes_.push_back(process);
}

/// The number of one that has gone may be given again.
void CpuAccount::read_processes() {
  for (Process& process : processes_) {
    ProcStat stat;
    if (process.gone) continue;
    process.gone = !read_proc_stat(process.pid, &stat) || stat.started != process.started;
    child_ended_ = child_ended_ || (process.gone && process.of_another);
    if (process.gone) continue;
    if (const auto time = time_of_process(process.pid, stat, children_)) process.last = *time;
  }
}

/// When an older child ends, what it had used before the account is added to its parent's clock. That happens
/// between the reading before the last poll and the second reading of this one: what all clocks have grown by
/// from one to the other is not counted.
void CpuAccount::poll_processes() {
  read_processes();
  const uint64_t before_ns = std::exchange(polled_ns_, growth_of_processes().total());
  if (!older_.have_ended() && !child_ended_) return;
  child_ended_ = false;
  read_processes();
  polled_ns_ = growth_of_processes().total();
  doubtful_ns_ += growth(before_ns, polled_ns_);
}

void CpuAccount::poll() {
  poll_processes();
  if (tree_) tree_last_ns_ = tree_->ns();
  if (target_.is_process_tree()) return;
  if (target_.kind == Target::Kind::kCgroup) {
    if (const auto time = time_of_cgroup(target_.cgroup)) last_ = time;
    known_ = known_ && last_;  // a group that is gone keeps its last reading
    return;
  }
  const auto reading = read_machine();
  if (reading) machine_last_ = reading;
  known_ = known_ && reading.has_value() && cpus_ == sysconf(_SC_NPROCESSORS_ONLN);
}

void CpuAccount::end() {
  poll();
  stolen_last_ns_ = stolen_so_far_ns();
}

uint64_t CpuAccount::stolen_ns() const noexcept { return growth(stolen_first_ns_, stolen_last_ns_); }

/// For a command, the larger of wait4's time and the engine's count: perf's, or what processes noted of
/// themselves. perf misses processes that gain privileges at their exec; wait4 misses children that nobody
/// waited for. A difference within the stolen time is ignored. For running processes, perf's count, or their
/// clocks if these have more: perf misses the end of each process, which is a third of the time where
/// processes do little else.
CpuTime CpuAccount::used(const CpuTime* command, std::optional<uint64_t> engine_ns) const {
  CpuTime time = command != nullptr ? *command : by_clocks();
  if (!tree_ && !engine_ns) return time;
  uint64_t counted = engine_ns.value_or(growth(tree_first_ns_, tree_last_ns_));
  if (command != nullptr && counted <= command->total() + stolen_ns()) return time;
  const uint64_t rounding =
      processes_.size() * clock_ticks_to_ns(2);  // of the children's user and system time
  const bool is_whole = command == nullptr && (older_.known() || !children_);
  if (is_whole && time.total() > counted + rounding) return time;
  time.system_ns = std::min(time.system_ns, counted);
  time.user_ns = counted - time.system_ns;
  return time;
}

CpuTime CpuAccount::by_clocks() const {
  if (machine_first_ && machine_last_) return used_between(*machine_first_, *machine_last_, cpus_);
  if (first_ && last_)
    return {growth(first_->user_ns, last_->user_ns), growth(first_->system_ns, last_->system_ns)};
  const CpuTime time = growth_of_processes();
  return divided(growth(doubtful_ns_, time.total()), time.user_ns, time.system_ns);
}

CpuTime CpuAccount::growth_of_processes() const {
  CpuTime sum;
  for (const Process& process : processes_) {
    // Two readings may divide the time differently between the two kinds; their sum only grows.
    uint64_t total = growth(process.first.total(), process.last.total());
    uint64_t system = std::min(total, growth(process.first.system_ns, process.last.system_ns));
    sum.system_ns += system;
    sum.user_ns += total - system;
  }
  return sum;
}

}  // namespace pctally
