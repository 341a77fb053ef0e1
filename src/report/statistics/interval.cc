#include "report/statistics/interval.h"

#include <algorithm>
#include <cmath>

namespace pctally {
namespace {

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

/// P(K >= k). `all_hits` of `all` samples are hits, and K is the number of hits among `samples` of them. Each
/// term follows from the one before it. REQUIRES: k is at least the mean, so that terms fall.
double tail_of_hits(double k, double samples, double all_hits, double all) {
  double term =
      std::exp(log_choose(all_hits, k) + log_choose(all - all_hits, samples - k) - log_choose(all, samples));
  double sum = 0;
  for (; term > sum * 1e-16; k += 1) {
    sum += term;
    term *= (all_hits - k) * (samples - k) / ((k + 1) * (all - all_hits - samples + k + 1));
  }
  return sum;
}

}  // namespace

double effective_samples(uint64_t ticks, uint64_t samples, double weight_squares) {
  auto sum = static_cast<double>(ticks);
  double effective = weight_squares > 0 ? sum * sum / weight_squares : sum;
  if (samples != 0) effective = std::min(effective, static_cast<double>(samples));
  return std::min(effective, sum);
}

Interval wilson_interval(double share, double samples) {
  if (!(samples > 0)) return {};
  const double z = kNormal95;
  double z2 = z * z / samples;
  double centre = share + z2 / 2;
  double spread = z * std::sqrt(share * (1 - share) / samples + z2 / (4 * samples));
  double low = (centre - spread) / (1 + z2), high = (centre + spread) / (1 + z2);
  // At 0 and 1 the exact result is the share itself; rounding must not put it outside.
  return {std::clamp(low, 0.0, share), std::clamp(high, share, 1.0)};
}

double half_width(double share, const Interval& interval) {
  return std::max(share - interval.low, interval.high - share);
}

bool is_wide_range(double low, double high, double samples) {
  constexpr double kWorthRange = 0.005;
  return high - low >= kWorthRange && high - low > half_width(low, wilson_interval(low, samples));
}

double p_of_shares(double now, double now_samples, double before, double before_samples) {
  const double new_all = std::round(now_samples), old_all = std::round(before_samples);
  if (!(new_all > 0) || !(old_all > 0)) return 1;
  const double new_hits = std::round(now * now_samples), old_hits = std::round(before * before_samples);
  const bool rose = new_hits * old_all > old_hits * new_all;
  const double tail = rose ? tail_of_hits(new_hits, new_all, new_hits + old_hits, new_all + old_all)
                           : tail_of_hits(old_hits, old_all, new_hits + old_hits, new_all + old_all);
  return std::min(1.0, 2 * tail);
}

double two_sided_z(double alpha) {
  double low = 0, high = 40;  // erfc falls: halve until the last bit
  for (int step = 0; step < 80; ++step) {
    double middle = (low + high) / 2;
    if (middle <= low || middle >= high) break;
    bool too_likely = std::erfc(middle / std::sqrt(2.0)) > alpha;
    if (too_likely)
      low = middle;
    else
      high = middle;
  }
  return low;
}

}  // namespace pctally
