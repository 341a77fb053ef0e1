// The variances of the means of two sides of runs, as test_change() takes them. docs/statistics.md explains
// it in words.
#pragma once
#include <cmath>
#include <optional>
#include <span>

#include "report/statistics/change.h"

namespace pctally {

/// What the runs of one side show.
struct RunSide {
  Measured first;    ///< of its runs
  double runs = 0;   ///< that are known apart
  double added = 0;  ///< runs that each of these is the mean of, on average
  double mean = 0;
  double counting = 0;  ///< part of the variance, on average
  double variance = 0;  ///< of one of `runs`
  double degrees = 0;   ///< that the variance rests on
};

/// REQUIRES: not empty.
RunSide side_of(std::span<const Measured> runs);

/// The variances of two means, and the degrees of freedom they rest on.
struct MeanVariances {
  double before = 0, after = 0;
  double degrees = kManyDegrees;  ///< of their sum
  double before_degrees = kManyDegrees, after_degrees = kManyDegrees;
  bool one_estimate = false;  ///< both rest on one, of `degrees`

  [[nodiscard]] double deviation() const { return std::sqrt(before + after); }
};

/// What two tests take them for.
struct MeanEstimates {
  MeanVariances welch;               ///< what one side borrows from the other is one estimate for both
  std::optional<MeanVariances> few;  ///< with what is assumed beside what the runs show; nothing where there
                                     ///< are enough of them, or one a side

  /// The one that gives the narrower interval. `quantile`: of Student's t, by degrees of freedom.
  [[nodiscard]] const MeanVariances& narrower(const auto& quantile) const {
    const auto width = [&quantile](const MeanVariances& of) { return of.deviation() * quantile(of.degrees); };
    return few && width(*few) < width(welch) ? *few : welch;
  }
};

MeanEstimates mean_estimates(const RunSide& before, const RunSide& after, double between_runs);

/// A run of a side whose amount is `amount` varies by counting that, and between runs as the other side
/// shows; where both have one run, as it is assumed.
double variance_beside(const RunSide& side, const RunSide& other, double amount, double between_runs);

RunVariation variation_of(const RunSide& before, const RunSide& after, double between_runs);

}  // namespace pctally
