#include <algorithm>
#include <cmath>

#include "report/diff/output.h"
#include "report/html/parts.h"

namespace pctally {
namespace {

constexpr size_t kMostChanges = 2000;  ///< the decided ones and the largest changes

HtmlJson shown_change(const Change& change) {
  return {{"before", change.before},
          {"after", change.after},
          {"difference", change.difference},
          {"low", change.interval.low},
          {"high", change.interval.high}};
}

HtmlJson change_or_null(const std::optional<Change>& change) {
  return change ? shown_change(*change) : HtmlJson();
}

/// The functions that each row compares as one, by number. Names that are shown do not tell: they have
/// addresses where several functions have one name, and arguments where two of one side look alike.
std::map<DiffKey, std::vector<int64_t>> functions_of_rows(const Diff& diff, const FunctionList& list) {
  std::map<DiffKey, std::vector<int64_t>> functions;
  if (diff.by != Grouping::kFunction) return functions;
  int64_t number = 0;
  for (const auto& [name, object] : list.full_names()) {
    Row row;
    row.function = name;
    row.object = object;
    functions[key_of(row, diff.by, diff.objects)].push_back(number++);
  }
  return functions;
}

Change scaled(Change change, double scale) {
  for (double* amount :
       {&change.before, &change.after, &change.difference, &change.interval.low, &change.interval.high})
    *amount *= scale;
  return change;
}

}  // namespace

HtmlJson html_diff(const Diff& diff, const std::vector<LimitResult>& limits, const FunctionList& list,
                   const Texts& texts) {
  HtmlJson doubts = HtmlJson::array(), rows = HtmlJson::array(), checked = HtmlJson::array();
  for (const LimitResult& result : limits)
    checked.push_back({{"outcome", outcome_word(result.outcome)}, {"text", texts.shown(text_of(result))}});
  for (const std::string& remark : remarks_of(diff)) doubts.push_back(texts.shown(remark));
  for (const Doubt& doubt : diff.doubts) doubts.push_back(texts.shown(doubt.text()));
  const AmountUnit unit = unit_of_rows(diff, 999);  // never seconds: the page has room for thousands
  std::map<DiffKey, std::vector<int64_t>> functions = functions_of_rows(diff, list);
  double most_amount = 0, most_share = 0;  // of the rows left out
  for (const DiffRow& row : diff.rows) {
    if (rows.size() == kMostChanges) {
      most_amount = std::max(most_amount, std::abs(row.amount.difference) * unit.scale);
      most_share = std::max(most_share, std::abs(row.share.difference));
      continue;
    }
    rows.push_back({{"name", texts.shown(shown_name(diff, row))},
                    {"object", texts.shown_path(row.object)},
                    {"functions", functions[{row.name, row.object}]},
                    {"verdict", verdict_word(row.verdict)},
                    {"amount", shown_change(scaled(row.amount, unit.scale))},
                    {"share_percent", shown_change(row.share)},
                    {"total", row.total ? shown_change(scaled(*row.total, unit.scale)) : HtmlJson()},
                    {"total_verdict", verdict_word(row.has_callees() ? row.total_verdict : row.verdict)},
                    {"total_share", change_or_null(row.total_share)}});
  }
  return {
      {"unit", diff.counts_cpu_time() ? unit.name : texts.shown(diff.event)},
      {"work", diff.work == 1 ? diff.new_work : diff.work},
      {"old_runs", diff.old_runs},
      {"new_runs", diff.new_runs},
      {"verdict", texts.shown(verdict_sentence(diff))},
      {"cause", texts.shown(cause_sentence(diff))},
      {"power", texts.shown(power_sentence(diff))},
      {"deviation", texts.shown(deviation_sentence(diff))},
      {"renamed", texts.shown(renamed_sentence(diff))},
      {"decided", diff.decided},
      {"all_rows", diff.rows_with_ticks},
      {"left_out",
       {{"rows", diff.rows.size() - rows.size()}, {"amount", most_amount}, {"share_percent", most_share}}},
      {"doubts", std::move(doubts)},
      {"limits", std::move(checked)},
      {"rows", std::move(rows)}};
}

}  // namespace pctally
