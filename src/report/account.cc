#include "report/account.h"

#include <algorithm>
#include <cmath>

#include "report/statistics.h"

namespace pctally {
namespace {

constexpr uint64_t kLongestNs = uint64_t{1} << 61;  // cpu - sampled - lost cannot overflow

double rate(double events, int64_t nanoseconds) {
  return nanoseconds > 0 ? events / seconds(nanoseconds) : 0;
}

/// An engine that samples whole CPUs finds the target at a tick or not: of n / p ticks it gets n, with the
/// variance (1 - p) n. The first and the last tick of each CPU add one.
int64_t chance_of(const Profile& profile, const Account& account, uint64_t seen) {
  if (profile.machine_cpus == 0) return 0;
  double cpus = profile.machine_cpus;
  double all_ns = static_cast<double>(profile.duration_ns) * cpus;
  auto own_ns = static_cast<double>(account.cpu_known ? account.cpu_ns : account.sampled_ns);
  double part = all_ns > 0 ? std::clamp(own_ns / all_ns, 0.0, 1.0) : 0;
  double sd = std::sqrt((1 - part) * static_cast<double>(seen) + cpus);
  double ns = kNormal95 * sd * static_cast<double>(profile.period_ns);
  return static_cast<int64_t>(std::min(ns, static_cast<double>(kLongestNs)));
}

/// Part of the seen ticks that were read off a clock ("[process start]"), not sampled.
double measured_part(const Profile& profile, uint64_t seen) {
  uint64_t measured = 0;
  for (const WeightedPosition& position : profile.positions)
    if (profile.executables[position.executable].kind == ExecutableKind::kStart) measured += position.ticks;
  return seen == 0 ? 0 : std::min(1.0, static_cast<double>(measured) / static_cast<double>(seen));
}

}  // namespace

int64_t duration_of(uint64_t ticks, uint64_t period_ns) {
  uint64_t product;
  if (__builtin_mul_overflow(ticks, period_ns, &product)) product = kLongestNs;
  return static_cast<int64_t>(std::min(product, kLongestNs));
}

Account account_of(const Profile& profile) {
  const TickLedger& ledger = profile.ledger;
  uint64_t seen = ledger.counted + ledger.outside + ledger.full;
  Account account;
  account.cpu_known = profile.cpu_known;
  if (profile.cpu_known)
    account.cpu_ns = static_cast<int64_t>(std::min(profile.cpu_user_ns, kLongestNs / 2) +
                                          std::min(profile.cpu_system_ns, kLongestNs / 2));
  int64_t sampled = duration_of(seen, profile.period_ns), lost = duration_of(ledger.lost, profile.period_ns);
  if (profile.counts_cpu_time()) {
    account.sampled_ns = sampled;
    account.lost_ns = lost;
    if (profile.cpu_known) account.unsampled_ns = account.cpu_ns - sampled - lost;
    account.chance_ns = chance_of(profile, account, seen);
    account.rounding_ns = duration_of(2, std::max(profile.period_ns, profile.clock_tick_ns));
    account.asked_hz = rate(1, static_cast<int64_t>(std::min(profile.period_asked_ns, kLongestNs)));
  } else {
    account.sampled_events = sampled;
    account.lost_events = lost;
  }
  account.delivered_hz =
      rate(static_cast<double>(ledger.samples), account.cpu_known ? account.cpu_ns : account.sampled_ns);
  account.effective_samples =
      effective_samples(seen, ledger.samples, ledger.weight_squares) * (1 - measured_part(profile, seen));
  return account;
}

std::vector<UnsampledPart> unsampled_parts(const Profile& profile) {
  uint64_t blocked = 0, small = 0, timerless = 0, unseen = 0;
  for (const ProfileProcess& process : profile.processes) {
    blocked += std::min(process.blocked_ns, kLongestNs / 65536);
    small += std::min(process.small_stack_ns, kLongestNs / 65536);
    timerless += std::min(process.timerless_ns, kLongestNs / 65536);
    unseen += std::min(process.unseen_start_ns, kLongestNs / 65536);
  }
  std::vector<UnsampledPart> parts;
  auto add = [&parts](const char* reason, uint64_t ns) {
    if (ns != 0) parts.push_back({reason, static_cast<int64_t>(std::min(ns, kLongestNs))});
  };
  add("blocked signals", blocked);
  add("stacks below 32 KiB", small);
  add("no timer left (ulimit -i)", timerless);
  add("an unseen start (bare clone(2), or libpctally brought by dlopen)", unseen);
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
