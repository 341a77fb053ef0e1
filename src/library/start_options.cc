#include "library/start_options.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/kernel/period.h"
#include "library/self_paths.h"

namespace pctally {
namespace {

constexpr uint64_t kDefaultPeriodNs = 1000000;
constexpr unsigned kKnownFlags =
    PCTALLY_OVERWRITE | PCTALLY_NO_TIMER | PCTALLY_FIXED_PERIOD | PCTALLY_CALLERS;
constexpr size_t kSizeWithoutPaths = offsetof(pctally_options, path_bytes);

Result<void> check_paths(pctally_options* options) noexcept {
  if (!keeps_paths(*options)) {
    if (options->path_bytes == 0) return {};
    return fail(EINVAL, "options.path_bytes is for call paths: add PCTALLY_CALLERS to options.flags");
  }
  if (options->path_bytes == 0) options->path_bytes = PathLimits{}.context_bytes;
  if (options->path_bytes < kLeastPathBytes || options->path_bytes > kMostPathBytes)
    return fail(EINVAL, "path_bytes must lie between 65536 (64 KiB) and 25165824 (24 MiB)");
  if (!SelfPaths::work_here())
    return fail(EINVAL,
                "PCTALLY_CALLERS needs x86-64 or aarch64, and glibc 2.35: leave it out to record self time");
  if (plan_of(*options, options->period_ns).kind == ClockKind::kNone)
    return fail(EINVAL, "PCTALLY_CALLERS needs an engine that interrupts the program: timer or trap");
  return {};
}

}  // namespace

Result<pctally_options> checked(const pctally_options* given) noexcept {
  pctally_options options = PCTALLY_OPTIONS_INIT;
  if (given != nullptr && given->size != sizeof options && given->size != kSizeWithoutPaths)
    return fail(EINVAL, "options.size must be sizeof(struct pctally_options)");
  if (given != nullptr) memcpy(&options, given, given->size);
  if (options.period_ns == 0) options.period_ns = kDefaultPeriodNs;
  if (options.period_ns < kShortestPeriodNs || options.period_ns > kLongestPeriodNs)
    return fail(EINVAL, "period_ns must lie between 10000 (10 us) and 10000000000 (10 s)");
  if ((options.flags & ~kKnownFlags) != 0) return fail(EINVAL, "options.flags has an unknown flag");
  ClockKind kind;
  if (options.engine != nullptr && !clock_of(options.engine, &kind))
    return fail(EINVAL, "no engine of a program is called %s: timer, trap or manual", options.engine);
  if (auto paths = check_paths(&options); !paths) return std::unexpected(paths.error());
  return options;
}

ClockPlan plan_of(const pctally_options& options, uint64_t period_ns) noexcept {
  ClockPlan plan{chosen_clock(ClockKind::kTimer), period_ns, Pace::kAsGiven};
  if (options.engine != nullptr) plan.insist = clock_of(options.engine, &plan.kind);
  if ((options.flags & PCTALLY_NO_TIMER) != 0) plan.kind = ClockKind::kNone;
  return plan;
}

}  // namespace pctally
