#include "report/statistics/ratio.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pctally {
namespace {

/// Whether the data reject this ratio.
bool rejects(const Change& change, double ratio) {
  if (change.single_runs) return p_of_ratio(*change.single_runs, ratio) <= 0.05;
  return std::abs(change.after - ratio * change.before) > half_width_at(change, ratio);
}

/// Between a ratio that is rejected and one that is not.
double end_between(const Change& change, double rejected, double kept) {
  for (int step = 0; step < 60; ++step) {
    const double middle = (rejected + kept) / 2;
    if (middle == rejected || middle == kept) break;
    (rejects(change, middle) ? rejected : kept) = middle;
  }
  return kept;
}

constexpr double kLeast = 1e-9;  ///< the exact test has no ratio of 0
constexpr double kMost = 1e9;

/// Nothing was seen, which may have been a tick or two.
Interval ratio_from_nothing(const Change& change) {
  Interval interval{0, std::numeric_limits<double>::infinity()};
  if (!rejects(change, kLeast)) return interval;
  double kept = 1;
  while (kept < kMost && rejects(change, kept)) kept *= 2;
  interval.low = end_between(change, kLeast, kept);
  return interval;
}

}  // namespace

Interval ratio_interval(const Change& change) {
  if (!(change.before > 0)) return ratio_from_nothing(change);
  double lowest = change.after / change.before, highest = lowest;  // that are kept
  const auto keep = [&](double ratio) {
    lowest = std::min(lowest, ratio);
    highest = std::max(highest, ratio);
  };
  // Degrees of freedom depend on the ratio, so that a ratio between two that are kept may be rejected.
  if (!rejects(change, 1)) keep(1);
  if (const auto& runs = change.single_runs)  // the test takes no tick for half a one
    keep((change.after + runs->after.per_tick / 2) / (change.before + runs->before.per_tick / 2));
  Interval interval{0, std::numeric_limits<double>::infinity()};
  if (lowest > kLeast && rejects(change, kLeast)) interval.low = end_between(change, kLeast, lowest);
  for (double high = std::max(2 * highest, 1e-6); high < kMost * std::max(highest, 1.0); high *= 2) {
    if (!rejects(change, high)) continue;
    interval.high = end_between(change, high, highest);
    break;
  }
  return interval;
}

double half_width_at(const Change& change, double ratio) {
  const double half = (change.interval.high - change.interval.low) / 2;
  const double after = 1 - change.before_part, before = squared(ratio) * change.before_part;
  const double degrees = change.one_estimate
                             ? change.degrees
                             : degrees_of_sum(before, change.before_degrees, after, change.after_degrees);
  return half * std::sqrt(after + before) * t_quantile(0.05, degrees) / t_quantile(0.05, change.degrees);
}

}  // namespace pctally
