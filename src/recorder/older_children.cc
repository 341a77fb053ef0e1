#include "recorder/older_children.h"

#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "base/kernel/proc_file.h"
#include "base/time_ns.h"
#include "perf/process_tree.h"
#include "recorder/cpu_account.h"

namespace pctally {
namespace {

/// A reading of one takes some 40 µs, ten times a second.
constexpr size_t kMostChildren = 64;

bool shows_children(pid_t pid) {
  return access(fmt::format("{}/task/{}/children", directory_of(pid), pid).c_str(), R_OK) == 0;
}

}  // namespace

void OlderChildren::find(const std::vector<pid_t>& processes) {
  processes_ = {processes.begin(), processes.end()};
  children_.clear();
  known_ = std::ranges::all_of(processes, shows_children);
  for (const pid_t process : processes)
    for (const pid_t pid : process_tree(process))
      if (pid != process) meet(pid);
  forget_too_many();
}

uint64_t OlderChildren::poll() {
  meet_descendants();
  const auto cpus = static_cast<uint64_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1l));
  uint64_t gone_ns = 0;
  for (auto next = children_.begin(); next != children_.end();) {
    const auto at = next++;
    const Child last = at->second;
    if (read(at->first, &at->second)) continue;
    gone_ns += last.used_ns + (monotonic_ns() - last.read_ns) * cpus;
    children_.erase(at);
  }
  return gone_ns;
}

/// What they wait for comes into their clocks, and with these into the processes'.
void OlderChildren::meet_descendants() {
  std::vector<pid_t> descendants;
  for (const auto& [pid, child] : children_)
    if (!processes_.contains(pid))
      std::ranges::copy(process_tree(pid, processes_), std::back_inserter(descendants));
  for (const pid_t pid : descendants) meet(pid);
  forget_too_many();
}

void OlderChildren::meet(pid_t pid) {
  Child child;
  if (!children_.contains(pid) && read(pid, &child)) children_[pid] = child;
}

void OlderChildren::forget_too_many() {
  known_ = known_ && children_.size() <= kMostChildren;
  if (!known_) children_.clear();
}

/// False if it is gone: another process may have its number.
bool OlderChildren::read(pid_t pid, Child* child) {
  ProcStat stat;
  const uint64_t used_ns = cpu_time_of(pid).total();
  if (!read_proc_stat(pid, &stat) || (child->read_ns != 0 && stat.started != child->started)) return false;
  *child = {stat.started, std::max(child->used_ns, used_ns), monotonic_ns()};
  return true;
}

}  // namespace pctally
