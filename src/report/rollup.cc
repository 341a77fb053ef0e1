#include "report/rollup.h"
#include "report/hot_line.h"
#include "report/hot_path.h"

#include <algorithm>
#include <tuple>

#include "report/missing_names.h"
#include "report/names/shown_names.h"
#include "report/part_of_profile.h"
#include "report/print/figures.h"
#include "report/runtime_hints.h"

namespace pctally {
namespace {

constexpr size_t kBatch = 1 << 10;  ///< positions named at a time: their names stay in the cache

Row pseudo_row(Grouping by, const char* name, uint64_t ticks) {
  Row row;
  if (by == Grouping::kObject)
    row.object = name;
  else if (is_by_process(by))
    row.process = name;
  else if (by == Grouping::kProgram)
    row.program = name;
  else if (by == Grouping::kThread)
    row.thread = name;
  else if (by == Grouping::kGroup)
    row.group = name;
  else
    row.function = name;
  row.ticks = ticks;
  return row;
}

uint64_t sum_of_ticks(const std::vector<Row>& rows) {
  uint64_t sum = 0;
  for (const Row& row : rows) sum += row.ticks;
  return sum;
}

/// A recorder that was killed, or a forged file, may have more ticks of paths than ticks with a path.
void measure_total(const Account& account, const TickLedger& ledger, Row* row) {
  if (ledger.ticks() == 0) return;
  row->total.high = std::min(row->total.high, ledger.counted + ledger.outside + ledger.full);
  row->total.low = std::min(row->total.low, row->total.high);
  const TotalShare total = share_of_total(row->total, ledger.ticks(), account.effective_samples);
  row->total_share = total.share;
  row->most_total_share = total.most_share;
  row->total_is_range = total.is_range;
  row->total_interval = total.interval;
  const double cut = static_cast<double>(row->total.cut) / static_cast<double>(ledger.ticks());
  row->cut_share = std::min(cut, 1 - total.share);
}

/// A row of paths that were left out, or whose inner functions are not known: it calls nobody.
bool is_no_code(const Row& row) {
  const std::string& name = !row.object.empty()     ? row.object
                            : !row.function.empty() ? row.function
                            : !row.program.empty()  ? row.program
                            : !row.thread.empty()   ? row.thread
                                                    : row.group;
  return stands_for_no_code(name);
}

void measure(const Profile& profile, const Account& account, std::vector<Row>* rows) {
  auto total = static_cast<double>(profile.ledger.ticks());
  for (Row& row : *rows) {
    row.share = total > 0 ? static_cast<double>(row.ticks) / total : 0;
    row.interval = wilson_interval(row.share, account.effective_samples);
    if (profile.paths.recorded) measure_total(account, profile.ledger, &row);
    (profile.counts_cpu_time() ? row.nanoseconds : row.events) = duration_of(row.ticks, profile.period_ns);
  }
}

auto names_of(const Row& row) {
  return std::tie(row.object, row.function, row.file, row.line, row.inside, row.process, row.pid, row.note,
                  row.program_path, row.program, row.thread, row.group);
}

/// Among rows with as many ticks the larger callers come first: most callers have no ticks of their own.
bool by_ticks(const Row& a, const Row& b) {
  if (a.ticks != b.ticks) return a.ticks > b.ticks;
  if (a.total.low != b.total.low) return a.total.low > b.total.low;
  if (a.total.high != b.total.high) return a.total.high > b.total.high;
  return names_of(a) < names_of(b);
}

/// What is no function has ticks alone.
uint64_t total_of(const Row& row) { return std::max(row.total.low, row.ticks); }

bool by_total(const Row& a, const Row& b) {
  if (total_of(a) != total_of(b)) return total_of(a) > total_of(b);
  return by_ticks(a, b);
}

bool by_name(const Row& a, const Row& b) {
  auto key = [](const Row& row) {
    return std::tie(row.function, row.process, row.thread, row.program, row.group, row.file, row.line,
                    row.object, row.pid);
  };
  if (key(a) != key(b)) return key(a) < key(b);
  return a.ticks > b.ticks;
}

bool by_object_name(const Row& a, const Row& b) {
  return a.object != b.object ? a.object < b.object : by_ticks(a, b);
}

bool is_wanted(const ReportOptions& options, const Row& row) {
  if (options.object != nullptr && !options.object->matches(row.object)) return false;
  if (options.filter == nullptr) return true;
  const auto is_at = [&](const auto& place) {
    return options.filter->matches(place.first + ":" + line_text(place.second));
  };
  if (!row.file.empty() && is_at(std::pair(row.file, row.line))) return true;
  if (std::ranges::any_of(row.inside, is_at) || std::ranges::any_of(row.hot_chain.lines, is_at)) return true;
  for (const std::string* name :
       {&row.function, &row.short_function, &row.object, &row.process, &row.program, &row.thread, &row.group})
    if (!name->empty() && options.filter->matches(*name)) return true;
  return false;
}

void filter(const ReportOptions& options, Report* report) {
  report->filtered = options.filter != nullptr || options.object != nullptr;
  for (const Row& row : report->rows) {
    if (is_wanted(options, row)) continue;
    ++report->filtered_rows;
    report->filtered_ticks += row.ticks;
  }
  std::erase_if(report->rows, [&](const Row& row) { return !is_wanted(options, row); });
}

/// Cuts the rows with the least of what they are sorted by: ticks, or total ticks. A total that is a range
/// may be as large as its upper end.
void truncate(const ReportOptions& options, Report* report) {
  std::vector<Row>& rows = report->rows;
  const auto share_of = [&](const Row& row) {
    return options.order == RowOrder::kTotal ? std::max(row.most_total_share, row.share) : row.share;
  };
  const auto small = std::stable_partition(
      rows.begin(), rows.end(), [&](const Row& row) { return share_of(row) >= options.min_share; });
  auto kept = static_cast<uint64_t>(small - rows.begin());
  report->hides_small = kept < rows.size();
  report->hides_many = options.limit != 0 && kept > options.limit;
  if (report->hides_many) kept = options.limit;
  for (uint64_t i = kept; i < rows.size(); ++i) {
    report->hidden_ticks += rows[i].ticks;
    report->hidden_share = std::max(report->hidden_share, share_of(rows[i]));
  }
  report->hidden_rows = rows.size() - kept;
  rows.resize(kept);
}

void add_rows(const Profile& profile, const OpenSymbolizer& open, const ReportOptions& options,
              Report* report) {
  ObjectNames names(profile, open);
  std::optional<PathFunctions> paths;
  const bool wants_paths = !is_by_process(options.by) && !is_by_scope(options.by);
  if (profile.paths.recorded && wants_paths) paths = path_functions(profile, names);
  if (options.by == Grouping::kLine)
    report->rows = rows_by_line(profile, names, options.lines, paths ? &*paths : nullptr);
  else if (options.by == Grouping::kFunction)
    report->rows = rows_by_function(profile, names, paths ? &*paths : nullptr);
  else if (options.by == Grouping::kObject)
    report->rows = rows_by_object(profile, names, profile.paths.recorded);
  else if (is_by_scope(options.by))
    report->rows = rows_by_scope(profile, options.by, names, profile.paths.recorded);
  else if (options.by == Grouping::kCommand)
    report->rows = rows_by_command(profile);
  else
    report->rows = rows_by_process(profile);
  if (paths) {
    HotPath hot = hot_path(profile, *paths);
    report->hot_path = std::move(hot.frames);
    if (options.hot_line) report->hot_line = hot_line(profile, names, *paths, hot.functions);
    if (options.path_functions) report->path_functions = std::move(*paths);
  }
  for (Row& row : report->rows)
    if (is_no_code(row)) row.total = {};
  if (is_by_process(options.by)) return;
  add_missing_names(profile, names, options.by == Grouping::kLine, &report->warnings);
  if (options.by != Grouping::kObject) add_interpreter_hint(profile, report->rows, &report->warnings);
  add_cut_path_hint(whole_of(profile), &report->warnings);
}

}  // namespace

void for_each_batch(const Profile& profile, const std::function<void(const ExecutableTicks&)>& visit) {
  std::vector<uint64_t> positions, ticks;
  const std::vector<WeightedPosition>& all = profile.positions;
  for (size_t i = 0; i < all.size();) {
    const uint32_t executable = all[i].executable;
    positions.clear();
    ticks.clear();
    for (; i < all.size() && all[i].executable == executable && positions.size() < kBatch; ++i) {
      positions.push_back(all[i].position);
      ticks.push_back(all[i].ticks);
    }
    visit({executable, positions, ticks});
  }
}

void name_rows(std::vector<Row>* rows) {
  std::vector<FunctionName> functions;
  functions.reserve(rows->size());
  std::vector<std::string> beside;  // what stands beside the name: it distinguishes equal short names
  for (const Row& row : *rows)
    beside.push_back(row.file.empty() ? row.object + row.program_path + row.thread + row.group
                                      : row.object + '\n' + row.file + ':' + std::to_string(row.line));
  for (size_t i = 0; i < rows->size(); ++i) {
    const Row& row = (*rows)[i];
    functions.push_back({row.function, row.linkage, beside[i], row.address});
  }
  std::vector<std::string> names = short_names(functions);
  for (size_t i = 0; i < names.size(); ++i) (*rows)[i].short_function = std::move(names[i]);
}

std::vector<Row> grouped_rows(const Profile& profile, Grouping by, ObjectNames& names) {
  switch (by) {
    case Grouping::kObject:
      return rows_by_object(profile, names);
    case Grouping::kLine:
      return rows_by_line(profile, names);
    case Grouping::kProcess:
      return rows_by_process(profile);
    case Grouping::kCommand:
      return rows_by_command(profile);
    case Grouping::kFunction:
      return rows_by_function(profile, names);
    default:
      return rows_by_scope(profile, by, names);
  }
}

std::vector<Row> pseudo_rows(const TickLedger& ledger, Grouping by, const std::vector<Row>& grouped) {
  uint64_t seen = ledger.counted + ledger.outside + ledger.full;
  if (is_by_process(by))
    return {pseudo_row(by, "[no process]", seen - std::min(seen, sum_of_ticks(grouped))),
            pseudo_row(by, "[lost]", ledger.lost)};
  if (is_by_scope(by))
    return {pseudo_row(by, "[no room]", seen - std::min(seen, sum_of_ticks(grouped))),
            pseudo_row(by, "[lost]", ledger.lost)};
  return {pseudo_row(by, "[outside]", ledger.outside), pseudo_row(by, "[full]", ledger.full),
          pseudo_row(by, "[lost]", ledger.lost)};
}

const char* grouping_word(Grouping by) {
  switch (by) {
    case Grouping::kObject:
      return "object";
    case Grouping::kLine:
      return "line";
    case Grouping::kProcess:
      return "process";
    case Grouping::kCommand:
      return "command";
    case Grouping::kProgram:
      return "program";
    case Grouping::kThread:
      return "thread";
    case Grouping::kGroup:
      return "cgroup";
    case Grouping::kProgramFunction:
      return "program,function";
    case Grouping::kThreadFunction:
      return "thread,function";
    case Grouping::kGroupFunction:
      return "cgroup,function";
    default:
      return "function";
  }
}

Grouping grouping_of(std::string_view word) {
  for (Grouping by : {Grouping::kObject, Grouping::kLine, Grouping::kProcess, Grouping::kCommand,
                      Grouping::kProgram, Grouping::kThread, Grouping::kGroup, Grouping::kProgramFunction,
                      Grouping::kThreadFunction, Grouping::kGroupFunction})
    if (word == grouping_word(by)) return by;
  return Grouping::kFunction;
}

Report make_report(const Profile& profile, const OpenSymbolizer& open, const ReportOptions& options) {
  Report report;
  report.by = options.by;
  report.account = account_of(profile);
  report.warnings = warnings_of(profile, report.account);
  if (profile.paths.recorded) report.paths = path_account(whole_of(profile).paths);
  add_rows(profile, open, options, &report);
  for (Row& row : pseudo_rows(profile.ledger, options.by, report.rows))
    if (row.ticks != 0) report.rows.push_back(std::move(row));
  name_rows(&report.rows);
  name_hot_path(report.rows, &report.hot_path);
  measure(profile, report.account, &report.rows);
  if (report.hot_line) {
    HotLine& line = *report.hot_line;
    line.interval = {wilson_interval(line.share, report.account.effective_samples).low,
                     wilson_interval(line.most, report.account.effective_samples).high};
  }
  filter(options, &report);
  std::sort(report.rows.begin(), report.rows.end(), options.order == RowOrder::kTotal ? by_total : by_ticks);
  truncate(options, &report);
  if (options.order == RowOrder::kName || options.order == RowOrder::kObject)
    std::sort(report.rows.begin(), report.rows.end(),
              options.order == RowOrder::kName ? by_name : by_object_name);
  return report;
}

}  // namespace pctally
