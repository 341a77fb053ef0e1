// The options of a recording.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "histfile/call_paths.h"
#include "histfile/layout.h"
#include "perf/event.h"

namespace pctally {

inline constexpr uint64_t kMostEvents = 1000000000000u;  ///< of one tick: what a reader believes

struct RecordOptions {
  std::vector<std::string> command;
  std::string program;           ///< the file that will be executed
  std::vector<pid_t> processes;  ///< instead of a command: these
  std::vector<pid_t> by_number;  ///< of these, the ones given by number: they must exist
  bool machine = false;          ///< instead of a command: everything
  std::string cgroup;            ///< instead of a command: this group's directory
  uint64_t for_ns = 0;           ///< how long; 0: to the end
  std::string engine;            ///< empty: the first of the ladder that works
  std::string path;              ///< empty: pctally.<what>.<pid>.pct
  Event event = kCpuTime;        ///< what a tick stands for
  uint64_t period = 1000000;     ///< ns of CPU time, or events, of one tick
  std::string hertz_text;        ///< -F as it was typed; empty: not given
  std::string period_text;       ///< -c
  bool overwrite = false;
  bool randomise = true;
  bool children = true;
  std::optional<ScopeKind> scope{};  ///< keep ticks apart by these; with `paths` at least by program
  bool paths = false;                ///< call paths, too
  uint64_t path_bytes = 0;  ///< of each of their trees, kLeastPathBytes to kMostPathBytes; 0: PathLimits
  bool wait = false;        ///< a command: until the last process that it started has ended
  pid_t top = 0;            ///< the pctally top that reads our messages; 0: none
};

}  // namespace pctally
