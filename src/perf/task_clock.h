// CPU time of processes and of everything they start, as the kernel counts it: also that of descendants
// nobody waits for, which no rusage holds. One counting event per thread; nothing is interrupted.
#pragma once
#include <stdint.h>

#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "perf/target.h"

namespace pctally {

class TaskClock {
 public:
  /// For a command: from its exec on. For running processes: from now on. Without `children`: of the
  /// processes alone, from Linux 5.13 on. Errors: errno of perf_event_open(2); EMFILE also if too few
  /// descriptors would be left for the rest of the work; ENOTSUP for a target that is no tree of processes.
  static Result<TaskClock> open(const Target& target, bool children = true);

  /// Since then, of the living and the dead.
  [[nodiscard]] uint64_t ns() const noexcept;

 private:
  Result<void> add_thread(pid_t tid, bool at_exec, bool children);

  std::vector<UniqueFd> events_;
};

/// True if this process may open events that see every process.
bool may_observe_machine() noexcept;

}  // namespace pctally
