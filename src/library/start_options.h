// Checks the options of pctally_start().
#pragma once
#include "base/result.h"
#include "clock/tick_clock.h"
#include "pctally/pctally.h"

namespace pctally {

/// A copy with the defaults in place of what is not given, but for the path. `given` may be null, or that of
/// a program that was built before its last fields were. Errors: EINVAL.
Result<pctally_options> checked(const pctally_options* given) noexcept;

/// An engine named in the options has to work; one that is merely preferred need not.
ClockPlan plan_of(const pctally_options& options, uint64_t period_ns) noexcept;

inline bool keeps_paths(const pctally_options& options) noexcept {
  return (options.flags & PCTALLY_CALLERS) != 0;
}

}  // namespace pctally
