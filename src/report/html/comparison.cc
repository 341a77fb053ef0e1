#include <algorithm>
#include <cmath>

#include "report/diff/output.h"
#include "report/html/parts.h"

namespace pctally {
namespace {

constexpr size_t kMostChanges = 2000;  ///< the decided ones and the largest changes

HtmlJson change_or_null(const std::optional<Change>& change) {
  return change ? change_json(*change) : HtmlJson();
}

}  // namespace

HtmlJson html_diff(const Diff& diff, const Texts& texts) {
  HtmlJson doubts = HtmlJson::array(), rows = HtmlJson::array();
  for (const std::string& remark : remarks_of(diff)) doubts.push_back(texts.shown(remark));
  for (const Doubt& doubt : diff.doubts) doubts.push_back(texts.shown(doubt.text()));
  double most_amount = 0, most_share = 0;  // of the rows left out
  for (const DiffRow& row : diff.rows) {
    if (rows.size() == kMostChanges) {
      most_amount = std::max(most_amount, std::abs(row.amount.difference));
      most_share = std::max(most_share, std::abs(row.share.difference));
      continue;
    }
    rows.push_back({{"name", texts.shown(shown_name(diff, row))},
                    {"object", texts.shown_path(row.object)},
                    {"verdict", verdict_word(row.verdict)},
                    {"amount", change_json(row.amount)},
                    {"share_percent", change_json(row.share)},
                    {"total", change_or_null(row.total)},
                    {"total_verdict", verdict_word(row.has_callees() ? row.total_verdict : row.verdict)},
                    {"total_share", change_or_null(row.total_share)}});
  }
  return {
      {"unit", texts.shown(diff.counts_cpu_time() ? "ms" : diff.event)},
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
      {"rows", std::move(rows)}};
}

}  // namespace pctally
