#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "report/diff/diff.h"
#include "report/statistics/power.h"

namespace pctally {
namespace {

/// The variances of one run of a row, and of one that is `length` times as long. Counting noise has to the
/// amount that it is of, runs deviate in proportion to it.
struct RunVariance {
  double between = 0, counting = 0;
  bool sampled = true;

  /// Of the mean of `runs` that have `ratio` times the amount.
  [[nodiscard]] WelchPower::Side of(double ratio, double length, double runs) const {
    const double counted = counting * (sampled ? ratio * length : 1);
    return {(between * squared(ratio * length) + counted) / runs, counted / runs};
  }
};

RunVariance run_variance(const RowDeviation& row) {
  const double counting = squared(row.counting);
  return {std::max(0.0, squared(row.deviation) - counting), counting, row.sampled};
}

/// Whether few runs a side do so with what is assumed of their deviation.
bool is_seen_of_few(const RowDeviation& row, const PlannedChange& change, double runs, double length) {
  const double assumed = assumed_degrees(runs, runs);
  if (assumed <= 0) return false;
  const RunVariance variance = run_variance(row);
  const auto before = variance.of(1, length, runs), after = variance.of(1 + change.relative, length, runs);
  const double amounts = (1 + squared(1 + change.relative)) * squared(row.amount * length) / runs;
  const double shown_degrees = 2 * (runs - 1), degrees = assumed + shown_degrees;
  const double shown = before.variance + after.variance - before.least - after.least;
  const OneEstimate estimate{
      .known = before.least + after.least + assumed / degrees * squared(kBetweenRuns) * amounts,
      .shown = shown_degrees / degrees * shown,
      .shown_degrees = shown_degrees,
      .degrees = degrees};
  return power_of_one_estimate(change.level, change.relative * row.amount * length,
                               std::sqrt(before.variance + after.variance), estimate) >= change.power;
}

/// Whether several runs a side, `length` times as long as now, show the change.
bool is_seen(const RowDeviation& row, const PlannedChange& change, const WelchPower& power, double runs,
             double length) {
  const RunVariance variance = run_variance(row);
  return power.of(change.relative * row.amount * length, variance.of(1, length, runs),
                  variance.of(1 + change.relative, length, runs)) >= change.power ||
         is_seen_of_few(row, change, runs, length);
}

/// Rows of one plan share them.
const WelchPower& power_of(const PlannedChange& change, size_t runs) {
  thread_local std::map<std::pair<double, size_t>, WelchPower> known;
  const double degrees = static_cast<double>(runs) - 1;
  return known.try_emplace({change.level, runs}, change.level, degrees, degrees).first->second;
}

/// One run a side is taken to deviate as diff assumes it. Sampled amounts are compared on the scale of
/// logarithms. 0: no length is enough.
double length_of_one(const RowDeviation& row, const PlannedChange& change) {
  if (!(row.amount > 0)) return 0;
  const double errors = z_needed(change.level, change.power), ratio = 1 + change.relative;
  const double counting = squared(row.counting / row.amount);
  if (!row.sampled) {
    const double variance = squared(kBetweenRuns) * (1 + squared(ratio)) + 2 * counting;
    return squared(change.relative / errors) >= variance ? 1 : 0;
  }
  const double left = squared(std::log(ratio) / errors) - 2 * squared(kBetweenRuns);
  return left > 0 ? counting * (1 + 1 / ratio) / left : 0;
}

}  // namespace

size_t runs_needed(const RowDeviation& row, const PlannedChange& change) {
  constexpr size_t kMost = 1000000;
  if (const double length = length_of_one(row, change); length > 0 && length <= 1) return 1;
  const auto is_enough = [&](size_t runs) {
    return is_seen(row, change, power_of(change, runs), static_cast<double>(runs), 1);
  };
  if (!is_enough(kMost)) return 0;
  size_t enough = 2;
  while (!is_enough(enough)) enough *= 2;
  size_t few = enough / 2;  // that are not enough; 1 is known to be none
  while (few + 1 < enough) {
    const size_t middle = (few + enough) / 2;
    (is_enough(middle) ? enough : few) = middle;
  }
  return enough;
}

double length_needed(const RowDeviation& row, const PlannedChange& change, size_t runs) {
  if (runs == 1) return length_of_one(row, change);
  const WelchPower& power = power_of(change, runs);
  const auto is_enough = [&](double length) {
    return is_seen(row, change, power, static_cast<double>(runs), length);
  };
  if (!row.sampled) return is_enough(1) ? 1 : 0;
  constexpr double kMost = 1e9;
  return is_enough(kMost) ? least_enough(1 / kMost, kMost, is_enough) : 0;
}

double smallest_of_one_run(const PlannedChange& change) {
  return std::expm1(z_needed(change.level, change.power) * kBetweenRuns * std::sqrt(2.0));
}

double visible_change(const Diff& diff, const DiffRow& row) {
  constexpr double kPower = 0.8;
  const Change& amount = row.amount;
  const double level = diff.family.level_of(Judged::kRow);
  if (amount.single_runs) {
    const double ratio = ratio_seen(*amount.single_runs, level, kPower);
    return std::max(amount.before, amount.single_runs->before.per_tick) * ratio - amount.before;
  }
  const WelchPower welch(level, amount.before_degrees, amount.after_degrees);
  const double half = (amount.interval.high - amount.interval.low) / 2;
  const double variance = squared(half / t_quantile(0.05, amount.degrees));
  const auto is_enough = [&](double relative) {
    const double before = amount.before_part * variance,
                 after = (1 - amount.before_part) * variance * squared(1 + relative);
    if (!amount.one_estimate) return welch.of(relative * amount.before, {before}, {after}) >= kPower;
    const OneEstimate estimate{
        .shown = before + after, .shown_degrees = amount.degrees, .degrees = amount.degrees};
    return power_of_one_estimate(level, relative * amount.before, std::sqrt(before + after), estimate) >=
           kPower;
  };
  constexpr double kMost = 1e6;
  if (!(amount.before > 0) || !is_enough(kMost)) return std::numeric_limits<double>::infinity();
  return amount.before * least_enough(1 / kMost, kMost, is_enough);
}

}  // namespace pctally
