#include "report/live/live.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "profile/subtract.h"
#include "report/account/path_account.h"

namespace pctally {
namespace {

constexpr uint64_t kCopiesPerWindow = 8;  ///< so it is up to an eighth longer than asked
constexpr double kFalseAlarms = 0.05;     ///< per table

double share_of(uint64_t ticks, uint64_t total) {
  return total == 0 ? 0 : static_cast<double>(ticks) / static_cast<double>(total);
}

bool has_totals(const Profile& profile, Grouping by) {
  return by == Grouping::kFunction && profile.paths.recorded;
}

std::vector<Row> rows_of(const Profile& profile, Grouping by, ObjectNames& names) {
  if (!has_totals(profile, by)) return grouped_rows(profile, by, names);
  const PathFunctions paths = path_functions(profile, names);
  return rows_by_function(profile, names, &paths);
}

std::vector<Row> all_rows(const Profile& profile, Grouping by, ObjectNames& names) {
  std::vector<Row> rows = rows_of(profile, by, names);
  for (Row& row : pseudo_rows(profile.ledger, by, rows)) rows.push_back(std::move(row));
  return rows;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool holds(const std::string& name, const std::string& part) {
  return std::search(name.begin(), name.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower(a) == lower(b); }) != name.end();
}

bool matches(const Row& row, const std::string& filter) {
  return filter.empty() || holds(row.function, filter) || holds(row.short_function, filter) ||
         holds(row.object, filter) || holds(row.file, filter) || holds(row.process, filter) ||
         holds(row.program, filter) || holds(row.thread, filter) || holds(row.group, filter);
}

auto names_of(const Row& row) {
  return std::tie(row.object, row.function, row.file, row.line, row.process, row.pid, row.program,
                  row.program_path, row.program_build, row.thread, row.group, row.address);
}

bool most_now(const LiveRow& a, const LiveRow& b) {
  if (a.now_ticks != b.now_ticks) return a.now_ticks > b.now_ticks;
  if (a.now_total != b.now_total) return a.now_total > b.now_total;
  if (a.all.ticks != b.all.ticks) return a.all.ticks > b.all.ticks;
  return names_of(a.all) < names_of(b.all);
}

/// Ticks whose paths the recorder has read: those inside programs are counted at once, and read later. Lost
/// ones never have a path.
uint64_t ticks_with_paths(const Profile& profile) {
  uint64_t ticks = profile.paths.no_room + profile.ledger.lost;
  for (const PathTreeNode& node : profile.paths.context) ticks += node.self + node.folded;
  return ticks - unread_ticks(profile.paths.context);
}

/// Totals and effective samples of the two sides of the comparison.
struct Sides {
  uint64_t all = 0, now = 0, before = 0;  ///< ticks
  uint64_t now_with_paths = 0;
  double all_samples = 0, now_samples = 0, before_samples = 0;
};

/// `alpha`: how likely the trend of a row may be wrong.
void measure(const Sides& sides, double alpha, LiveRow* row) {
  row->all.share = share_of(row->all.ticks, sides.all);
  row->all.interval = wilson_interval(row->all.share, sides.all_samples);
  row->now_share = share_of(row->now_ticks, sides.now);
  // A total is at least the function's own ticks, whose paths may not be read.
  const auto total_share = [&](uint64_t ticks) {
    const double of_paths = std::min(1.0, share_of(ticks, sides.now_with_paths));
    return ticks <= row->now_ticks ? row->now_share : std::max(row->now_share, of_paths);
  };
  row->now_total_share = total_share(row->now_total);
  const double most = total_share(row->now_total_high);
  row->now_total_is_least = is_wide_range(row->now_total_share, most, sides.now_samples);
  row->now_interval = wilson_interval(row->now_share, sides.now_samples);
  if (!(sides.now_samples > 0) || !(sides.before_samples > 0)) return;
  double before = share_of(row->all.ticks - std::min(row->all.ticks, row->now_ticks), sides.before);
  before = std::min(before, 1.0);  // ticks resolved since were elsewhere before
  row->change = row->now_share - before;
  const double p = p_of_shares(row->now_share, sides.now_samples, before, sides.before_samples);
  row->trend = p > alpha ? Trend::kSteady : row->change > 0 ? Trend::kUp : Trend::kDown;
}

/// Rows by scope, and those with totals, are those that ran: the window may have fewer. Its ticks in the
/// order of `all`.
std::vector<Row> aligned(const std::vector<Row>& all, const std::vector<Row>& now) {
  std::map<decltype(names_of(all[0])), size_t> places;
  std::vector<Row> result(all.size());
  for (size_t i = 0; i < all.size(); ++i) places.try_emplace(names_of(all[i]), i);
  for (const Row& row : now)
    if (const auto found = places.find(names_of(row)); found != places.end()) {
      result[found->second].ticks += row.ticks;
      result[found->second].total = row.total;
    }
  return result;
}

std::vector<LiveRow> joined(std::vector<Row> all, const std::vector<Row>& now) {
  std::vector<LiveRow> rows;
  for (size_t i = 0; i < all.size(); ++i) {
    LiveRow row;
    row.now_ticks = i < now.size() ? now[i].ticks : 0;
    row.now_total = i < now.size() ? now[i].total.low : 0;
    row.now_total_high = i < now.size() ? now[i].total.high : 0;
    if (all[i].ticks == 0 && row.now_ticks == 0 && all[i].total.high == 0) continue;
    row.all = std::move(all[i]);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

/// A recording that is no longer than the window, or ended, is shown as a whole.
void LiveHistory::begin(const Profile& first, uint64_t at_ns) {
  if (!first.closed && first.recorder_alive && first.duration_ns > window_ns_) return;
  copies_.push_back({Profile{}, at_ns - std::min(at_ns, first.duration_ns)});
}

void LiveHistory::add(Profile profile, uint64_t at_ns) {
  if (copies_.empty()) begin(profile, at_ns);
  // The last but one stays the latest until enough time has gone by for another.
  size_t count = copies_.size();
  if (count >= 2 && copies_[count - 1].at_ns - copies_[count - 2].at_ns < window_ns_ / kCopiesPerWindow)
    copies_.pop_back();
  copies_.push_back({std::move(profile), at_ns});
  while (copies_.size() > 2 && at_ns - copies_[1].at_ns >= window_ns_) copies_.pop_front();
}

LiveTable make_live_table(const LiveHistory& history, NameCache& names, const LiveOptions& options) {
  const Profile &latest = history.latest(), &before = history.before();
  LiveTable table;
  table.window = subtract(latest, before);
  const Profile& now = table.window;
  table.by = options.by;
  table.with_totals = has_totals(latest, options.by);
  table.ledger = latest.ledger;
  table.now_ledger = now.ledger;
  table.window_ns = history.window_ns();
  if (latest.duration_ns != 0) table.window_ns = std::min(table.window_ns, latest.duration_ns);
  table.account = account_of(latest);
  table.warnings = warnings_of(latest, table.account);
  ObjectNames objects(latest, [&names](const ExecutableIdentity& identity) { return names.open(identity); });
  std::vector<Row> all = all_rows(latest, options.by, objects);
  name_rows(&all);
  std::vector<Row> in_window = all_rows(now, options.by, objects);
  if (is_by_scope(options.by) || options.by == Grouping::kCommand || table.with_totals)
    in_window = aligned(all, in_window);
  table.rows = joined(std::move(all), in_window);
  table.all_rows = table.rows.size();
  Sides sides{latest.ledger.ticks(),
              now.ledger.ticks(),
              before.ledger.ticks(),
              ticks_with_paths(now),
              table.account.effective_samples,
              account_of(now).effective_samples,
              account_of(before).effective_samples};
  const double alpha = kFalseAlarms / static_cast<double>(std::max<size_t>(table.rows.size(), 1));
  for (LiveRow& row : table.rows) measure(sides, alpha, &row);
  std::erase_if(table.rows, [&](const LiveRow& row) { return !matches(row.all, options.filter); });
  std::sort(table.rows.begin(), table.rows.end(), most_now);
  return table;
}

}  // namespace pctally
