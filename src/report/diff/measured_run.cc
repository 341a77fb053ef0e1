#include "report/diff/measured_run.h"

#include <algorithm>

#include "report/account/account.h"
#include "report/names/short_name.h"
#include "report/path_totals.h"

namespace pctally {
namespace {

std::string place_of(const Row& row) { return row.file + ":" + std::to_string(row.line); }

/// By line, code without lines is its function.
bool is_function(const Row& row, Grouping by) {
  return by == Grouping::kFunction || (by == Grouping::kLine && row.file.empty());
}

std::string row_name(const Row& row, Grouping by) {
  if (by == Grouping::kObject) return row.object;
  if (by == Grouping::kProgram)
    return row.program_path.starts_with('/') ? file_name_of(row.program_path) : row.program;
  if (is_by_task(by)) return row.process;
  if (!is_function(row, by)) return place_of(row);
  return without_clone_suffix(row.function.substr(0, row.function.size() - start_in(row.function).size()));
}

/// "+0x1234]" of code without a name, "[object+0x1234]"; empty: it has one.
std::string address_of_nameless(const Row& row) {
  const std::string object = "[" + row.object;
  const bool nameless = row.function.starts_with(object + "+0x") && row.function.ends_with(']');
  return nameless ? row.function.substr(object.size()) : "";
}

bool is_nameless(const Row& row, Grouping by) {
  return by == Grouping::kLine ? row.file.empty() : !address_of_nameless(row).empty();
}

DiffKey add_line(const Row& row, const MatchingObjects& objects, const MatchingLines& lines,
                 MeasuredRun* run) {
  const std::string& object = objects.name_of(row.object);
  const MatchingLines::Key line = lines.key_of(row, object);
  const DiffKey key{line.name, object};
  run->places[key] = {place_of(row), line.match};
  return key;
}

double design_of(double ticks, const Account& account) {
  return account.effective_samples > 0 ? std::max(1.0, ticks / account.effective_samples) : 1;
}

/// Where a profile does not say which paths are complete, any of them may lack the user code that called.
uint64_t unknown_paths(const Profile& profile, bool of_kernel) {
  if (!profile.paths.ends_known && !of_kernel) return profile.ledger.ticks();
  const PathTotal total = total_without_node(profile, of_kernel);
  return total.high + total.cut + profile.paths.no_room;
}

using Numbers = std::map<DiffKey, uint32_t>;

/// Keys that several rows with a total have: of clones, of static functions of one name, of code without a
/// name.
Numbers keys_of_several(const Report& report, const MatchingObjects& objects) {
  std::map<DiffKey, size_t> rows;
  for (const Row& row : report.rows)
    if (row.total.low != 0) ++rows[key_of(row, report.by, objects)];
  Numbers several;
  for (const auto& [key, count] : rows)
    if (count > 1) several.emplace(key, static_cast<uint32_t>(several.size()));
  return several;
}

/// The totals of such functions as of one, for each tick counts once for it. The larger of theirs would be
/// too little where they have other callers or callees.
void join_totals(const Profile& profile, const Report& report, const MatchingObjects& objects,
                 MeasuredRun* run) {
  const Numbers several = keys_of_several(report, objects);
  if (several.empty()) return;
  std::vector<uint32_t> numbers;
  for (const PathFunction& function : report.path_functions.functions) {
    Row row;
    row.function = function.key.function;
    row.object = function.key.object;
    const auto found = several.find(key_of(row, report.by, objects));
    numbers.push_back(found == several.end() || function.several ? PathFunctions::kNone : found->second);
  }
  const auto numbered = [&numbers](std::vector<uint32_t> functions) {
    for (uint32_t& function : functions)
      if (function != PathFunctions::kNone) function = numbers[function];
    return functions;
  };
  PathThings things;
  things.count = several.size();
  things.context = numbered(report.path_functions.context);
  things.plane = numbered(report.path_functions.plane);
  const std::vector<PathTotal> totals = path_totals(profile, things);
  const TickLedger& ledger = profile.ledger;
  const uint64_t most = ledger.counted + ledger.outside + ledger.full;  // a forged file may have more
  for (const auto& [key, number] : several)
    run->on_path[key] = std::max(run->ticks[key], std::min(totals[number].low, most));
}

/// A sum knows the totals of its runs.
void add_totals(const Profile& profile, double work, MeasuredRun* run) {
  const double scale = (profile.counts_cpu_time() ? 1e-6 : 1) / work;
  std::vector<Profile> parts(std::max<size_t>(profile.runs.size(), 1));
  if (profile.runs.empty()) parts[0] = profile;
  for (size_t i = 0; i < profile.runs.size(); ++i) static_cast<ProfileRun&>(parts[i]) = profile.runs[i];
  bool all_known = profile.counts_cpu_time();
  for (const Profile& part : parts) {
    const Account account = account_of(part);
    const auto ticks = static_cast<double>(part.ledger.ticks());
    const double per_tick = static_cast<double>(part.period_ns) * scale;
    run->totals.push_back({ticks * per_tick, per_tick * design_of(ticks, account)});
    run->cpu_totals.push_back(
        {.amount = static_cast<double>(account.cpu_ns) * scale, .resolution = per_tick});
    all_known = all_known && account.cpu_known && account.cpu_ns > 0;
  }
  if (!all_known) run->cpu_totals.clear();
}

}  // namespace

DiffKey key_of(const Row& row, Grouping by, const MatchingObjects& objects) {
  std::string name = row_name(row, by);
  if (by == Grouping::kObject || is_by_task(by)) return {objects.name_of(name), ""};
  const std::string& object =
      by == Grouping::kFunction ? objects.name_of(row.object, name) : objects.name_of(row.object);
  if (const std::string address = address_of_nameless(row); !address.empty())
    name = "[" + object + (objects.same_build.contains(object) ? address : "]");
  return {name, object};
}

std::string linkage_of(const DiffKey& key, const std::vector<MeasuredRun>& runs) {
  for (const MeasuredRun& run : runs)
    if (auto found = run.linkage.find(key); found != run.linkage.end()) return found->second;
  return {};
}

MeasuredRun measure(const Profile& profile, const Report& report, double work, const MatchingObjects& objects,
                    const MatchingLines& lines) {
  const Grouping by = report.by;
  MeasuredRun run;
  run.has_paths = by == Grouping::kFunction && profile.paths.recorded;
  for (const Row& row : report.rows) {
    const DiffKey key = by == Grouping::kLine && !row.file.empty() ? add_line(row, objects, lines, &run)
                                                                   : key_of(row, by, objects);
    run.ticks[key] += row.ticks;
    if (by == Grouping::kFunction || by == Grouping::kLine) {
      NamedTicks& named = run.named[std::get<1>(key)];
      named.all += static_cast<double>(row.ticks);
      if (is_nameless(row, by)) named.nameless += static_cast<double>(row.ticks);
    }
    uint64_t& on_path = run.on_path[key];
    on_path = std::max(on_path, row.total.low);
    if (row.of_kernel) run.kernel_objects.insert(std::get<1>(key));
    if (is_function(row, by) && !row.linkage.empty()) run.linkage[key] = without_clone_suffix(row.linkage);
  }
  // Rows that are no code, as "[lost]", are on no path: their total is their own ticks.
  for (const auto& [key, ticks] : run.ticks) run.on_path[key] = std::max(run.on_path[key], ticks);
  if (run.has_paths) join_totals(profile, report, objects, &run);
  if (run.has_paths) run.unknown_paths = unknown_paths(profile, false);
  if (run.has_paths) run.unknown_kernel_paths = unknown_paths(profile, true);
  run.total_ticks = static_cast<double>(profile.ledger.ticks());
  double scale = profile.counts_cpu_time() ? 1e-6 : 1;
  run.added = std::max<size_t>(profile.runs.size(), 1);
  run.per_tick = static_cast<double>(profile.period_ns) * scale / work / static_cast<double>(run.added);
  run.design = design_of(run.total_ticks, report.account);
  for (auto& [object, named] : run.named) named = {named.all / run.design, named.nameless / run.design};
  add_totals(profile, work, &run);
  return run;
}

}  // namespace pctally
