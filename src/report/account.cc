#include "report/account.h"

#include <algorithm>

#include "report/statistics.h"

namespace pctally {
namespace {

constexpr uint64_t kLongestNs = uint64_t{1} << 61;  // cpu - sampled - lost cannot overflow

double rate(double events, int64_t nanoseconds) {
  return nanoseconds > 0 ? events / seconds(nanoseconds) : 0;
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
  account.sampled_ns = duration_of(seen, profile.period_ns);
  account.lost_ns = duration_of(ledger.lost, profile.period_ns);
  account.cpu_known = profile.cpu_known;
  if (profile.cpu_known) {
    account.cpu_ns = static_cast<int64_t>(std::min(profile.cpu_user_ns, kLongestNs / 2) +
                                          std::min(profile.cpu_system_ns, kLongestNs / 2));
    account.unsampled_ns = account.cpu_ns - account.sampled_ns - account.lost_ns;
  }
  account.asked_hz = rate(1, static_cast<int64_t>(std::min(profile.period_asked_ns, kLongestNs)));
  account.delivered_hz =
      rate(static_cast<double>(ledger.samples), account.cpu_known ? account.cpu_ns : account.sampled_ns);
  account.looks = effective_samples(seen, ledger.samples, ledger.weight_squares);
  return account;
}

double unsampled_share(const Account& account) {
  if (!account.cpu_known || account.cpu_ns <= 0) return 0;
  return static_cast<double>(account.unsampled_ns) / static_cast<double>(account.cpu_ns);
}

}  // namespace pctally
