// The CPU time a target used, taken outside every engine: what sampled, lost and unsampled have to add up to.
#pragma once
#include <stdint.h>

#include "engine/target.h"

namespace pctally {

struct CpuTime {
  uint64_t user_ns = 0;
  uint64_t system_ns = 0;
  [[nodiscard]] uint64_t total() const noexcept { return user_ns + system_ns; }
};

/// Where it comes from:
///   processes  their CPU clocks, to the nanosecond, and the time of children they have waited for, to 10 ms;
///   of
///              one that ends, what it had used at the last look
///   cgroup     cpu.stat of the group
///   machine    the time of all CPUs less their idle and stolen time, to 10 ms per CPU; user and system in
///   the
///              proportion /proc/stat tells
class CpuAccount {
 public:
  /// Starts the account at the present moment.
  void start(const Target& target);

  /// A look: call it now and then, or the last of a process that ends is missed.
  void look();

  /// Used from start() until the last look.
  [[nodiscard]] CpuTime used() const;

  /// False if the system does not tell.
  [[nodiscard]] bool known() const noexcept { return known_; }

 private:
  struct Process {
    pid_t pid;
    CpuTime first;
    CpuTime last;
  };
  Target target_;
  std::vector<Process> processes_;
  CpuTime first_;
  CpuTime last_;
  bool known_ = false;
};

}  // namespace pctally
