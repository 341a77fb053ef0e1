#include "report/statistics/power.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pctally {
namespace {

/// P(Z <= z)
double normal_share(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

/// The point that `share` lies below, in (0, 1).
double normal_point(double share) {
  return share < 0.5 ? -two_sided_z(2 * share) : two_sided_z(2 * (1 - share));
}

/// Of chi-squared divided by its degrees of freedom. E. B. Wilson, M. M. Hilferty, "The distribution of
/// chi-square", PNAS 17 (1931) 684-688.
double variance_quantile(double z, double degrees) {
  const double root = 1 - 2 / (9 * degrees) + z * std::sqrt(2 / (9 * degrees));
  return std::pow(std::max(0.0, root), 3);
}

/// In the middle of each of `N` parts of equal probability.
template <size_t N>
std::array<double, N> variance_quantiles(double degrees) {
  static const std::array<double, N> middles = [] {
    std::array<double, N> points{};
    for (size_t i = 0; i < N; ++i) points[i] = normal_point((static_cast<double>(i) + 0.5) / N);
    return points;
  }();
  std::array<double, N> quantiles{};
  for (size_t i = 0; i < N; ++i) quantiles[i] = variance_quantile(middles[i], degrees);
  return quantiles;
}

}  // namespace

/// The degrees of a sum are between those of the side that has fewer, and all of them. As a function of their
/// inverse, the logarithm of t is nearly straight.
WelchPower::WelchPower(double level, double old_degrees, double new_degrees)
    : old_degrees_(old_degrees),
      new_degrees_(new_degrees),
      old_quantiles_(variance_quantiles<kQuantiles>(old_degrees)),
      new_quantiles_(variance_quantiles<kQuantiles>(new_degrees)) {
  least_inverse_ = 1 / std::min(old_degrees + new_degrees, kManyDegrees);
  const double most = 1 / std::min({old_degrees, new_degrees, kManyDegrees});
  step_ = std::max(0.0, most - least_inverse_) / (kDegrees - 1);
  for (size_t i = 0; i < kDegrees; ++i)
    log_quantiles_[i] = std::log(t_quantile(level, 1 / (least_inverse_ + step_ * static_cast<double>(i))));
}

double WelchPower::quantile(double degrees) const {
  const double place =
      step_ > 0 ? std::clamp((1 / degrees - least_inverse_) / step_, 0.0, kDegrees - 1.0) : 0;
  const size_t at = std::min(static_cast<size_t>(place), kDegrees - 2);
  const double part = place - static_cast<double>(at);
  return std::exp(log_quantiles_[at] * (1 - part) + log_quantiles_[at + 1] * part);
}

/// The mean over what the two variances may be taken for, which are independent of the difference and of each
/// other.
double WelchPower::of(double difference, const Side& before, const Side& after) const {
  const double deviation = std::sqrt(before.variance + after.variance);
  double sum = 0;
  for (double old_quantile : old_quantiles_) {
    const double old_part = std::max(before.least, before.variance * old_quantile);
    for (double new_quantile : new_quantiles_) {
      const double new_part = std::max(after.least, after.variance * new_quantile);
      const double degrees = degrees_of_sum(old_part, old_degrees_, new_part, new_degrees_);
      const double above = difference - quantile(degrees) * std::sqrt(old_part + new_part);
      sum += deviation > 0 ? normal_share(above / deviation) : above >= 0 ? 1 : 0;
    }
  }
  return sum / (kQuantiles * kQuantiles);
}

double power_of_one_estimate(double level, double difference, double deviation, const OneEstimate& variance) {
  constexpr size_t kQuantiles = 16;
  const double t = t_quantile(level, variance.degrees);
  double sum = 0;
  for (const double quantile : variance_quantiles<kQuantiles>(variance.shown_degrees)) {
    const double above = difference - t * std::sqrt(variance.known + variance.shown * quantile);
    sum += deviation > 0 ? normal_share(above / deviation) : above >= 0 ? 1 : 0;
  }
  return sum / kQuantiles;
}

double z_needed(double level, double power) { return two_sided_z(level) + normal_point(power); }

/// What has this z without any noise has the p-value of that z.
double ratio_seen(const SingleRuns& runs, double level, double power) {
  const double p = std::erfc(z_needed(level, power) / std::sqrt(2.0));
  const auto is_seen = [&](double ratio) {
    SingleRuns larger = runs;
    larger.after.amount = std::max(runs.before.amount, runs.before.per_tick) * ratio;
    return p_of_ratio(larger, 1) <= p;
  };
  constexpr double kMost = 1e6;
  return is_seen(kMost) ? least_enough(1, kMost, is_seen) : std::numeric_limits<double>::infinity();
}

}  // namespace pctally
