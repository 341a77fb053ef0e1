// How likely the tests of change.h show a change. docs/statistics.md explains it in words.
#pragma once
#include <array>
#include <cmath>

#include "report/statistics/change.h"
#include "report/statistics/mean_variances.h"

namespace pctally {

/// Quantiles of Student's t as a table over the inverse of the degrees of freedom: off by less than a
/// hundredth.
class StudentTable {
 public:
  /// `alpha`: as of t_quantile().
  explicit StudentTable(double alpha);
  [[nodiscard]] double operator()(double degrees) const;

 private:
  static constexpr size_t kSteps = 32;
  std::array<double, kSteps + 1> log_quantiles_{};  ///< of inverses from 0 to 1
};

/// The power of test_change() where there are several runs in all: how likely it calls a rise changed at p <=
/// `level`.
class ChangePower {
 public:
  explicit ChangePower(double level) : quantile_(level) {}

  /// The sides have the amounts and variances that their runs have in truth, of a single run as well.
  [[nodiscard]] double of(const RunSide& before, const RunSide& after) const;

 private:
  StudentTable quantile_;
};

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
