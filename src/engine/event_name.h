// The events of perf that a tick could be made of, by perf's names. Only CPU time is counted today.
#pragma once
#include <string>

namespace pctally {

/// True for "cpu-clock" and "task-clock": CPU time, which is what a tick stands for.
bool is_clock_event(const std::string& name);

/// True for the name of a hardware event: "cycles", "instructions", "cache-misses", ...
bool is_hardware_event(const std::string& name);

/// Why a hardware event cannot be recorded here and what to do instead. Finds out by trying.
std::string explain_hardware_event(const std::string& name);

}  // namespace pctally
