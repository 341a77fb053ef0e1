#include "report/statistics/change.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "report/statistics/mean_variances.h"

namespace pctally {
namespace {

constexpr double kExactTicks = 2000;  ///< above that the beta-binomial is normal on the logarithmic scale
constexpr double kNormalFrom = 1e5;   ///< degrees of freedom from which on t is normal to four figures

/// Numerical Recipes' form of Lentz's method for the continued fraction of the incomplete beta function.
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double result = d;
  for (int m = 1; m < 300; ++m) {
    double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double step = 1;
    for (double term : {even, odd}) {
      d = 1 + term * d;
      c = 1 + term / c;
      d = 1 / (std::abs(d) < kTiny ? kTiny : d);
      if (std::abs(c) < kTiny) c = kTiny;
      step = d * c;
      result *= step;
    }
    if (std::abs(step - 1) < 1e-14) break;
  }
  return result;
}

/// The regularized incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double log_beta(double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); }

/// P(K >= k) for K beta-binomial in [0, n]. Each term follows from the one before it.
double upper_tail(double k, double n, double alpha, double beta) {
  double sum = 0;
  double term = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                log_beta(k + alpha, n - k + beta) - log_beta(alpha, beta);  // its logarithm
  for (double i = k; i <= n; i += 1) {
    sum += std::exp(term);
    term += std::log((n - i) * (i + alpha) / ((i + 1) * (n - i - 1 + beta)));
  }
  return std::min(sum, 1.0);
}

double normal_tail(double z) { return std::erfc(std::abs(z) / std::sqrt(2.0)); }

/// The smaller p of the two tests.
double p_of_difference(double difference, const MeanEstimates& estimates) {
  const auto p_of = [difference](const MeanVariances& variances) {
    return t_tail(difference / variances.deviation(), variances.degrees);
  };
  const double welch = p_of(estimates.welch);
  return estimates.few ? std::min(welch, p_of(*estimates.few)) : welch;
}

/// Of the interval of the new side's amount, by its own runs; where it has one, or there are few, with what
/// is known beside them.
double half_width_alone(const RunSide& side, const RunSide& other, const MeanEstimates& estimates,
                        double between_runs) {
  double variance = side.variance, degrees = side.degrees;
  if (side.runs <= 1) {
    variance = variance_beside(side, other, side.mean, between_runs);
    degrees = other.runs > 1 ? other.degrees : kManyDegrees;
  }
  const double own = std::sqrt(variance / side.runs) * t_quantile(0.05, degrees);
  const auto& few = estimates.few;
  return few ? std::min(own, std::sqrt(few->after) * t_quantile(0.05, few->degrees)) : own;
}

double t_density(double t, double degrees) {
  return std::exp(std::lgamma((degrees + 1) / 2) - std::lgamma(degrees / 2) -
                  (degrees + 1) / 2 * std::log1p(t * t / degrees)) /
         std::sqrt(degrees * std::numbers::pi);
}

double normal_quantile(double alpha) { return alpha == 0.05 ? kNormal95 : two_sided_z(alpha); }

}  // namespace

double t_tail(double t, double degrees) {
  return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

/// Newton's method from the normal quantile, which is below: the tail is convex, so no step goes too far.
double t_quantile(double alpha, double degrees) {
  thread_local struct {
    double alpha = 0, degrees = 0, t = 0;
  } last;  // rows of one comparison often share them
  if (alpha == last.alpha && degrees == last.degrees) return last.t;
  double t = normal_quantile(alpha);
  for (int step = 0; degrees < kNormalFrom && step < 100; ++step) {
    const double next = t + (t_tail(t, degrees) - alpha) / (2 * t_density(t, degrees));
    if (!(next > t * (1 + 1e-14))) break;
    t = next;
  }
  last = {alpha, degrees, t};
  return t;
}

double p_of_ratio(const SingleRuns& runs, double ratio) {
  const auto& [before, after, spread] = runs;
  const double old_ticks = std::round(before.effective_ticks()),
               new_ticks = std::round(after.effective_ticks());
  const double n = old_ticks + new_ticks;
  if (n <= 0) return 1;
  // A tick is one of `after` with probability q: finer ticks are more of them.
  const double odds = ratio * before.per_tick / after.per_tick, q = odds / (1 + odds);
  if (n > kExactTicks) {
    const double z = std::log((new_ticks + 0.5) / (old_ticks + 0.5)) - std::log(odds);
    return normal_tail(z / std::sqrt(1 / (old_ticks + 0.5) + 1 / (new_ticks + 0.5) + spread * spread));
  }
  const double weight = 1 / (q * (1 - q) * spread * spread) - 1;
  const double alpha = q * weight, beta = (1 - q) * weight;
  const double tail = std::min(upper_tail(new_ticks, n, alpha, beta), upper_tail(old_ticks, n, beta, alpha));
  return std::min(1.0, 2 * tail);
}

Change test_change(std::span<const Measured> before, std::span<const Measured> after, double between_runs) {
  const RunSide old_side = side_of(before), new_side = side_of(after);
  const auto t95 = [](double degrees) { return t_quantile(0.05, degrees); };
  const MeanEstimates estimates = mean_estimates(old_side, new_side, between_runs);
  const MeanVariances& variances = estimates.narrower(t95);
  Change change;
  change.before = old_side.mean;
  change.after = new_side.mean;
  change.difference = change.after - change.before;
  change.degrees = variances.degrees;
  change.before_degrees = variances.before_degrees;
  change.after_degrees = variances.after_degrees;
  change.one_estimate = variances.one_estimate;
  change.variation = variation_of(old_side, new_side, between_runs);
  const double error = variances.deviation(), width = error * t95(variances.degrees);
  if (error > 0) change.before_part = variances.before / squared(error);
  change.interval = {change.difference - width, change.difference + width};
  const double alone = half_width_alone(new_side, old_side, estimates, between_runs);
  change.after_interval = {std::max(0.0, change.after - alone), change.after + alone};
  bool counted = before[0].per_tick > 0 && after[0].per_tick > 0;
  if (before.size() == 1 && after.size() == 1 && counted) {
    const double spread = between_runs * std::sqrt(1 / before[0].runs + 1 / after[0].runs);
    change.single_runs = {before[0], after[0], spread};
    change.p = p_of_ratio(*change.single_runs, 1);
  } else if (error > 0) {
    change.p = p_of_difference(change.difference, estimates);
  } else {
    change.p = change.difference == 0 ? 1 : 0;
  }
  return change;
}

std::vector<bool> rejected(std::span<const double> p_values, double rate) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p_values[a] < p_values[b]; });
  std::vector<bool> result(p_values.size(), false);
  size_t last = 0;  // how many of the smallest are rejected
  for (size_t i = 0; i < order.size(); ++i)
    if (p_values[order[i]] <= rate * static_cast<double>(i + 1) / static_cast<double>(order.size()))
      last = i + 1;
  for (size_t i = 0; i < last; ++i) result[order[i]] = true;
  return result;
}

}  // namespace pctally
