#include "profile/runs.h"

#include <algorithm>

#include "base/time_ns.h"
#include "histread/reader.h"

namespace pctally {
namespace {

/// Times in ns, and counts: *sum stays at most kLongestTimeNs.
void add_capped(uint64_t number, uint64_t* sum) {
  *sum = std::min(kLongestTimeNs, *sum + std::min(number, kLongestTimeNs));
}

/// *sum stays at most kLargestCount; false where it would not.
bool add_ticks(uint64_t ticks, uint64_t weight, uint64_t* sum) {
  uint64_t product = 0;
  if (__builtin_mul_overflow(ticks, weight, &product) || product > kLargestCount - *sum) return false;
  *sum += product;
  return true;
}

template <class Value>
Value common(std::span<const ProfileRun> runs, Value ProfileRun::*field, const Value& otherwise = {}) {
  const bool same =
      std::ranges::all_of(runs, [&](const ProfileRun& run) { return run.*field == runs.front().*field; });
  return same ? runs.front().*field : otherwise;
}

bool all(std::span<const ProfileRun> runs, bool ProfileRun::*field) {
  return std::ranges::all_of(runs, [field](const ProfileRun& run) { return run.*field; });
}

bool any(std::span<const ProfileRun> runs, bool ProfileRun::*field) {
  return std::ranges::any_of(runs, [field](const ProfileRun& run) { return run.*field; });
}

}  // namespace

uint64_t common_period(std::span<const ProfileRun> runs) {
  return common<uint64_t>(runs, &ProfileRun::period_ns, 1);
}

std::optional<TickLedger> sum_of_ledgers(std::span<const ProfileRun> runs, uint64_t period) {
  TickLedger sum;
  for (const ProfileRun& run : runs) {
    const uint64_t weight = run.period_ns / std::max<uint64_t>(period, 1);
    const TickLedger& ledger = run.ledger;
    if (!add_ticks(ledger.counted, weight, &sum.counted) ||
        !add_ticks(ledger.outside, weight, &sum.outside) || !add_ticks(ledger.full, weight, &sum.full) ||
        !add_ticks(ledger.lost, weight, &sum.lost) || !add_ticks(ledger.samples, 1, &sum.samples))
      return std::nullopt;
    sum.weight_squares += ledger.weight_squares * static_cast<double>(weight) * static_cast<double>(weight);
  }
  return sum;
}

void sum_up_runs(Profile* merged) {
  const std::span<const ProfileRun> runs = merged->runs;
  ProfileRun sum;
  sum.command = common(runs, &ProfileRun::command);
  sum.engine = common<std::string>(runs, &ProfileRun::engine, kSeveralEngines);
  sum.machine = common(runs, &ProfileRun::machine);
  sum.release = common(runs, &ProfileRun::release);
  sum.boot_id = common(runs, &ProfileRun::boot_id);
  sum.event = common(runs, &ProfileRun::event);
  sum.event_unit = common(runs, &ProfileRun::event_unit);
  sum.period_asked_ns = common(runs, &ProfileRun::period_asked_ns);
  sum.period_ns = common_period(runs);
  sum.closed = all(runs, &ProfileRun::closed);
  sum.recorder_alive = any(runs, &ProfileRun::recorder_alive);
  sum.snapshot = any(runs, &ProfileRun::snapshot);
  sum.kernel_observed = all(runs, &ProfileRun::kernel_observed);
  sum.cpu_known = all(runs, &ProfileRun::cpu_known);
  sum.exit_status = common(runs, &ProfileRun::exit_status);
  sum.started_unix_ns = runs.front().started_unix_ns;
  for (const ProfileRun& run : runs) {
    sum.started_unix_ns = std::min(sum.started_unix_ns, run.started_unix_ns);
    add_capped(run.duration_ns, &sum.duration_ns);
    add_capped(sum.cpu_known ? run.cpu_user_ns : 0, &sum.cpu_user_ns);
    add_capped(sum.cpu_known ? run.cpu_system_ns : 0, &sum.cpu_system_ns);
    add_capped(run.stolen_ns, &sum.stolen_ns);
    add_capped(run.throttled, &sum.throttled);
    sum.clock_tick_ns = std::max(sum.clock_tick_ns, run.clock_tick_ns);
    sum.machine_cpus = std::max(sum.machine_cpus, run.machine_cpus);
    add_capped(run.starts_in_step, &sum.starts_in_step);
  }
  sum.ledger = merged->ledger;
  static_cast<ProfileRun&>(*merged) = std::move(sum);
}

}  // namespace pctally
