#include <fmt/format.h>

#include <cmath>

#include "report/diff/output.h"
#include "report/print/escape.h"
#include "report/print/json_value.h"

namespace pctally {
namespace {

constexpr int kDiffJsonVersion = 1;

Json row_json(const DiffRow& row) {
  Json json = {{"name", valid_utf8(row.name)},
               {"short", valid_utf8(row.short_name.empty() ? row.name : row.short_name)},
               {"object", valid_utf8(row.object)},
               {"verdict", verdict_word(row.verdict)},
               {"amount", change_json(row.amount)},
               {"share_percent", change_json(row.share)},
               {"old_ticks", row.old_side.ticks},
               {"new_ticks", row.new_side.ticks}};
  if (!row.old_place.empty()) json["old_place"] = valid_utf8(row.old_place);
  if (row.total) json["total_amount"] = change_json(*row.total);
  if (row.total) json["total_verdict"] = verdict_word(row.has_callees() ? row.total_verdict : row.verdict);
  if (row.total_in_doubt) json["total_in_doubt"] = true;
  if (row.total_share) json["total_share_percent"] = change_json(*row.total_share);
  return json;
}

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

}  // namespace

Json change_json(const Change& change) {
  return {{"before", change.before},    {"after", change.after},        {"difference", change.difference},
          {"low", change.interval.low}, {"high", change.interval.high}, {"p", change.p}};
}

std::string diff_json(const Diff& diff, const std::vector<LimitResult>& results) {
  Json json = {{"version", kDiffJsonVersion},
               {"by", grouping_word(diff.by)},
               {"unit", diff.counts_cpu_time() ? "ms" : valid_utf8(diff.event)},
               {"work", diff.work},
               {"new_work", diff.new_work},
               {"old_runs", diff.old_runs},
               {"new_runs", diff.new_runs},
               {"old_added", diff.old_added},
               {"new_added", diff.new_added},
               {"verdict", verdict_sentence(diff)},
               {"cause", cause_sentence(diff)},
               {"deviation", deviation_sentence(diff)},
               {"deviation_assumed", diff.deviation_assumed},
               {"interval_percent", 95},
               {"error_rate_percent", kDiffRate * 100},
               {"decided", diff.decided},
               {"decided_totals", diff.decided_totals}};
  Json& doubts = json["doubts"] = Json::array();
  for (const Doubt& doubt : diff.doubts) doubts.push_back(valid_utf8(doubt.text()));
  json["user_code_alone"] = !diff.blind_to_kernel.empty();
  json["totals_left_out"] = diff.totals_left_out;
  json["clock_tick_ms"] = static_cast<double>(diff.clock_tick_ns) / 1e6;
  Json& renamed = json["renamed_objects"] = Json::object();
  for (const auto& [before, after] : diff.objects.renamed) renamed[valid_utf8(before)] = valid_utf8(after);
  json["total"] = {{"verdict", verdict_word(diff.total.verdict)}, {"amount", change_json(diff.total.amount)}};
  Json& rows = json["rows"] = Json::array();
  for (const DiffRow& row : diff.rows) rows.push_back(row_json(row));
  Json& limits = json["limits"] = Json::array();
  for (const LimitResult& result : results) {
    Json limit = {{"limit", valid_utf8(result.limit.text)},
                  {"outcome", outcome_word(result.outcome)},
                  {"measured", finite_or_null(result.measured)},
                  {"low", result.interval.low},
                  {"high", finite_or_null(result.interval.high)},
                  {"unit", unit_of(result.limit)},
                  {"runs_needed", result.runs_needed}};
    if (const auto half = half_width(result)) limit["half_width"] = *half;
    if (!result.line.empty()) limit["line"] = valid_utf8(result.line);
    if (!result.other_name.empty()) limit["other_name"] = result.other_name;
    if (result.in_doubt) limit["paths_in_doubt"] = true;
    if (result.gone) limit["gone"] = true;
    limits.push_back(std::move(limit));
  }
  return json.dump(1) + "\n";
}

}  // namespace pctally
