#include "report/diff/diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "report/diff/compared_profile.h"
#include "report/diff/matching_functions.h"
#include "report/diff/measured_run.h"
#include "report/names/short_name.h"
#include "report/names/shown_names.h"

namespace pctally {
namespace {

Measured amount_of(const MeasuredRun& run, double ticks) {
  return {ticks * run.per_tick, run.per_tick * run.design, static_cast<double>(run.added)};
}

/// In percent. By counting it is binomial: the closer to all ticks, the less it varies.
Measured share_of(const MeasuredRun& run, double ticks) {
  const double percent = run.total_ticks > 0 ? 100 / run.total_ticks : 0;
  const double rest = std::max(0.0, 1 - ticks * percent / 100);
  const double one_tick = percent * run.design;
  return {ticks * percent, one_tick * rest, static_cast<double>(run.added), one_tick};
}

/// How much a share deviates from run to run if the row and all others do so by `between_runs`, each for
/// itself. Where they do so together, as on a machine that is slow for a while, shares deviate less.
double share_deviation(const std::array<std::vector<Measured>, 2>& shares, double between_runs) {
  double mean = 0;
  for (const std::vector<Measured>& side : shares)
    for (const Measured& run : side) mean += run.amount / 100 / static_cast<double>(2 * side.size());
  return between_runs * std::min(1.0, std::sqrt(2.0) * (1 - mean));
}

Change test_shares(const std::array<std::vector<Measured>, 2>& shares, double between_runs) {
  return test_change(shares[0], shares[1], share_deviation(shares, between_runs));
}

uint64_t ticks_of(const MeasuredRun& run, const DiffKey& key) {
  auto found = run.ticks.find(key);
  return found == run.ticks.end() ? 0 : found->second;
}

uint64_t on_path_of(const MeasuredRun& run, const DiffKey& key) {
  auto found = run.on_path.find(key);
  return found == run.on_path.end() ? 0 : found->second;
}

/// As parts of a run, and of the largest run: in the unit of amounts.
UnknownPaths unknown_amounts(const std::string& object, const std::vector<MeasuredRun>& before,
                             const std::vector<MeasuredRun>& after) {
  bool of_kernel = false;
  double whole = 0;
  for (const auto* side : {&before, &after})
    for (const MeasuredRun& run : *side) {
      of_kernel = of_kernel || run.kernel_objects.contains(object);
      whole = std::max(whole, run.per_tick * run.total_ticks);
    }
  const auto part = [of_kernel](const std::vector<MeasuredRun>& side) {
    double sum = 0;
    for (const MeasuredRun& run : side)
      sum += static_cast<double>(of_kernel ? run.unknown_kernel_paths : run.unknown_paths) /
             std::max(run.total_ticks, 1.0);
    return sum / static_cast<double>(side.size());
  };
  return {part(before) * whole, part(after) * whole};
}

/// Whether a total has changed, but by no more than what is unknown of the call paths did.
bool is_in_doubt(const Change& total, double unknown) {
  const double half = (total.interval.high - total.interval.low) / 2, sign = total.difference < 0 ? -1 : 1;
  return sign * total.difference > half && sign * (total.difference + unknown) <= half;
}

void add(const MeasuredRun& run, uint64_t ticks, SideTicks* side) {
  side->ticks += ticks;
  side->effective += static_cast<double>(ticks) / run.design;
}

/// Where a line is, in the first run of the side that has it; or null.
const LinePlace* place_of(const DiffKey& key, const std::vector<MeasuredRun>& side) {
  for (const MeasuredRun& run : side)
    if (auto found = run.places.find(key); found != run.places.end()) return &found->second;
  return nullptr;
}

/// A line's is its place on the new side; where that does not have it, on the old one.
std::string name_of(const DiffKey& key, const std::vector<MeasuredRun>& before,
                    const std::vector<MeasuredRun>& after) {
  for (const auto* side : {&after, &before})
    if (const LinePlace* place = place_of(key, *side)) return place->name;
  return std::get<0>(key);
}

/// A row that a run has no ticks of counts as 0 there.
DiffRow compare(const DiffKey& key, const std::vector<MeasuredRun>& before,
                const std::vector<MeasuredRun>& after, double between_runs) {
  DiffRow row;
  row.name = name_of(key, before, after);
  row.object = std::get<1>(key);
  row.linkage = linkage_of(key, before);
  if (row.linkage.empty()) row.linkage = linkage_of(key, after);
  const LinePlace* old_place = place_of(key, before);
  if (old_place != nullptr && old_place->name != row.name) row.old_place = old_place->name;
  row.is_line = old_place != nullptr || place_of(key, after) != nullptr;
  std::array<std::vector<Measured>, 2> amounts, shares, totals, total_shares;
  bool all_have_paths = true;
  const std::array<const std::vector<MeasuredRun>*, 2> sides = {&before, &after};
  for (size_t side = 0; side < 2; ++side) {
    for (const MeasuredRun& run : *sides[side]) {
      uint64_t ticks = ticks_of(run, key);
      const uint64_t on_path = on_path_of(run, key);
      add(run, ticks, side == 0 ? &row.old_side : &row.new_side);
      add(run, on_path, side == 0 ? &row.old_on_path : &row.new_on_path);
      totals[side].push_back(amount_of(run, static_cast<double>(on_path)));
      total_shares[side].push_back(share_of(run, static_cast<double>(on_path)));
      all_have_paths = all_have_paths && run.has_paths;
      amounts[side].push_back(amount_of(run, static_cast<double>(ticks)));
      shares[side].push_back(share_of(run, static_cast<double>(ticks)));
    }
  }
  row.amount = test_change(amounts[0], amounts[1], between_runs);
  row.share = test_shares(shares, between_runs);
  if (!all_have_paths) return row;
  row.total = test_change(totals[0], totals[1], between_runs);
  row.total_share = test_shares(total_shares, between_runs);
  if (row.has_callees()) row.unknown = unknown_amounts(row.object, before, after);
  row.total_in_doubt = is_in_doubt(*row.total, row.unknown.change());
  return row;
}

/// The kernel's CPU time where it is known of all, else the sampled amount.
std::vector<Measured> totals_of(const std::vector<MeasuredRun>& runs, bool exact) {
  std::vector<Measured> totals;
  for (const MeasuredRun& run : runs) {
    const std::vector<Measured>& own = exact ? run.cpu_totals : run.totals;
    totals.insert(totals.end(), own.begin(), own.end());
  }
  return totals;
}

bool knows_cpu(const std::vector<MeasuredRun>& runs) {
  return std::all_of(runs.begin(), runs.end(),
                     [](const MeasuredRun& run) { return !run.cpu_totals.empty(); });
}

DiffRow compare_totals(const std::vector<MeasuredRun>& before, const std::vector<MeasuredRun>& after,
                       double between_runs) {
  DiffRow row;
  row.name = "total";
  const bool exact = knows_cpu(before) && knows_cpu(after);
  row.amount = test_change(totals_of(before, exact), totals_of(after, exact), between_runs);
  for (const MeasuredRun& run : before) row.old_side.ticks += static_cast<uint64_t>(run.total_ticks);
  for (const MeasuredRun& run : after) row.new_side.ticks += static_cast<uint64_t>(run.total_ticks);
  return row;
}

/// What is judged: the whole, a row's own amount, or its total.
struct Candidate {
  const Change* change;
  const SideTicks *before, *after;
  Verdict* verdict;
  size_t* decided;  ///< counts it; null: the whole, which nobody counts
  Judged judged = Judged::kRow;
};

Verdict verdict_of(const Candidate& candidate, size_t old_runs, size_t new_runs) {
  constexpr double kManyTicks = 10;  ///< effective ones, a run
  if (candidate.before->ticks == 0 &&
      candidate.after->effective >= kManyTicks * static_cast<double>(new_runs))
    return Verdict::kNew;
  if (candidate.after->ticks == 0 &&
      candidate.before->effective >= kManyTicks * static_cast<double>(old_runs))
    return Verdict::kGone;
  return candidate.change->difference > 0 ? Verdict::kMore : Verdict::kLess;
}

/// Percentage points by which the profiles' shares may be wrong besides: worst on each side.
double open_points(const std::vector<Profile>& before, const std::vector<Profile>& after) {
  double points = 0;
  for (const std::vector<Profile>* side : {&before, &after}) {
    double worst = 0;
    for (const Profile& profile : *side)
      if (has_starts_in_step(profile)) worst = std::max(worst, in_step_share(profile));
    points += 100 * worst;
  }
  return points;
}

std::vector<Candidate> candidates_of(Diff* diff) {
  std::vector<Candidate> family = {{&diff->total.amount, &diff->total.old_side, &diff->total.new_side,
                                    &diff->total.verdict, nullptr, Judged::kWhole}};
  const auto add_if_enough = [&](const Candidate& candidate) {
    if (candidate.before->effective + candidate.after->effective >= kFewestTicks) family.push_back(candidate);
  };
  for (DiffRow& row : diff->rows) {
    if (diff->is_in_doubt(row.object)) continue;
    const auto is_open = [&](const Change& share) { return std::abs(share.difference) < diff->open_points; };
    if (!is_open(row.share))
      add_if_enough({&row.amount, &row.old_side, &row.new_side, &row.verdict, &diff->decided});
    if (row.has_callees() && !row.total_in_doubt && !(row.total_share && is_open(*row.total_share)))
      add_if_enough({&*row.total, &row.old_on_path, &row.new_on_path, &row.total_verdict,
                     &diff->decided_totals, Judged::kTotal});
  }
  return family;
}

/// On average, at most kDiffRate of the rows called changed are wrong. The tests have the weights that Family
/// gives them. C. R. Genovese, K. Roeder, L. Wasserman, "False discovery control with p-value weighting",
/// Biometrika 93 (2006) 509-524. A weight alone may not decide what its own 95 % interval leaves open: such a
/// p-value counts as 1, which a larger one always may.
void decide(Diff* diff) {
  const std::vector<Candidate> family = candidates_of(diff);
  for (const Candidate& candidate : family) {
    diff->family.rows += candidate.judged == Judged::kRow;
    diff->family.totals += candidate.judged == Judged::kTotal;
  }
  std::vector<double> p_values;
  for (const Candidate& candidate : family) {
    const double weight = diff->family.part_of(candidate.judged) * static_cast<double>(family.size());
    p_values.push_back(candidate.change->p <= kDiffRate ? candidate.change->p / weight : 1);
  }
  const std::vector<bool> changed = rejected(p_values, kDiffRate);
  for (size_t i = 0; i < family.size(); ++i) {
    if (!changed[i]) continue;
    *family[i].verdict = verdict_of(family[i], diff->old_runs, diff->new_runs);
    if (family[i].decided != nullptr) ++*family[i].decided;
  }
}

void count_runs(const std::vector<MeasuredRun>& runs, size_t* all, size_t* added) {
  for (const MeasuredRun& run : runs) {
    *all += run.added;
    if (run.added > 1) *added += run.added;
  }
}

/// Adds those of a side; without a file's name a profile has that of the side.
void add_profiles(const std::vector<Profile>& side, const char* name, const DiffOptions& options,
                  std::vector<ComparedProfile>* all) {
  for (size_t i = 0; i < side.size(); ++i) {
    const size_t number = all->size();
    all->push_back({&side[i], number < options.files.size() ? options.files[number]
                                                            : name + (" " + std::to_string(i + 1))});
  }
}

bool have_paths(const std::vector<Profile>& side) {
  return std::ranges::all_of(side, [](const Profile& profile) { return profile.paths.recorded; });
}

std::vector<Profile> without_kernel_code(const std::vector<Profile>& side) {
  std::vector<Profile> rest;
  for (const Profile& profile : side) rest.push_back(without_kernel_code(profile));
  return rest;
}

std::vector<Report> reports_of(const std::vector<Profile>& side, const OpenSymbolizer& open, Grouping by) {
  std::vector<Report> reports;
  for (const Profile& profile : side) {
    const bool joins_totals = by == Grouping::kFunction;
    reports.push_back(make_report(profile, open, {.by = by, .path_functions = joins_totals}));
  }
  return reports;
}

std::vector<const Report*> pointers_to(const std::vector<Report>& before, const std::vector<Report>& after) {
  std::vector<const Report*> reports;
  for (const auto* side : {&before, &after})
    for (const Report& report : *side) reports.push_back(&report);
  return reports;
}

std::vector<MeasuredRun> measure_side(const std::vector<Profile>& side, const std::vector<Report>& reports,
                                      double work, const MatchingObjects& objects,
                                      const MatchingLines& lines) {
  std::vector<MeasuredRun> runs;
  for (size_t i = 0; i < side.size(); ++i) runs.push_back(measure(side[i], reports[i], work, objects, lines));
  return runs;
}

RowDeviation total_deviation(const std::vector<MeasuredRun>& runs, double between_runs) {
  const bool exact = knows_cpu(runs);
  const std::vector<Measured> totals = totals_of(runs, exact);
  double mean = 0;
  for (const Measured& run : totals) mean += run.amount / static_cast<double>(totals.size());
  return {.name = "total",
          .amount = mean,
          .deviation = run_deviation(totals, between_runs),
          .counting = counting_deviation(totals),
          .sampled = !exact,
          .short_name = "total"};
}

std::set<DiffKey> keys_of(const std::vector<MeasuredRun>& before, const std::vector<MeasuredRun>& after) {
  std::set<DiffKey> keys;
  for (const auto* side : {&before, &after})
    for (const MeasuredRun& run : *side)
      for (const auto& [key, ticks] : run.ticks) keys.insert(key);
  return keys;
}

/// Adds short names to rows that are functions; names of other rows are short already.
template <class Named>
void add_short_names(const std::vector<Named*>& rows) {
  std::vector<FunctionName> functions;
  functions.reserve(rows.size());
  for (const Named* row : rows) functions.push_back({row->name, row->linkage, row->object});
  std::vector<std::string> names = short_names(functions);
  for (size_t i = 0; i < names.size(); ++i) rows[i]->short_name = std::move(names[i]);
}

/// By line, code without lines is its function.
template <class Named>
std::vector<Named*> functions_of(Grouping by, std::vector<Named>* rows) {
  std::vector<Named*> functions;
  for (Named& row : *rows)
    if (by == Grouping::kFunction || (by == Grouping::kLine && !row.is_line)) functions.push_back(&row);
  return functions;
}

/// Decided rows first, then by the size of the change; last those without ticks.
bool comes_before(const DiffRow& a, const DiffRow& b) {
  const auto rank = [](const DiffRow& row) {
    return std::tuple(row.verdict == Verdict::kUndecided, !row.has_own_ticks(),
                      -std::abs(row.amount.difference));
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return std::tie(a.name, a.object) < std::tie(b.name, b.object);
}

/// The total and all rows, with their verdicts.
void compare_sides(const std::vector<MeasuredRun>& before, const std::vector<MeasuredRun>& after,
                   double between_runs, Diff* diff) {
  count_runs(before, &diff->old_runs, &diff->old_added);
  count_runs(after, &diff->new_runs, &diff->new_added);
  diff->deviation_assumed = before.size() == 1 && after.size() == 1;
  diff->total = compare_totals(before, after, between_runs);
  for (const DiffKey& key : keys_of(before, after))
    diff->rows.push_back(compare(key, before, after, between_runs));
  add_short_names(functions_of(diff->by, &diff->rows));
  decide(diff);
  std::ranges::sort(diff->rows, comes_before);
  diff->rows_with_ticks = static_cast<size_t>(std::ranges::count_if(diff->rows, &DiffRow::has_own_ticks));
}

}  // namespace

const char* verdict_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kMore:
      return "more";
    case Verdict::kLess:
      return "less";
    case Verdict::kNew:
      return "new";
    case Verdict::kGone:
      return "gone";
    default:
      return "undecided";
  }
}

