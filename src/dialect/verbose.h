// What PCTALLY_VERBOSE=1 in the environment adds: a line on standard error where a call fails or can count
// nothing, for programs that ignore errno and for calls that have no result.
//
// Refuses to say anything without the variable: the systems' calls were silent.
#pragma once
#include <span>

#include "tick/region.h"

namespace pctally {

/// One line "pctally: ..." on standard error, by one write(2) that sends no signal. Bytes below a
/// blank become '?'. Keeps errno. Not for signal handlers.
__attribute__((format(printf, 1, 2))) void say(const char* format, ...) noexcept;

/// PCTALLY_VERBOSE is 1.
[[nodiscard]] bool is_verbose() noexcept;

/// Says so if no counter of the regions stands for executable memory of this process. Costs a reading of
/// /proc/self/maps; only if verbose.
void say_if_nothing_counts(const char* system, std::span<const Region> regions) noexcept;

/// Says which call failed and why, if verbose.
void say_failed(const char* call, int error) noexcept;

}  // namespace pctally
