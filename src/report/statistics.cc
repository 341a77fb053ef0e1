#include "report/statistics.h"

#include <algorithm>
#include <cmath>

namespace pctally {

double effective_samples(uint64_t ticks, uint64_t samples, uint64_t weight_squares) {
  auto sum = static_cast<double>(ticks);
  double looks = weight_squares == 0 ? sum : sum * sum / static_cast<double>(weight_squares);
  if (samples != 0) looks = std::min(looks, static_cast<double>(samples));
  return std::min(looks, sum);
}

Interval wilson_interval(double share, double looks) {
  if (!(looks > 0)) return {};
  double z2 = kNormal95 * kNormal95 / looks;
  double centre = share + z2 / 2;
  double spread = kNormal95 * std::sqrt(share * (1 - share) / looks + z2 / (4 * looks));
  double low = (centre - spread) / (1 + z2), high = (centre + spread) / (1 + z2);
  // At 0 and 1 the exact result is the share itself; rounding must not put it outside.
  return {std::clamp(low, 0.0, share), std::clamp(high, share, 1.0)};
}

double half_width(double share, const Interval& interval) {
  return std::max(share - interval.low, interval.high - share);
}

}  // namespace pctally
