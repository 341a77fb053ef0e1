// The line before a recording: what is recorded, and whether kernel code is in it.
#pragma once
#include <string>

#include "recorder/engine/engine.h"
#include "recorder/record_options.h"

namespace pctally {

/// Under 120 characters. `kernel_observed`: ticks in kernel mode are counted.
std::string announcement(const RecordOptions& options, const Engine& engine, bool kernel_observed);

/// "nginx (4711)" or "nginx (4711) and 2 more".
std::string process_names(const std::vector<pid_t>& processes);

/// What to say of descendants of `processes` that run already and are not among them; empty if there are
/// none.
std::string left_out_text(const std::vector<pid_t>& processes);

/// What to say of processes that a command has left behind: that they are no longer recorded, and how
/// they can be.
std::string left_behind_text(const std::vector<pid_t>& processes, bool waited);

/// What the engine does not see of a command that starts containers; empty if it sees all.
std::string containers_text(const std::string& program, const Engine& engine);

}  // namespace pctally
