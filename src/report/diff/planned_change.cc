#include <algorithm>
#include <cmath>

#include "report/diff/diff.h"

namespace pctally {
namespace {

constexpr double kPower80 = 0.8416;  ///< the 80 % point of the normal distribution

/// Standard errors of a difference that a change must have, for so many runs a side; 1: as of a variance
/// that is known.
double errors_of(const PlannedChange& change, size_t runs) {
  const double alpha = kDiffRate / static_cast<double>(std::max<size_t>(change.rows, 1));
  const double decided = runs > 1 ? t_quantile(alpha, 2 * static_cast<double>(runs - 1)) : two_sided_z(alpha);
  return decided + two_sided_z(2 * (1 - change.power));
}

/// The variance that a run may have if two of them are to show the change, of so many a side.
double variance_allowed(const RowDeviation& row, const PlannedChange& change, size_t runs) {
  return squared(change.relative * row.amount / errors_of(change, runs)) / 2;
}

}  // namespace

size_t runs_needed(const RowDeviation& row, const PlannedChange& change) {
  constexpr double kMost = 1e6;
  const auto runs_at = [&](size_t runs) {
    const double allowed = variance_allowed(row, change, runs);
    return allowed > 0 ? squared(row.deviation) / allowed : kMost;
  };
  if (runs_at(1) >= kMost) return 0;
  const double of_one = squared(kBetweenRuns * row.amount) + squared(row.counting);  // as diff assumes it
  if (of_one <= variance_allowed(row, change, 1)) return 1;
  auto runs = static_cast<size_t>(std::max(2.0, std::ceil(runs_at(1))));
  while (runs_at(runs) > static_cast<double>(runs)) ++runs;  // few runs know their variance badly
  return runs;
}

double length_needed(const RowDeviation& row, const PlannedChange& change, size_t runs) {
  const double between = runs == 1 ? squared(kBetweenRuns * row.amount)
                                   : std::max(0.0, squared(row.deviation) - squared(row.counting));
  const double left = variance_allowed(row, change, runs) * static_cast<double>(runs) - between;
  return left > 0 ? squared(row.counting) / left : 0;
}

double smallest_of_one_run(const PlannedChange& change) {
  return errors_of(change, 1) * kBetweenRuns * std::sqrt(2.0);
}

double visible_change(const Diff& diff, const DiffRow& row) {
  const double half = (row.amount.interval.high - row.amount.interval.low) / 2;
  const auto candidates = static_cast<double>(diff.rows_with_ticks + 1);  // with the total
  const double error = half / t_quantile(0.05, row.amount.degrees);
  return error * (t_quantile(kDiffRate / candidates, row.amount.degrees) + kPower80);
}

}  // namespace pctally
