#include "report/statistics/power.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace pctally {
namespace {

/// P(Z <= z)
double normal_share(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

/// The point that `share` lies below, in (0, 1).
double normal_point(double share) {
  return share < 0.5 ? -two_sided_z(2 * share) : two_sided_z(2 * (1 - share));
}

constexpr size_t kQuantiles = 16;

/// The middles of as many parts of equal probability.
struct Middles {
  std::array<double, kQuantiles> share{};
  std::array<double, kQuantiles> point{};     ///< a normal variable is below it with that probability
  std::array<double, kQuantiles> absolute{};  ///< the absolute value of one is
};

const Middles& middles() {
  static const Middles all = [] {
    Middles made;
    for (size_t i = 0; i < kQuantiles; ++i) {
      made.share[i] = (static_cast<double>(i) + 0.5) / kQuantiles;
      made.point[i] = normal_point(made.share[i]);
      made.absolute[i] = normal_point((1 + made.share[i]) / 2);
    }
    return made;
  }();
  return all;
}

/// The quantile of chi-squared divided by its degrees of freedom, in the middle of such a part. E. B. Wilson,
/// M. M. Hilferty, "The distribution of chi-square", PNAS 17 (1931) 684-688; exact for one degree and two,
/// for which that is bad.
double variance_quantile(size_t part, double degrees) {
  if (degrees == 1) return squared(middles().absolute[part]);
  if (degrees == 2) return -std::log1p(-middles().share[part]);
  const double root = 1 - 2 / (9 * degrees) + middles().point[part] * std::sqrt(2 / (9 * degrees));
  return std::pow(std::max(0.0, root), 3);
}

/// What the runs of a side may show, all as likely, who have this variance in truth.
std::vector<RunSide> sides_seen(const RunSide& side) {
  if (side.runs <= 1) return {side};
  std::vector<RunSide> seen(kQuantiles, side);
  for (size_t i = 0; i < seen.size(); ++i)
    seen[i].variance = std::max(side.counting, side.variance * variance_quantile(i, side.runs - 1));
  return seen;
}

}  // namespace

/// As a function of the inverse, the logarithm of t is nearly straight.
StudentTable::StudentTable(double alpha) {
  for (size_t i = 0; i <= kSteps; ++i)
    log_quantiles_[i] = std::log(t_quantile(alpha, i == 0 ? kManyDegrees : kSteps / static_cast<double>(i)));
}

double StudentTable::operator()(double degrees) const {
  const double place = std::clamp(kSteps / degrees, 0.0, static_cast<double>(kSteps));
  const size_t at = std::min(static_cast<size_t>(place), kSteps - 1);
  const double part = place - static_cast<double>(at);
  return std::exp(log_quantiles_[at] * (1 - part) + log_quantiles_[at + 1] * part);
}

/// The mean over what the sides may show, which is independent of the difference.
double ChangePower::of(const RunSide& before, const RunSide& after) const {
  const double difference = after.mean - before.mean,
               deviation = std::sqrt(before.variance / before.runs + after.variance / after.runs);
  const std::vector<RunSide> all_before = sides_seen(before), all_after = sides_seen(after);
  double sum = 0;
  for (const RunSide& old_side : all_before) {
    for (const RunSide& new_side : all_after) {
      const MeanVariances seen = mean_estimates(old_side, new_side, kBetweenRuns).narrower(quantile_);
      const double above = difference - quantile_(seen.degrees) * seen.deviation();
      sum += deviation > 0 ? normal_share(above / deviation) : above >= 0 ? 1 : 0;
    }
  }
  return sum / static_cast<double>(all_before.size() * all_after.size());
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