Result<Diff> make_diff(const std::vector<Profile>& before, const std::vector<Profile>& after,
                       const OpenSymbolizer& open, const DiffOptions& options) {
  std::vector<ComparedProfile> all;
  add_profiles(before, "old run", options, &all);
  add_profiles(after, "new run", options, &all);
  auto event = common_event(all);
  if (!event) return std::unexpected(event.error());
  Diff diff;
  MatchingObjects& objects = diff.objects;
  objects = matching_objects(before, after);
  diff.by = options.by;
  diff.names = options.names;
  diff.event = *event;
  diff.work = options.work;
  diff.new_work = options.new_work > 0 ? options.new_work : options.work;
  const std::span profiles(all);
  diff.doubts = doubts_of(profiles.first(before.size()), profiles.subspan(before.size()), options.by);
  diff.open_points = open_points(before, after);
  diff.blind_to_kernel = blind_to_kernel(all, options.by);
  if (const ComparedProfile* compared = first_in_step(all); compared != nullptr) {
    diff.in_step = compared->name;
    diff.clock_tick_ns = compared->profile->clock_tick_ns;
  }
  std::vector<Profile> old_rest, new_rest;
  const bool kernel_code = diff.blind_to_kernel.empty();
  if (!kernel_code) {
    old_rest = without_kernel_code(before);
    new_rest = without_kernel_code(after);
    diff.totals_left_out = options.by == Grouping::kFunction && have_paths(before) && have_paths(after) &&
                           !(have_paths(old_rest) && have_paths(new_rest));
  }
  const std::vector<Profile>&old_side = kernel_code ? before : old_rest,
        &new_side = kernel_code ? after : new_rest;
  const auto old_reports = reports_of(old_side, open, options.by),
             new_reports = reports_of(new_side, open, options.by);
  join_namesakes(pointers_to(old_reports, new_reports), &objects);
  if (options.by == Grouping::kFunction) find_homes(pointers_to(old_reports, new_reports), &objects);
  const MatchingLines lines(old_reports, new_reports, objects);
  auto old_runs = measure_side(old_side, old_reports, diff.work, objects, lines);
  const auto new_runs = measure_side(new_side, new_reports, diff.new_work, objects, lines);
  if (options.by == Grouping::kFunction) join_functions(&old_runs, new_runs);
  for (Doubt& doubt : doubts_of_lines(old_runs, new_runs, objects)) diff.doubts.push_back(std::move(doubt));
  for (Doubt& doubt : doubts_of_names(old_runs, new_runs, objects, options.files, options.by))
    diff.doubts.push_back(std::move(doubt));
  compare_sides(old_runs, new_runs, options.between_runs, &diff);
  return diff;
}

