#include "report/diff/limited_rows.h"

#include <algorithm>
#include <set>

#include "report/names/called.h"
#include "report/names/short_name.h"

namespace pctally {
namespace {

/// A limit means only whole names: by a part of a name it would pass or fail for another function. For a line
/// the end of its path is enough.
Called called(const DiffRow& row, const std::string& name) {
  if (row.is_line)
    return row.name == name ? Called::kInFull : is_path(row.name, name) ? Called::kBare : Called::kNot;
  if (row.name == without_clone_suffix(name)) return Called::kInFull;
  const Called how = called_by(row.name, row.linkage, row.short_name, name);
  return how <= Called::kBare ? how : Called::kNot;
}

bool is_old(const DiffRow& row) { return row.old_side.ticks != 0 || row.old_on_path.ticks != 0; }
bool is_new(const DiffRow& row) { return row.new_side.ticks != 0 || row.new_on_path.ticks != 0; }

/// The best among the rows that `is_there`.
Called best_called(const Diff& diff, const std::string& name, const auto& is_there) {
  Called best = Called::kNot;
  for (const DiffRow& row : diff.rows)
    if (is_there(row)) best = std::min(best, called(row, name));
  return best;
}

/// The largest row that one side alone has and whose short name one of `rows` has, if the side has none of
/// these; or null.
const DiffRow* namesake(const Diff& diff, const std::vector<const DiffRow*>& rows, const auto& is_here,
                        const auto& is_there, SideTicks DiffRow::*ticks) {
  if (diff.by != Grouping::kFunction || std::ranges::any_of(rows, [&](auto* row) { return is_here(*row); }))
    return nullptr;
  const DiffRow* found = nullptr;
  for (const DiffRow& row : diff.rows) {
    if ((row.*ticks).ticks == 0 || is_there(row)) continue;
    const auto has_name = [&row](const DiffRow* meant) { return bare_name(*meant) == bare_name(row); };
    if (std::ranges::none_of(rows, has_name)) continue;
    if (found == nullptr || (row.*ticks).ticks > (found->*ticks).ticks) found = &row;
  }
  return found;
}

/// Those that the end of a path means, each once.
std::vector<std::string> lines_ending(const std::vector<const DiffRow*>& rows, const std::string& name) {
  std::set<std::string> lines;
  for (const DiffRow* row : rows)
    if (row->is_line && row->name != name) lines.insert(row->name);
  return {lines.begin(), lines.end()};
}

}  // namespace

std::string bare_name(const DiffRow& row) { return short_function_name(row.name, row.linkage); }

LimitedRows limited_rows(const Diff& diff, const std::string& name, bool totals) {
  LimitedRows limited;
  const Called best = best_called(diff, name, [](const DiffRow&) { return true; });
  limited.named = best != Called::kNot;
  const Called old_best = best_called(diff, name, is_old), new_best = best_called(diff, name, is_new);
  bool has_ticks = false;
  for (const DiffRow& row : diff.rows) {
    const Called how = called(row, name);
    if (how == Called::kNot || !(totals ? is_old(row) || is_new(row) : row.has_own_ticks())) continue;
    has_ticks = has_ticks || how == best;
    if ((how == old_best && is_old(row)) || (how == new_best && is_new(row))) limited.rows.push_back(&row);
  }
  if (!has_ticks) limited.rows.clear();  // the function that is meant only calls others
  limited.lines = lines_ending(limited.rows, name);
  limited.new_namesake =
      namesake(diff, limited.rows, is_new, is_old, totals ? &DiffRow::new_on_path : &DiffRow::new_side);
  limited.old_namesake =
      namesake(diff, limited.rows, is_old, is_new, totals ? &DiffRow::old_on_path : &DiffRow::old_side);
  return limited;
}

}  // namespace pctally
