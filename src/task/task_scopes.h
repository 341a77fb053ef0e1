// Finds the scope of each tick: its program, thread or control group. Engines outside the processes report
// forks, execs and renames; the rest comes from /proc.
#pragma once
#include <sys/types.h>

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "path/scopes.h"
#include "perf/record.h"

namespace pctally {

struct ThreadId {
  pid_t pid = 0;
  pid_t tid = 0;
};

/// What is known of one process.
struct TaskScope {
  struct Thread {
    std::string name;
    uint32_t unit = 0;  ///< of its scope; 0: not known yet
  };
  uint32_t program = 0;   ///< Scopes::program_of(); 0: not known
  bool asked = false;     ///< it was found out whether it is a thread of the kernel
  uint32_t unit = 0;      ///< of the scope of its program, or of its group
  uint64_t asked_ns = 0;  ///< when its group was read
  std::string group;
  std::unordered_map<pid_t, Thread> threads;  ///< by thread alone
  std::deque<pid_t> ended;                    ///< threads, the oldest first
};

/// The most specific path in /proc/PID/cgroup: that of the unified hierarchy, or, where that is the root or
/// is not there, the longest of the others.
std::string group_in(std::string_view text);

class TaskScopes {
 public:
  /// REQUIRES: `file` has call paths, and outlives this.
  TaskScopes(ProfileFile* file, ScopeKind kind, size_t most = kMostScopes)
      : kind_(kind), scopes_(file, most) {}

  /// Reads the control group of a process now, for it may be gone at its first tick.
  void meet(pid_t pid, TaskScope* task) const;

  /// Reads the names of its threads.
  void adopt(const std::vector<pid_t>& threads, TaskScope* task) const;

  /// The first file that is mapped as a program is its program.
  void set_program(const ObjectIdentity& program, TaskScope* task);

  void rename(pid_t thread, std::string_view name, TaskScope* task) const;

  /// A thread has the name of the one that starts it.
  void start_thread(pid_t thread, pid_t by, TaskScope* task) const;
  void end_thread(pid_t thread, TaskScope* task) const;

  /// Returns what is known of a process that `fork`, a FORK record, reports. Reads the parent's group if it
  /// is not known: the child may be gone before its own is read.
  TaskScope forked(TaskScope* parent, const PerfRecord& fork) const;

  /// Returns what is known behind its exec: its group alone.
  static TaskScope executed(const TaskScope& before);

  /// Unit of the scope of a tick; 0: not known.
  uint32_t scope_of(ThreadId thread, TaskScope* task);

 private:
  uint32_t program_of(pid_t pid, TaskScope* task);
  uint32_t scope_of_thread(ThreadId thread, TaskScope* task);
  uint32_t scope_of_group(pid_t pid, TaskScope* task);

  ScopeKind kind_;
  Scopes scopes_;
};

}  // namespace pctally
