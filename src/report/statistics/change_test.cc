#include "report/statistics/change_test.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

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

/// The variance that counting alone gives a run of `amount`: at least as if one tick had been seen. Of an
/// exact amount that of its resolution.
double counting_variance(const Measured& run, double amount) {
  if (run.per_tick <= 0) return squared(run.resolution);
  return run.per_tick * std::max(amount, run.per_tick);
}

struct Side {
  Measured first;    ///< of its runs
  double runs = 0;   ///< that are known apart
  double added = 0;  ///< runs that each of these is the mean of, on average
  double mean = 0;
  double counting = 0;  ///< part of the variance, on average
  double variance = 0;  ///< of one of `runs`
  double degrees = 0;   ///< that the variance rests on
};

Side side_of(std::span<const Measured> runs) {
  Side side;
  side.first = runs.front();
  side.runs = static_cast<double>(runs.size());
  for (const Measured& run : runs) {
    side.mean += run.amount / side.runs;
    side.added += run.runs / side.runs;
    side.counting += counting_variance(run, run.amount) / side.runs;
  }
  double squares = 0;
  for (const Measured& run : runs) squares += (run.amount - side.mean) * (run.amount - side.mean);
  side.degrees = side.runs - 1;
  side.variance = std::max(side.degrees > 0 ? squares / side.degrees : 0, side.counting);
  return side;
}

/// The standard deviation between runs, relative to the amount, as the runs of a side show it; else what is
/// assumed.
double between_runs_of(const Side& side, double assumed) {
  if (side.runs <= 1 || !(side.mean > 0)) return assumed;
  return std::sqrt((side.variance - side.counting) * side.added) / side.mean;
}

/// A run of a side whose amount is `amount` varies by counting that, and between runs as the other side
/// shows; where both have one run, as it is assumed.
double variance_beside(const Side& side, const Side& other, double amount, double between_runs) {
  return counting_variance(side.first, amount) +
         squared(between_runs_of(other, between_runs) * amount) / side.added;
}

/// The side with fewer runs knows its variance badly, with one run not at all. It is not taken to vary less
/// than the other side shows for the larger amount of the two, which both would have if nothing had changed:
/// one run that has few ticks by chance does not show how many there may be.
Side beside(Side side, const Side& other, double between_runs) {
  if (side.runs > 1 && side.runs >= other.runs) return side;
  const double amount = other.runs > 1 ? std::max(side.mean, other.mean) : side.mean;
  const double least = variance_beside(side, other, amount, between_runs);
  if (side.runs > 1 && side.variance >= least) return side;
  side.variance = least;
  side.degrees = other.runs > 1 ? other.degrees : kManyDegrees;
  return side;
}

/// The variances of two means, and the degrees of freedom they rest on.
struct MeanVariances {
  double before = 0, after = 0;
  double degrees = kManyDegrees;  ///< of their sum
  double before_degrees = kManyDegrees, after_degrees = kManyDegrees;
  bool one_estimate = false;

  [[nodiscard]] double deviation() const { return std::sqrt(before + after); }
  [[nodiscard]] double half_width() const { return deviation() * t_quantile(0.05, degrees); }
};

/// What one side borrows from the other is one estimate for both.
MeanVariances welch_variances(const Side& old_alone, const Side& new_alone, double between_runs) {
  const Side old_side = beside(old_alone, new_alone, between_runs),
             new_side = beside(new_alone, old_alone, between_runs);
  MeanVariances result{.before = old_side.variance / old_side.runs,
                       .after = new_side.variance / new_side.runs,
                       .before_degrees = old_side.degrees,
                       .after_degrees = new_side.degrees};
  result.degrees = degrees_of_sum(result.before, result.before_degrees, result.after, result.after_degrees);
  const bool borrowed = old_side.degrees != old_alone.degrees || new_side.degrees != new_alone.degrees;
  if (borrowed && std::max(old_alone.runs, new_alone.runs) > 1) {
    result.degrees = std::max(old_alone.degrees, new_alone.degrees);
    result.one_estimate = true;
  }
  return result;
}

