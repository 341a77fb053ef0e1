#include "report/statistics/mean_variances.h"

#include <algorithm>
#include <cmath>

namespace pctally {
namespace {

/// The variance that counting alone gives a run of `amount`: at least as if one tick had been seen. For
/// an exact amount that of its resolution.
double counting_variance(const Measured& run, double amount) {
  if (run.per_tick <= 0) return squared(run.resolution);
  return run.per_tick * std::max(amount, run.per_tick);
}

/// The standard deviation between runs, relative to the amount, as the runs of a side show it; else what is
/// assumed.
double between_runs_of(const RunSide& side, double assumed) {
  if (side.runs <= 1 || !(side.mean > 0)) return assumed;
  return std::sqrt((side.variance - side.counting) * side.added) / side.mean;
}

/// The side with fewer runs knows its variance badly, with one run not at all. It is not taken to vary less
/// than the other side shows for the larger amount of the two, which both would have if nothing had changed:
/// one run that has few ticks by chance does not show how many there may be.
RunSide beside(RunSide side, const RunSide& other, double between_runs) {
  if (side.runs > 1 && side.runs >= other.runs) return side;
  const double amount = other.runs > 1 ? std::max(side.mean, other.mean) : side.mean;
  const double least = variance_beside(side, other, amount, between_runs);
  if (side.runs > 1 && side.variance >= least) return side;
  side.variance = least;
  side.degrees = other.runs > 1 ? other.degrees : kManyDegrees;
  return side;
}

/// Adds what the runs of sides with several show of their relative deviation.
void add_shown(const RunSide& before, const RunSide& after, double* squares, double* degrees) {
  for (const RunSide* side : {&before, &after}) {
    if (side->runs <= 1 || !(side->mean > 0)) continue;
    *squares += side->degrees * squared(between_runs_of(*side, 0));
    *degrees += side->degrees;
  }
}

/// What one side borrows from the other is one estimate for both.
MeanVariances welch_variances(const RunSide& old_alone, const RunSide& new_alone, double between_runs) {
  const RunSide old_side = beside(old_alone, new_alone, between_runs),
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

/// With what is assumed beside what the runs show.
std::optional<MeanVariances> variances_of_few(const RunSide& before, const RunSide& after,
                                              double between_runs) {
  double degrees = assumed_degrees(before.runs, after.runs), squares = degrees * squared(between_runs);
  if (degrees <= 0 || before.runs + after.runs <= 2) return std::nullopt;
  add_shown(before, after, &squares, &degrees);
  const auto of_mean = [&](const RunSide& side, const RunSide& other) {
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

}  // namespace

RunSide side_of(std::span<const Measured> runs) {
  RunSide side;
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

double variance_beside(const RunSide& side, const RunSide& other, double amount, double between_runs) {
  return counting_variance(side.first, amount) +
         squared(between_runs_of(other, between_runs) * amount) / side.added;
}

MeanEstimates mean_estimates(const RunSide& before, const RunSide& after, double between_runs) {
  return {welch_variances(before, after, between_runs), variances_of_few(before, after, between_runs)};
}

RunVariation variation_of(const RunSide& before, const RunSide& after, double between_runs) {
  RunVariation variation{.counting = before.counting,
                         .old_runs = before.runs,
                         .new_runs = after.runs,
                         .old_added = before.added,
                         .new_added = after.added};
  double squares = 0, degrees = 0;  // of the deviations that were seen
  add_shown(before, after, &squares, &degrees);
  variation.between = degrees > 0 ? std::sqrt(squares / degrees) : between_runs;
  return variation;
}

double run_deviation(std::span<const Measured> runs, double between_runs) {
  const RunSide side = side_of(runs);
  const double variance =
      runs.size() > 1 ? side.variance : variance_beside(side, side, side.mean, between_runs);
  return std::sqrt(variance * side.added);
}

double counting_deviation(std::span<const Measured> runs) {
  double variance = 0;
  for (const Measured& run : runs)
    variance += counting_variance(run, run.amount) * run.runs / static_cast<double>(runs.size());
  return std::sqrt(variance);
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

}  // namespace pctally
