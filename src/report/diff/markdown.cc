#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/diff/output.h"
#include "report/print/escape.h"
#include "report/print/figures.h"
#include "report/print/markdown.h"

namespace pctally {
namespace {

std::string row_line(const Diff& diff, double scale, const DiffRow& row, const Change& change,
                     const Change& share, Verdict verdict) {
  const double half_width = (change.interval.high - change.interval.low) / 2;
  return fmt::format("| {} | {} | {} | {} | {:+.1f} | {} | {} |\n",
                     signed_rounded(change.difference * scale, 3), rounded(half_width * scale, 3),
                     rounded(change.before * scale, 4), rounded(change.after * scale, 4), share.difference,
                     markdown_cell(shown_name(diff, row)), verdict_word(verdict));
}

std::string head(const AmountUnit& unit, const std::string& title) {
  return fmt::format("| change {0} | ± | old | new | share pp | {1} | |\n|--:|--:|--:|--:|--:|:--|:--|\n",
                     markdown_text(unit.name), title);
}

std::string table(const Diff& diff, const AmountUnit& unit, size_t first, size_t last) {
  std::string out = head(unit, grouping_word(diff.by));
  for (size_t i = first; i < last; ++i)
    out += row_line(diff, unit.scale, diff.rows[i], diff.rows[i].amount, diff.rows[i].share,
                    diff.rows[i].verdict);
  return out;
}

std::string decided_totals(const Diff& diff, const AmountUnit& unit) {
  if (diff.decided_totals == 0) return "";
  std::string out = "\n" + head(unit, "function with all it calls");
  for (const DiffRow* row : rows_with_callees(diff))
    if (row->total_verdict != Verdict::kUndecided)
      out += row_line(diff, unit.scale, *row, *row->total, *row->total_share, row->total_verdict);
  return out;
}

/// `last`: behind the last row that is shown.
std::string undecided_title(const Diff& diff, size_t last) {
  const std::string title = fmt::format("{} rows undecided", diff.rows_with_ticks - diff.decided);
  if (last == diff.rows_with_ticks) return title;
  return title + fmt::format(", the first {} of them", last - diff.decided);
}

}  // namespace

std::string diff_markdown(const Diff& diff, const std::vector<LimitResult>& results, size_t limit) {
  std::string out = fmt::format("**{}**\n", markdown_text(verdict_sentence(diff)));
  if (std::string cause = cause_sentence(diff); !cause.empty())
    out += fmt::format("\n{}\n", markdown_text(cause));
  if (std::string renamed = renamed_sentence(diff); !renamed.empty())
    out += fmt::format("\n{}\n", markdown_text(renamed));
  for (const std::string& remark : remarks_of(diff)) out += fmt::format("\n{}\n", markdown_text(remark));
  for (const std::string& doubt : first_texts(diff.doubts))
    out += fmt::format("\nWarning: {}\n", markdown_text(doubt));
  if (!results.empty()) out += "\n| limit | measured | |\n|:--|--:|:--|\n";
  for (const LimitResult& result : results) {
    out += fmt::format("| {} | {} | {}", markdown_cell(result.limit.text), measured_text(result),
                       outcome_word(result.outcome));
    for (const std::string& remark : remarks_of(result)) out += "; " + markdown_cell(remark);
    out += " |\n";
  }
  const AmountUnit unit = unit_of_rows(diff, HUGE_VAL);
  if (diff.decided != 0) out += fmt::format("\n{}", table(diff, unit, 0, diff.decided));
  out += decided_totals(diff, unit);
  size_t last = limit == 0 ? diff.rows_with_ticks : std::min(diff.rows_with_ticks, diff.decided + limit);
  if (last > diff.decided)
    out += fmt::format("\n<details><summary>{}</summary>\n\n{}\n</details>\n", undecided_title(diff, last),
                       table(diff, unit, diff.decided, last));
  for (const std::string& sentence : {rate_sentence(diff), interval_sentence(), deviation_sentence(diff)})
    if (!sentence.empty()) out += fmt::format("\n{}\n", sentence);
  return out;
}

}  // namespace pctally