/// With what is assumed beside what the runs show. Nothing where there are enough of them, or one a side.
std::optional<MeanVariances> variances_of_few(const Side& before, const Side& after, double between_runs) {
  double degrees = assumed_degrees(before.runs, after.runs), squares = degrees * squared(between_runs);
  if (degrees <= 0 || before.runs + after.runs <= 2) return std::nullopt;
  for (const Side* side : {&before, &after}) {
    if (side->runs <= 1 || !(side->mean > 0)) continue;
    squares += side->degrees * squared(between_runs_of(*side, between_runs));
    degrees += side->degrees;
  }
  const auto of_mean = [&](const Side& side, const Side& other) {
    double counting = side.counting;
    if (side.runs < other.runs)  // it may have few ticks by chance
      counting = std::max(counting, counting_variance(side.first, std::max(side.mean, other.mean)));
    return (counting + squares / degrees * squared(side.mean) / side.added) / side.runs;
  };
  return MeanVariances{.before = of_mean(before, after),
                       .after = of_mean(after, before),
                       .degrees = degrees,
                       .before_degrees = degrees,
                       .after_degrees = degrees,
                       .one_estimate = true};
}

/// Of the interval of a side's amount, by its own runs; where it has one, or there are few, with what is
/// known beside them.
double half_width_alone(const Side& side, const Side& other, const std::optional<MeanVariances>& few,
                        double between_runs) {
  double variance = side.variance, degrees = side.degrees;
  if (side.runs <= 1) {
    variance = variance_beside(side, other, side.mean, between_runs);
    degrees = other.runs > 1 ? other.degrees : kManyDegrees;
  }
  const double own = std::sqrt(variance / side.runs) * t_quantile(0.05, degrees);
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

double assumed_degrees(double old_runs, double new_runs) {
  constexpr double kMost = 8, kFewRuns = 9;
  const double runs = old_runs + new_runs;
  if (runs <= kFewRuns) return kMost;
  if (runs >= kManyRuns || std::min(old_runs, new_runs) < 2) return 0;
  return kMost * (kManyRuns - runs) / (kManyRuns - kFewRuns);
}

double degrees_of_sum(double variance, double degrees, double other, double other_degrees) {
  if (!(variance + other > 0)) return kManyDegrees;
  return std::min(kManyDegrees,
                  squared(variance + other) / (squared(variance) / degrees + squared(other) / other_degrees));
}

Change test_change(std::span<const Measured> before, std::span<const Measured> after, double between_runs) {
  const Side old_side = side_of(before), new_side = side_of(after);
  MeanVariances variances = welch_variances(old_side, new_side, between_runs);
  const auto few = variances_of_few(old_side, new_side, between_runs);
  if (few && few->half_width() < variances.half_width()) variances = *few;
  Change change;
  change.before = old_side.mean;
  change.after = new_side.mean;
  change.difference = change.after - change.before;
  change.degrees = variances.degrees;
  change.before_degrees = variances.before_degrees;
  change.after_degrees = variances.after_degrees;
  change.one_estimate = variances.one_estimate;
  const double error = variances.deviation(), width = variances.half_width();
  if (error > 0) change.before_part = variances.before / squared(error);
  change.interval = {change.difference - width, change.difference + width};
  const double alone = half_width_alone(new_side, old_side, few, between_runs);
  change.after_interval = {std::max(0.0, change.after - alone), change.after + alone};
  bool counted = before[0].per_tick > 0 && after[0].per_tick > 0;
  if (before.size() == 1 && after.size() == 1 && counted) {
    const double spread = between_runs * std::sqrt(1 / before[0].runs + 1 / after[0].runs);
    change.single_runs = {before[0], after[0], spread};
    change.p = p_of_ratio(*change.single_runs, 1);
  } else if (error > 0) {
    change.p = t_tail(change.difference / error, variances.degrees);
  } else {
    change.p = change.difference == 0 ? 1 : 0;
  }
  return change;
}

double run_deviation(std::span<const Measured> runs, double between_runs) {
  const Side alone = side_of(runs), side = beside(alone, alone, between_runs);
  return std::sqrt(side.variance * side.added);
}

double counting_deviation(std::span<const Measured> runs) {
  double variance = 0;
  for (const Measured& run : runs)
    variance += counting_variance(run, run.amount) * run.runs / static_cast<double>(runs.size());
  return std::sqrt(variance);
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
