#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "report/diff/diff.h"
#include "report/statistics/mean_variances.h"
#include "report/statistics/power.h"

namespace pctally {
namespace {

/// Runs of a row as they are in truth: counting noise has to the amount that it is of, runs deviate in
/// proportion to it.
RunSide side_of_runs(const RowDeviation& row, double ratio, double runs) {
  const double counting = squared(row.counting), counted = counting * (row.sampled ? ratio : 1);
  RunSide side{.first = {},
               .runs = runs,
               .added = 1,
               .mean = row.amount * ratio,
               .counting = counted,
               .variance = std::max(0.0, squared(row.deviation) - counting) * squared(ratio) + counted,
               .degrees = runs - 1};
  side.first.amount = side.mean;
  (row.sampled ? side.first.per_tick : side.first.resolution) =
      row.sampled ? counted / side.mean : row.counting;
  return side;
}

/// Rows of one comparison share it.
const ChangePower& power_at(double level) {
  thread_local std::map<double, ChangePower> known;
  return known.try_emplace(level, level).first->second;
}

/// Whether several runs a side, `length` times as long as now, show the change.
bool is_seen(const RowDeviation& row, const PlannedChange& change, size_t runs, double length) {
  const auto side_of = [&](double ratio) {
    return side_of_runs(row, ratio * length, static_cast<double>(runs));
  };
  return power_at(change.level).of(side_of(1), side_of(1 + change.relative)) >= change.power;
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
  const auto is_enough = [&](size_t runs) { return is_seen(row, change, runs, 1); };
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
  const auto is_enough = [&](double length) { return is_seen(row, change, runs, length); };
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
  const RunVariation& shown = amount.variation;
  const auto side = [&](double ratio, double runs, double added) {
    const RowDeviation like_it{
        .name = row.name,
        .amount = amount.before,
        .deviation = std::sqrt(shown.counting + squared(shown.between * amount.before) / added),
        .counting = std::sqrt(shown.counting)};
    RunSide result = side_of_runs(like_it, ratio, runs);
    result.added = added;
    return result;
  };
  const auto is_enough = [&](double relative) {
    return power_at(level).of(side(1, shown.old_runs, shown.old_added),
                              side(1 + relative, shown.new_runs, shown.new_added)) >= kPower;
  };
  constexpr double kMost = 1e6;
  if (!(amount.before > 0) || !is_enough(kMost)) return std::numeric_limits<double>::infinity();
  return amount.before * least_enough(1 / kMost, kMost, is_enough);
}

}  // namespace pctally
