#include "report/statistics/interval.h"

#include <algorithm>
#include <cmath>

namespace pctally {

double effective_samples(uint64_t ticks, uint64_t samples, double weight_squares) {
  auto sum = static_cast<double>(ticks);
  double effective = weight_squares > 0 ? sum * sum / weight_squares : sum;
  if (samples != 0) effective = std::min(effective, static_cast<double>(samples));
  return std::min(effective, sum);
}

Interval wilson_interval(double share, double samples, double z) {
  if (!(samples > 0)) return {};
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

Interval difference_interval(double now, double now_samples, double before, double before_samples, double z) {
  if (!(now_samples > 0) || !(before_samples > 0)) return {-1, 1};
  Interval first = wilson_interval(now, now_samples, z), second = wilson_interval(before, before_samples, z);
  double difference = now - before;
  return {difference - std::hypot(now - first.low, second.high - before),
          difference + std::hypot(first.high - now, before - second.low)};
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
