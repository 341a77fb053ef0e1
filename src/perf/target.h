// The processes that a recording observes.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace pctally {

struct Target {
  enum class Kind : unsigned char {
    kCommand,    ///< a process of ours that waits just before its exec, and everything it will start
    kProcesses,  ///< running processes, and everything they will start
    kMachine,    ///< every process there is or will be
    kCgroup,     ///< every process that is or will be in a control group
  };
  Kind kind = Kind::kCommand;
  std::vector<pid_t> processes;  ///< kCommand: the one; kProcesses: all
  std::string cgroup;            ///< kCgroup: its directory

  static Target command(pid_t pid) { return {Kind::kCommand, {pid}, {}}; }
  static Target running(std::vector<pid_t> pids) { return {Kind::kProcesses, std::move(pids), {}}; }
  static Target machine() { return {Kind::kMachine, {}, {}}; }
  static Target control_group(std::string directory) { return {Kind::kCgroup, {}, std::move(directory)}; }

  /// A descriptor of the control group's directory. Errors: errno of open(2). REQUIRES: kCgroup.
  [[nodiscard]] Result<UniqueFd> open_cgroup() const;

  /// True if it is known by its processes; the others are known by where they run.
  [[nodiscard]] bool is_process_tree() const { return kind == Kind::kCommand || kind == Kind::kProcesses; }
};

}  // namespace pctally
