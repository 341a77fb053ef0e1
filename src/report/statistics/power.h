// How likely the tests of change_test.h show a change. docs/statistics.md explains it in words.
#pragma once
#include <array>
#include <cmath>

#include "report/statistics/change_test.h"

namespace pctally {

/// The power of Welch's test, which calls a difference changed at p <= `level`. The test estimates the
/// variance of each side's mean with `old_degrees` and `new_degrees` degrees of freedom.
class WelchPower {
 public:
  WelchPower(double level, double old_degrees, double new_degrees);

  struct Side {
    double variance = 0;  ///< of the mean
    double least = 0;     ///< that the test takes it for, however little the runs differ
  };
  /// The probability that a positive difference is called changed.
  [[nodiscard]] double of(double difference, const Side& before, const Side& after) const;

 private:
  static constexpr size_t kQuantiles = 16, kDegrees = 9;

  [[nodiscard]] double quantile(double degrees) const;

  double old_degrees_, new_degrees_;
  std::array<double, kQuantiles> old_quantiles_, new_quantiles_;  ///< of a variance, to its mean
  double least_inverse_ = 0, step_ = 0;                           ///< of 1 / degrees
  std::array<double, kDegrees> log_quantiles_{};                  ///< of t, for these
};

/// The variance of a difference, of which the runs show one part, as one estimate of both sides.
struct OneEstimate {
  double known = 0, shown = 0;
  double shown_degrees = kManyDegrees;  ///< of freedom, of that part
  double degrees = kManyDegrees;        ///< of the whole, of the t that decides
};

/// The probability that a positive difference is called changed at p <= `level`. `deviation`: of the
/// difference.
double power_of_one_estimate(double level, double difference, double deviation, const OneEstimate& variance);

/// The z that a change must have, on average, so that a test calls it at p <= `level` with this probability,
/// where the variance is known.
double z_needed(double level, double power);

/// The least value for which is_enough() is true, to six figures. It lies between `few` and `enough`.
/// REQUIRES: is_enough(enough); if a value is enough, so are all larger ones.
double least_enough(double few, double enough, const auto& is_enough) {
  while (enough > few * (1 + 1e-6)) {
    const double middle = std::sqrt(few * enough);
    (is_enough(middle) ? enough : few) = middle;
  }
  return enough;
}

/// How many times as large the amount of `after` must be that of `before` to be called so of one sampled run
/// a side, which `before` is like; infinite: 1e6 is not enough.
double ratio_seen(const SingleRuns& runs, double level, double power);

}  // namespace pctally