bool Diff::is_in_doubt(const std::string& object) const {
  return std::ranges::any_of(
      doubts, [&](const Doubt& doubt) { return !doubt.object.empty() && doubt.object == object; });
}

bool Diff::is_in_doubt() const {
  return std::ranges::any_of(doubts, [](const Doubt& doubt) { return doubt.object.empty(); });
}

std::vector<const DiffRow*> rows_with_callees(const Diff& diff) {
  std::vector<const DiffRow*> rows;
  for (const DiffRow& row : diff.rows)
    if (row.has_callees()) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [](const DiffRow* a, const DiffRow* b) {
    const auto rank = [](const DiffRow* row) {
      return std::pair(row->total_verdict == Verdict::kUndecided, -std::abs(row->total->difference));
    };
    return rank(a) < rank(b);
  });
  return rows;
}

Result<RunDeviations> run_deviations(const std::vector<Profile>& runs, const OpenSymbolizer& open,
                                     const DiffOptions& options) {
  std::vector<ComparedProfile> all;
  add_profiles(runs, "run", options, &all);
  auto event = common_event(all);
  if (!event) return std::unexpected(event.error());
  RunDeviations result{.event = *event,
                       .doubts = doubts_of(all, {}, options.by),
                       .blind_to_kernel = blind_to_kernel(all, options.by)};
  MatchingObjects objects = matching_objects(runs, {});
  std::vector<Profile> rest;
  if (!result.blind_to_kernel.empty()) rest = without_kernel_code(runs);
  const std::vector<Profile>& side = rest.empty() ? runs : rest;
  const std::vector<Report> reports = reports_of(side, open, options.by);
  join_namesakes(pointers_to(reports, {}), &objects);
  const std::vector<MeasuredRun> measured = measure_side(side, reports, options.work, objects, {});
  std::vector<RowDeviation>& rows = result.rows;
  const bool all_have_paths = std::ranges::all_of(measured, &MeasuredRun::has_paths);
  for (const DiffKey& key : keys_of(measured, {})) {
    const std::string name = name_of(key, measured, {});
    std::vector<Measured> amounts;
    double sum = 0;
    SideTicks own, on_path;
    for (const MeasuredRun& run : measured) {
      amounts.push_back(amount_of(run, static_cast<double>(ticks_of(run, key))));
      sum += amounts.back().amount;
      add(run, ticks_of(run, key), &own);
      add(run, on_path_of(run, key), &on_path);
    }
    // The other side has as many: what would have too few is not tested.
    const auto is_tested = [](const SideTicks& ticks) { return 2 * ticks.effective >= kFewestTicks; };
    if (all_have_paths && on_path.ticks > own.ticks && is_tested(on_path)) ++result.family.totals;
    if (sum == 0) continue;  // it only calls others
    if (is_tested(own)) ++result.family.rows;
    rows.push_back({.name = name,
                    .amount = sum / static_cast<double>(runs.size()),
                    .deviation = run_deviation(amounts, options.between_runs),
                    .counting = counting_deviation(amounts),
                    .object = std::get<1>(key),
                    .linkage = linkage_of(key, measured),
                    .short_name = name,
                    .is_line = place_of(key, measured) != nullptr});
  }
  add_short_names(functions_of(options.by, &rows));
  std::sort(rows.begin(), rows.end(), [](const RowDeviation& a, const RowDeviation& b) {
    return a.amount != b.amount ? a.amount > b.amount : a.name < b.name;
  });
  rows.insert(rows.begin(), total_deviation(measured, options.between_runs));
  return result;
}

}  // namespace pctally
