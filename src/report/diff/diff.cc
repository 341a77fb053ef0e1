#include "report/diff/diff.h"

#include <errno.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "report/names/short_name.h"
#include "report/names/shown_names.h"

namespace pctally {
namespace {

constexpr double kPower80 = 0.8416;  ///< the 80 % point of the normal distribution

using Key = std::tuple<std::string, std::string>;  ///< name, object

struct Run {
  std::map<Key, uint64_t> ticks;
  std::map<Key, std::string> linkage;  ///< of functions whose symbol is another word
  double total_ticks = 0;
  double per_tick = 0;  ///< amount of one tick
  double design = 1;    ///< ticks for one effective tick
  double cpu = 0;       ///< amount measured by the kernel; 0: not known
};

bool is_nameless(const std::string& function) { return function.find("+0x") != std::string::npos; }

std::string row_name(const Row& row, Grouping by) {
  switch (by) {
    case Grouping::kObject:
      return row.object;
    case Grouping::kProcess:
      return row.process;
    case Grouping::kLine:
      return row.file.empty() ? row.function : row.file + ":" + std::to_string(row.line);
    default:
      return without_clone_suffix(row.function);
  }
}

/// Objects that are the same build in all profiles: there an address names the same code.
std::set<std::string> same_builds(const std::vector<const Profile*>& profiles) {
  std::map<std::string, std::set<std::string>> builds;
  for (const Profile* profile : profiles)
    for (const Executable& executable : profile->executables)
      builds[executable.path.substr(executable.path.rfind('/') + 1)].emplace(executable.build_id.begin(),
                                                                             executable.build_id.end());
  std::set<std::string> same;
  for (const auto& [object, ids] : builds)
    if (ids.size() == 1 && !ids.begin()->empty()) same.insert(object);
  return same;
}

Run measure(const Profile& profile, const OpenSymbolizer& open, const DiffOptions& options,
            const std::set<std::string>& same, std::vector<std::string>* doubts) {
  Report report = make_report(profile, open, {.by = options.by});
  Run run;
  for (const Row& row : report.rows) {
    std::string name = row_name(row, options.by);
    if (is_nameless(name) && !same.contains(row.object)) name = "[" + row.object + "]";
    Key key(name, options.by == Grouping::kObject ? "" : row.object);
    run.ticks[key] += row.ticks;
    if (options.by == Grouping::kFunction && !row.linkage.empty())
      run.linkage[key] = without_clone_suffix(row.linkage);
  }
  run.total_ticks = static_cast<double>(profile.ledger.ticks());
  double scale = profile.counts_cpu_time() ? 1e-6 : 1;
  run.per_tick = static_cast<double>(profile.period_ns) * scale / options.work;
  if (report.account.effective_samples > 0)
    run.design = std::max(1.0, run.total_ticks / report.account.effective_samples);
  if (profile.counts_cpu_time() && report.account.cpu_known)
    run.cpu = static_cast<double>(report.account.cpu_ns) * scale / options.work;
  if (!profile.damage.empty()) doubts->push_back("it is damaged");
  if (!profile.closed && !profile.snapshot) doubts->push_back("its recording has not ended in order");
  if (profile.throttled != 0) doubts->push_back("the kernel throttled its ticks");
  for (const Warning& warning : report.warnings)
    if (warning.severity == Severity::kIncomplete) doubts->push_back(warning.text);
  return run;
}

Measured amount_of(const Run& run, double ticks) { return {ticks * run.per_tick, run.per_tick * run.design}; }

Measured share_of(const Run& run, double ticks) {
  double percent = run.total_ticks > 0 ? 100 / run.total_ticks : 0;
  return {ticks * percent, percent * run.design};
}

uint64_t ticks_of(const Run& run, const Key& key) {
  auto found = run.ticks.find(key);
  return found == run.ticks.end() ? 0 : found->second;
}

/// The symbol of `key` in the first run that knows it.
std::string linkage_of(const Key& key, const std::vector<Run>& before, const std::vector<Run>& after) {
  for (const auto* side : {&before, &after})
    for (const Run& run : *side)
      if (auto found = run.linkage.find(key); found != run.linkage.end()) return found->second;
  return {};
}

/// A row that a run has no ticks of counts as 0 there.
DiffRow compare(const Key& key, const std::vector<Run>& before, const std::vector<Run>& after,
                double between_runs) {
  DiffRow row;
  row.name = std::get<0>(key);
  row.object = std::get<1>(key);
  row.linkage = linkage_of(key, before, after);
  std::array<std::vector<Measured>, 2> amounts, shares;
  const std::array<const std::vector<Run>*, 2> sides = {&before, &after};
  for (size_t side = 0; side < 2; ++side) {
    for (const Run& run : *sides[side]) {
      uint64_t ticks = ticks_of(run, key);
      (side == 0 ? row.old_ticks : row.new_ticks) += ticks;
      amounts[side].push_back(amount_of(run, static_cast<double>(ticks)));
      shares[side].push_back(share_of(run, static_cast<double>(ticks)));
    }
  }
  row.amount = test_change(amounts[0], amounts[1], between_runs);
  row.share = test_change(shares[0], shares[1], between_runs);
  return row;
}

/// The kernel's CPU time where it is known of all, else the sampled amount.
std::vector<Measured> totals_of(const std::vector<Run>& runs, bool exact) {
  std::vector<Measured> totals;
  for (const Run& run : runs)
    totals.push_back(exact ? Measured{run.cpu, 0} : amount_of(run, run.total_ticks));
  return totals;
}

bool knows_cpu(const std::vector<Run>& runs) {
  return std::all_of(runs.begin(), runs.end(), [](const Run& run) { return run.cpu > 0; });
}

DiffRow compare_totals(const std::vector<Run>& before, const std::vector<Run>& after, double between_runs) {
  DiffRow row;
  row.name = "total";
  const bool exact = knows_cpu(before) && knows_cpu(after);
  row.amount = test_change(totals_of(before, exact), totals_of(after, exact), between_runs);
  for (const Run& run : before) row.old_ticks += static_cast<uint64_t>(run.total_ticks);
  for (const Run& run : after) row.new_ticks += static_cast<uint64_t>(run.total_ticks);
  return row;
}

Verdict verdict_of(const DiffRow& row, size_t old_runs, size_t new_runs) {
  if (row.old_ticks == 0 && row.new_ticks >= 10 * new_runs) return Verdict::kNew;
  if (row.new_ticks == 0 && row.old_ticks >= 10 * old_runs) return Verdict::kGone;
  return row.amount.difference > 0 ? Verdict::kMore : Verdict::kLess;
}

/// Of all that is called changed at most kDiffRate is wrong. The total is one of the family and bears half of
/// its weight, the rows share the other half. C. R. Genovese, K. Roeder, L. Wasserman, "False discovery
/// control with p-value weighting", Biometrika 93 (2006) 509-524.
void decide(Diff* diff, double design) {
  std::vector<DiffRow*> family = {&diff->total};
  for (DiffRow& row : diff->rows)
    if (static_cast<double>(row.old_ticks + row.new_ticks) >= kFewestTicks * design) family.push_back(&row);
  std::vector<double> p_values;
  auto rows = static_cast<double>(family.size() - 1);
  for (const DiffRow* row : family) {
    double weight = rows == 0 ? 1 : (rows + 1) / (row == &diff->total ? 2 : 2 * rows);
    p_values.push_back(row->amount.p / weight);
  }
  std::vector<bool> changed = rejected(p_values, kDiffRate);
  for (size_t i = 0; i < family.size(); ++i) {
    if (!changed[i]) continue;
    family[i]->verdict = verdict_of(*family[i], diff->old_runs, diff->new_runs);
    diff->decided += family[i] != &diff->total;
  }
}

Result<std::string> common_unit(const std::vector<const Profile*>& profiles) {
  auto word = [](const Profile& profile) {
    return profile.counts_cpu_time() ? "CPU time" : profile.event.c_str();
  };
  for (const Profile* profile : profiles)
    if (profile->event != profiles[0]->event)
      return fail(EINVAL, "one profile counts %s, another %s: they cannot be compared", word(*profiles[0]),
                  word(*profile));
  return profiles[0]->counts_cpu_time() ? "ms" : profiles[0]->event;
}

/// Of rows that are functions; what else is compared is short already.
template <class Named>
void add_short_names(Grouping by, std::vector<Named>* rows) {
  if (by != Grouping::kFunction) return;
  std::vector<FunctionName> functions;
  functions.reserve(rows->size());
  for (const Named& row : *rows) functions.push_back({row.name, row.linkage, row.object});
  std::vector<std::string> names = short_names(functions);
  for (size_t i = 0; i < names.size(); ++i) (*rows)[i].short_name = std::move(names[i]);
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
  std::vector<const Profile*> all;
  for (const auto* side : {&before, &after})
    for (const Profile& profile : *side) all.push_back(&profile);
  auto unit = common_unit(all);
  if (!unit) return std::unexpected(unit.error());
  const std::set<std::string> same = same_builds(all);
  Diff diff;
  diff.by = options.by;
  diff.names = options.names;
  diff.unit = *unit;
  diff.work = options.work;
  diff.old_runs = before.size();
  diff.new_runs = after.size();
  std::vector<Run> old_runs, new_runs;
  for (const Profile& profile : before)
    old_runs.push_back(measure(profile, open, options, same, &diff.doubts));
  for (const Profile& profile : after)
    new_runs.push_back(measure(profile, open, options, same, &diff.doubts));
  std::set<Key> keys;
  double design = 1;
  for (const auto* side : {&old_runs, &new_runs}) {
    for (const Run& run : *side) {
      design = std::max(design, run.design);
      for (const auto& [key, ticks] : run.ticks) keys.insert(key);
    }
  }
  diff.total = compare_totals(old_runs, new_runs, options.between_runs);
  for (const Key& key : keys) diff.rows.push_back(compare(key, old_runs, new_runs, options.between_runs));
  add_short_names(options.by, &diff.rows);
  decide(&diff, design);
  std::sort(diff.rows.begin(), diff.rows.end(), [](const DiffRow& a, const DiffRow& b) {
    auto rank = [](const DiffRow& row) {
      return std::tuple(row.verdict == Verdict::kUndecided, -std::abs(row.amount.difference));
    };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return std::tie(a.name, a.object) < std::tie(b.name, b.object);
  });
  std::sort(diff.doubts.begin(), diff.doubts.end());
  diff.doubts.erase(std::unique(diff.doubts.begin(), diff.doubts.end()), diff.doubts.end());
  return diff;
}

Result<std::vector<RowDeviation>> run_deviations(const std::vector<Profile>& runs, const OpenSymbolizer& open,
                                                 const DiffOptions& options) {
  std::vector<const Profile*> all;
  for (const Profile& profile : runs) all.push_back(&profile);
  if (auto unit = common_unit(all); !unit) return std::unexpected(unit.error());
  const std::set<std::string> same = same_builds(all);
  std::vector<std::string> doubts;
  std::vector<Run> measured;
  std::set<Key> keys;
  for (const Profile& profile : runs) measured.push_back(measure(profile, open, options, same, &doubts));
  for (const Run& run : measured)
    for (const auto& [key, ticks] : run.ticks) keys.insert(key);
  const std::vector<Measured> totals = totals_of(measured, knows_cpu(measured));
  double total = 0;
  for (const Measured& run : totals) total += run.amount / static_cast<double>(runs.size());
  std::vector<RowDeviation> rows;
  for (const Key& key : keys) {
    std::vector<Measured> amounts;
    double sum = 0;
    for (const Run& run : measured) {
      amounts.push_back(amount_of(run, static_cast<double>(ticks_of(run, key))));
      sum += amounts.back().amount;
    }
    rows.push_back({std::get<0>(key), sum / static_cast<double>(runs.size()),
                    run_deviation(amounts, options.between_runs), std::get<1>(key),
                    linkage_of(key, measured, {}), std::get<0>(key)});
  }
  add_short_names(options.by, &rows);
  std::sort(rows.begin(), rows.end(), [](const RowDeviation& a, const RowDeviation& b) {
    return a.amount != b.amount ? a.amount > b.amount : a.name < b.name;
  });
  rows.insert(rows.begin(), {"total", total, run_deviation(totals, options.between_runs), "", "", "total"});
  return rows;
}

size_t runs_needed(const RowDeviation& row, double relative, size_t rows) {
  constexpr double kMost = 1e6;
  double z = two_sided_z(kDiffRate / static_cast<double>(std::max<size_t>(rows, 1))) + kPower80;
  double step = relative * row.amount;
  double runs = step > 0 ? 2 * (z * row.deviation / step) * (z * row.deviation / step) : kMost;
  return runs < kMost ? static_cast<size_t>(std::ceil(std::max(runs, 1.0))) : 0;
}

double visible_change(const Diff& diff, const DiffRow& row) {
  double half = (row.amount.interval.high - row.amount.interval.low) / 2;
  double rows = static_cast<double>(std::max<size_t>(diff.rows.size(), 1));
  return half / kNormal95 * (two_sided_z(kDiffRate / rows) + kPower80);
}

}  // namespace pctally
