#include "recorder/older_children.h"

#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>

#include "base/kernel/proc_file.h"
#include "perf/process_tree.h"

namespace pctally {
namespace {

/// They are looked for ten times a second, which takes some 10 µs each.
constexpr size_t kMostChildren = 64;

bool shows_children(pid_t pid) {
  return access(fmt::format("{}/task/{}/children", directory_of(pid), pid).c_str(), R_OK) == 0;
}

}  // namespace

/// One that /proc hides, of another user, may not be followed.
void OlderChildren::find(const std::vector<pid_t>& processes) {
  started_.clear();
  known_ = std::ranges::all_of(processes, shows_children);
  for (const pid_t process : processes)
    for (const pid_t child : children_of(process)) {
      ProcStat stat;
      if (std::ranges::count(processes, child) != 0 || started_.size() > kMostChildren) continue;
      if (read_proc_stat(child, &stat))
        started_[child] = stat.started;
      else if (has_process(child))
        known_ = false;
    }
  known_ = known_ && started_.size() <= kMostChildren;
  if (!known_) started_.clear();
}

bool OlderChildren::have_ended() {
  return std::erase_if(started_, [](const auto& child) { return !is_there(child.first, child.second); }) != 0;
}

}  // namespace pctally
