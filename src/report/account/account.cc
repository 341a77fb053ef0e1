#include "report/account/account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "base/time_ns.h"
#include "report/print/figures.h"
#include "report/statistics/interval.h"

namespace pctally {
namespace {

constexpr double kMostInMs = 10;  ///< seconds of a sum that is shown in milliseconds

double rate(double events, int64_t nanoseconds) {
  return nanoseconds > 0 ? events / seconds(nanoseconds) : 0;
}

/// An engine that samples whole CPUs finds the target at a tick or not: of n / p ticks it gets n, with the
/// variance (1 - p) n. The first and the last tick of each CPU add one.
int64_t chance_of(const ProfileRun& profile, const Account& account, uint64_t seen) {
  if (profile.machine_cpus == 0) return 0;
  double cpus = profile.machine_cpus;
  double all_ns = static_cast<double>(profile.duration_ns) * cpus;
  auto own_ns = static_cast<double>(account.cpu_known ? account.cpu_ns : account.sampled_ns);
  double part = all_ns > 0 ? std::clamp(own_ns / all_ns, 0.0, 1.0) : 0;
  double sd = std::sqrt((1 - part) * static_cast<double>(seen) + cpus);
  double ns = kNormal95 * sd * static_cast<double>(profile.period_ns);
  return static_cast<int64_t>(std::min(ns, static_cast<double>(kLongestTimeNs)));
}

}  // namespace

double in_step_share(const Profile& profile) {
  double starts = 0, ticks = 0;
  const auto add = [&](const ProfileRun& run) {
    if (!run.counts_cpu_time()) return;
    const auto period = static_cast<double>(run.period_ns);
    starts += static_cast<double>(run.starts_in_step) * period;
    ticks += static_cast<double>(run.ledger.ticks()) * period;
  };
  if (profile.runs.empty()) add(profile);
  for (const ProfileRun& run : profile.runs) add(run);
  return ticks > 0 ? std::min(starts / ticks, 1.0) : 0;
}

bool has_starts_in_step(const Profile& profile) {
  constexpr uint64_t kFewStarts = 10;
  constexpr double kTolerableShare = 0.05;
  return profile.starts_in_step >= kFewStarts && in_step_share(profile) > kTolerableShare;
}

TicklessProcesses tickless_processes(const Profile& profile) {
  TicklessProcesses tickless;
  std::map<std::string_view, uint64_t> programs;
  for (const ProfileProcess& process : profile.processes) {
    if (process.engine.empty()) continue;
    if (process.pid == 0) tickless.more = true;
    if (process.pid == 0 || process.ticks != 0) continue;
    ++tickless.number;
    if (const uint64_t number = ++programs[process.comm]; number > tickless.most) {
      tickless.most = number;
      tickless.program = process.comm;
    }
  }
  return tickless;
}

uint64_t start_ticks(const Profile& profile) {
  uint64_t ticks = 0;
  for (const WeightedPosition& position : profile.positions)
    if (profile.executables[position.executable].kind == ExecutableKind::kStart) ticks += position.ticks;
  return ticks;
}

int64_t duration_of(uint64_t ticks, uint64_t period_ns) {
  uint64_t product;
  if (__builtin_mul_overflow(ticks, period_ns, &product)) product = kLongestTimeNs;
  return static_cast<int64_t>(std::min(product, kLongestTimeNs));
}

bool ticks_are_nanoseconds(const ProfileRun& run) { return run.period_ns == 1 && run.counts_cpu_time(); }

bool ticks_are_events(const Profile& profile) {
  return profile.runs.size() > 1 && profile.period_ns == 1 && !profile.counts_cpu_time();
}

Recorded recorded(const Profile& profile) {
  Recorded sum;
  const auto add = [&sum](const ProfileRun& run) {
    const bool in_samples = ticks_are_nanoseconds(run);
    sum.number += in_samples ? run.ledger.samples : run.ledger.ticks();
    if (in_samples) sum.word = "sample";
  };
  if (profile.runs.empty()) add(profile);
  for (const ProfileRun& run : profile.runs) add(run);
  return sum;
}

bool is_in_single_units(const Profile& profile) {
  return profile.period_ns == 1 && recorded(profile).number != profile.ledger.ticks();
}

const char* tick_word(const Profile& profile) {
  if (ticks_are_nanoseconds(profile)) return "nanosecond";
  return ticks_are_events(profile) ? "event" : "tick";
}

std::string tick_number_title(const Profile& profile) {
  return ticks_are_nanoseconds(profile) ? "ns" : std::string(tick_word(profile)) + "s";
}

std::string tick_title(const Profile& profile) {
  return ticks_are_nanoseconds(profile) ? "time" : std::string(tick_word(profile)) + "s";
}

std::string tick_figure(const Profile& profile, uint64_t ticks) {
  return ticks_are_nanoseconds(profile) ? tick_cell(profile, ticks) : grouped(ticks);
}

std::string tick_cell(const Profile& profile, uint64_t ticks) {
  if (!ticks_are_nanoseconds(profile)) return std::to_string(ticks);
  const double time = seconds(duration_of(ticks, 1));
  return time < kMostInMs ? fmt::format("{:.1f} ms", 1000 * time) : fmt::format("{:.2f} s", time);
}

std::string counted_ticks(const Profile& profile, uint64_t ticks) {
  return ticks_are_nanoseconds(profile) ? tick_figure(profile, ticks) : counted(ticks, tick_word(profile));
}

std::string part_of_ticks(const Profile& profile, uint64_t part, uint64_t whole) {
  if (!ticks_are_nanoseconds(profile)) return grouped(part) + " of " + counted_ticks(profile, whole);
  const double some = seconds(duration_of(part, 1)), all = seconds(duration_of(whole, 1));
  return all < kMostInMs ? fmt::format("{:.1f} of {:.1f} ms", 1000 * some, 1000 * all)
                         : fmt::format("{:.2f} of {:.2f} s", some, all);
}

namespace {

uint64_t seen_ticks(const ProfileRun& run) {
  return run.ledger.counted + run.ledger.outside + run.ledger.full;
}

/// `measured_ticks`: of the seen ones those that were read off a clock. They are no deliveries: their weights
/// are not among the squares.
Account account_of_run(const ProfileRun& run, uint64_t measured_ticks) {
  const TickLedger& ledger = run.ledger;
  uint64_t seen = seen_ticks(run);
  Account account;
  account.cpu_known = run.cpu_known;
  if (run.cpu_known)
    account.cpu_ns = static_cast<int64_t>(std::min(run.cpu_user_ns, kLongestTimeNs / 2) +
                                          std::min(run.cpu_system_ns, kLongestTimeNs / 2));
  int64_t sampled = duration_of(seen, run.period_ns), lost = duration_of(ledger.lost, run.period_ns);
  if (run.counts_cpu_time()) {
    account.sampled_ns = sampled;
    account.lost_ns = lost;
    if (run.cpu_known) account.unsampled_ns = account.cpu_ns - sampled - lost;
    account.chance_ns = chance_of(run, account, seen);
    account.rounding_ns = duration_of(2, std::max(run.period_ns, run.clock_tick_ns));
    account.asked_hz = rate(1, static_cast<int64_t>(std::min(run.period_asked_ns, kLongestTimeNs)));
  } else {
    account.sampled_events = sampled;
    account.lost_events = lost;
  }
  account.delivered_hz =
      rate(static_cast<double>(ledger.samples), account.cpu_known ? account.cpu_ns : account.sampled_ns);
  account.effective_samples =
      effective_samples(seen - std::min(seen, measured_ticks), ledger.samples, ledger.weight_squares);
  return account;
}

/// Runs are independent: their variances add up. So do the squares of what whole ticks leave over: what each
/// of many short runs lacks at its start is no chance. A share of the sum, T = T1 + T2 + ..., of runs with
/// n1, n2, ... effective samples has the variance p (1 - p) * ((T1/T)^2 / n1 + (T2/T)^2 / n2 + ...).
void add_up_chance(const Profile& profile, Account* account) {
  double chance = 0, rounding = 0, amount = 0, squares = 0;
  for (const ProfileRun& run : profile.runs) {
    const uint64_t seen = seen_ticks(run), measured = std::min(seen, run.measured_ticks);
    const Account own = account_of_run(run, measured);
    chance += static_cast<double>(own.chance_ns) * static_cast<double>(own.chance_ns);
    rounding += static_cast<double>(own.rounding_ns) * static_cast<double>(own.rounding_ns);
    const double part = static_cast<double>(seen - measured) * static_cast<double>(run.period_ns);
    if (!(own.effective_samples > 0) || !(part > 0)) continue;
    amount += part;
    squares += part * part / own.effective_samples;
  }
  account->chance_ns = static_cast<int64_t>(std::min(std::sqrt(chance), static_cast<double>(kLongestTimeNs)));
  account->rounding_ns =
      static_cast<int64_t>(std::min(std::sqrt(rounding), static_cast<double>(kLongestTimeNs)));
  account->effective_samples = squares > 0 ? amount * amount / squares : 0;
}

}  // namespace

Account account_of(const Profile& part) {
  const Profile& profile = whole_of(part);
  if (profile.runs.empty()) return account_of_run(profile, start_ticks(profile));
  Account account = account_of_run(profile, 0);
  add_up_chance(profile, &account);
  return account;
}

std::vector<UnsampledPart> unsampled_parts(const Profile& profile) {
  uint64_t blocked = 0, small = 0, timerless = 0, unseen = 0;
  for (const ProfileProcess& process : profile.processes) {
    blocked += std::min(process.blocked_ns, kLongestTimeNs / 65536);
    small += std::min(process.small_stack_ns, kLongestTimeNs / 65536);
    timerless += std::min(process.timerless_ns, kLongestTimeNs / 65536);
    unseen += std::min(process.unseen_start_ns, kLongestTimeNs / 65536);
  }
  std::vector<UnsampledPart> parts;
  auto add = [&parts](const char* reason, uint64_t ns) {
    if (ns != 0) parts.push_back({reason, static_cast<int64_t>(std::min(ns, kLongestTimeNs))});
  };
  add("blocked signals", blocked);
  add("stacks without room for a tick", small);
  add("no timer left (ulimit -i)", timerless);
  add("an unseen start (see pctally-engines(1))", unseen);
  return parts;
}

double unsampled_share(const Account& account) {
  if (!account.cpu_known || account.cpu_ns <= 0) return 0;
  return static_cast<double>(account.unsampled_ns) / static_cast<double>(account.cpu_ns);
}

double unsampled_beyond_chance(const Account& account) {
  if (!account.cpu_known || account.cpu_ns <= 0) return 0;
  int64_t by_chance =
      std::min(std::abs(account.unsampled_ns), std::max(account.chance_ns, account.rounding_ns));
  int64_t rest = std::abs(account.unsampled_ns) - by_chance;
  double share = static_cast<double>(rest) / static_cast<double>(account.cpu_ns);
  return account.unsampled_ns < 0 ? -share : share;
}

}  // namespace pctally
