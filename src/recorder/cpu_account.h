// The CPU time a target used, taken outside every engine: what sampled, lost and unsampled have to add up to.
#pragma once
#include <stdint.h>

#include <optional>
#include <vector>

#include "base/kernel/proc_file.h"
#include "perf/target.h"
#include "perf/task_clock.h"
#include "recorder/older_children.h"

namespace pctally {

struct CpuTime {
  uint64_t user_ns = 0;
  uint64_t system_ns = 0;
  [[nodiscard]] uint64_t total() const noexcept { return user_ns + system_ns; }
};

/// What a process has used that lives, or that nobody has waited for yet; nothing if it is gone. With
/// `children`: with those that it has waited for.
[[nodiscard]] CpuTime cpu_time_of(pid_t pid, bool children = true);

/// A reading of the clocks of the whole machine.
struct MachineReading {
  uint64_t wall_ns = 0;  ///< CLOCK_MONOTONIC: like the others it does not go on while the machine sleeps
  MachineTicks ticks;
};

/// What `cpus` CPUs used between two readings: the time that passed less what they were idle or away. Idle
/// time is measured; the other columns of /proc/stat are counted in ticks, good enough to divide the sum into
/// user and system.
/// Only growth counts: the idle column keeps that of CPUs that were switched off, and lacks that of CPUs
/// before they came.
CpuTime used_between(const MachineReading& first, const MachineReading& last, long cpus) noexcept;

/// Where it comes from:
///   processes  the kernel's count of them and of all they start, where that may be asked for; else (and
///              where these have more) their CPU clocks, to the nanosecond, and the time of children they
///              have waited for, to 10 ms, but for the time between two readings in which an older child
///              ended; of one that ends, what it had used at the last reading
///   cgroup     cpu.stat of the group; of one that is removed, what it had used at the last reading
///   machine    time of all CPUs minus idle and stolen, to 10 ms per CPU; split into user and
///              system as in /proc/stat
class CpuAccount {
 public:
  /// Without: it is the account of the target's processes alone. Before all else.
  void follow_children(bool follow) { children_ = follow; }

  /// Lets the kernel count a tree of processes, if this process may observe every process. Before start(),
  /// and before privileges are given up; for engines that have no such count themselves.
  void count_tree(const Target& target);

  /// Starts the account at the present moment.
  void start(const Target& target);

  /// Reads the clocks. Call it now and then, or the last of a process that ends is missed.
  void poll();

  /// The last reading.
  void end();

  /// Used from start() until the last reading. `command`: what a command's process has used by its end (with
  /// its children, as wait4(2) says), else null. `engine_ns`: the engine's own count, where it has one, for
  /// that of count_tree().
  [[nodiscard]] CpuTime used(const CpuTime* command, std::optional<uint64_t> engine_ns = {}) const;

  /// What count_tree() has counted so far; 0 if it does not.
  [[nodiscard]] uint64_t tree_ns() const noexcept { return tree_ ? tree_->ns() : 0; }

  /// Taken from the whole machine by its host from start() to end(). perf's clocks run on meanwhile: a target
  /// counted by them is charged with its part of it.
  [[nodiscard]] uint64_t stolen_ns() const noexcept;

  /// No count is needed after all.
  void forget_tree() { tree_.reset(); }

  /// False if the system does not tell.
  [[nodiscard]] bool known() const noexcept { return known_; }

 private:
  struct Process {
    pid_t pid = 0;
    bool of_another = false;  ///< of these, which is its parent
    bool gone = false;
    uint64_t started = 0;  ///< ProcStat::started
    CpuTime first;
    CpuTime last;
  };
  void meet(pid_t pid);
  void read_processes();
  void poll_processes();
  [[nodiscard]] CpuTime growth_of_processes() const;
  [[nodiscard]] CpuTime by_clocks() const;

  Target target_;
  bool children_ = true;
  OlderChildren older_;
  bool child_ended_ = false;  ///< of the processes, one that is another's; since the last poll
  uint64_t doubtful_ns_ = 0;  ///< what the processes' clocks have grown by while older children ended
  uint64_t polled_ns_ = 0;    ///< what they had grown by at the last poll
  std::optional<TaskClock> tree_;
  uint64_t tree_first_ns_ = 0;
  uint64_t tree_last_ns_ = 0;
  uint64_t stolen_first_ns_ = 0;
  uint64_t stolen_last_ns_ = 0;
  std::vector<Process> processes_;
  std::optional<CpuTime> first_;  ///< of a control group
  std::optional<CpuTime> last_;
  std::optional<MachineReading> machine_first_;
  std::optional<MachineReading> machine_last_;
  bool known_ = false;
  long cpus_ = 0;  ///< at the start: with more or less of them the machine's time is not known
};

}  // namespace pctally
