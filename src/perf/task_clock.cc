#include "perf/task_clock.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "base/kernel/perf_event.h"
#include "perf/descriptor_limit.h"
#include "perf/process_tree.h"

namespace pctally {
namespace {

constexpr size_t kDescriptorsKept = 64;

UniqueFd open_counter(uint32_t config, pid_t tid, int cpu, bool at_exec, bool children) noexcept {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = config;
  attr.inherit = tid > 0;
  attr.inherit_thread = tid > 0 && !children;
  attr.disabled = attr.enable_on_exec = at_exec;
  attr.exclude_kernel = tid > 0;  // asks for no privilege; a clock runs in kernel mode too
  return open_perf_event(attr, tid, cpu);
}

size_t descriptor_limit() noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

}  // namespace

Result<TaskClock> TaskClock::open(const Target& target, bool children) {
  TaskClock clock;
  if (!target.is_process_tree()) return fail(ENOTSUP, "not a tree of processes");
  const auto add = [&clock, children](const std::vector<pid_t>& threads, bool at_exec) -> Result<void> {
    clock.events_.clear();
    for (pid_t thread : threads)
      if (auto added = clock.add_thread(thread, at_exec, children);
          !added && (at_exec || added.error().code != ESRCH))
        return added;
    return {};
  };
  const auto running = [&add](const std::vector<pid_t>& threads) { return add(threads, false); };
  const bool command = target.kind == Target::Kind::kCommand;
  if (auto added = command ? add(target.processes, true) : for_threads_at_rest(target.processes, running);
      !added)
    return std::unexpected(added.error());
  return clock;
}

Result<void> TaskClock::add_thread(pid_t tid, bool at_exec, bool children) {
  if (events_.size() + kDescriptorsKept >= descriptor_limit()) return fail(EMFILE, "%s", kRaiseFileLimit);
  UniqueFd event = open_counter(PERF_COUNT_SW_TASK_CLOCK, tid, -1, at_exec, children);
  if (!event.valid()) return fail(errno, "perf_event_open: %s", strerror(errno));
  events_.push_back(std::move(event));
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

bool may_observe_machine() noexcept { return open_counter(PERF_COUNT_SW_DUMMY, -1, 0, false, false).valid(); }

}  // namespace pctally
