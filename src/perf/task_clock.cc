#include "perf/task_clock.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "base/perf_event.h"
#include "perf/descriptor_limit.h"
#include "perf/process_tree.h"

namespace pctally {
namespace {

constexpr size_t kDescriptorsKept = 64;

UniqueFd open_counter(uint32_t config, pid_t tid, int cpu, bool at_exec) noexcept {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = config;
  attr.inherit = tid > 0;
  attr.disabled = attr.enable_on_exec = at_exec;
  attr.exclude_kernel = tid > 0;  // asks for no privilege; a clock runs in kernel mode too
  return open_perf_event(attr, tid, cpu);
}

size_t descriptor_limit() noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

}  // namespace

Result<TaskClock> TaskClock::open(const Target& target) {
  TaskClock clock;
  if (!target.is_process_tree()) return fail(ENOTSUP, "not a tree of processes");
  for (pid_t pid : target.processes) {
    auto added = target.kind == Target::Kind::kCommand ? clock.add_thread(pid, true) : clock.add_process(pid);
    if (!added) return std::unexpected(added.error());
  }
  return clock;
}

/// Repeated until no thread is new: one without an event may have started it.
Result<void> TaskClock::add_process(pid_t pid) {
  for (size_t before = SIZE_MAX; before != threads_.size();) {
    before = threads_.size();
    for (pid_t tid : threads_of(pid)) {
      if (std::find(threads_.begin(), threads_.end(), tid) != threads_.end()) continue;
      auto added = add_thread(tid, false);
      if (!added && added.error().code != ESRCH) return added;
    }
  }
  return {};
}

Result<void> TaskClock::add_thread(pid_t tid, bool at_exec) {
  if (events_.size() + kDescriptorsKept >= descriptor_limit()) return fail(EMFILE, "%s", kRaiseFileLimit);
  UniqueFd event = open_counter(PERF_COUNT_SW_TASK_CLOCK, tid, -1, at_exec);
  if (!event.valid()) return fail(errno, "perf_event_open: %s", strerror(errno));
  events_.push_back(std::move(event));
  threads_.push_back(tid);
  return {};
}

uint64_t TaskClock::ns() const noexcept {
  uint64_t sum = 0;
  for (const UniqueFd& event : events_) {
    uint64_t value = 0;
    if (read(event.get(), &value, sizeof value) == sizeof value) sum += value;
  }
  return sum;
}

bool may_observe_machine() noexcept { return open_counter(PERF_COUNT_SW_DUMMY, -1, 0, false).valid(); }

}  // namespace pctally
