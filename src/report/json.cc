#include "report/json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/names/shown_names.h"
#include "report/print/escape.h"
#include "report/print/json_value.h"

namespace pctally {
namespace {

void add_scope(const Row& row, Grouping by, Json* json) {
  if (by == Grouping::kGroup || by == Grouping::kGroupFunction) {
    (*json)["cgroup"] = valid_utf8(row.group);
    return;
  }
  (*json)["program"] = valid_utf8(row.program);
  (*json)["program_path"] = valid_utf8(row.program_path);
  if (by == Grouping::kThread || by == Grouping::kThreadFunction) (*json)["thread"] = valid_utf8(row.thread);
}

Json inlined_json(const InlinedLines& lines) {
  Json json = Json::array();
  for (const auto& [file, line] : lines) json.push_back({{"file", valid_utf8(file)}, {"line", line}});
  return json;
}

Json row_json(const Profile& profile, const Row& row, Grouping by) {
  Json json = {{"share", row.share},
               {"low", row.interval.low},
               {"high", row.interval.high},
               {"seconds", time_json(profile, row.nanoseconds)},
               {"ticks", row.ticks},
               {"function", valid_utf8(row.function)},
               {"short", valid_utf8(row.short_function)},
               {"linkage", valid_utf8(shown_name(NameStyle::kLinkage, {}, row.function, row.linkage))},
               {"object", valid_utf8(row.object)},
               {"file", valid_utf8(row.file)},
               {"line", row.line}};
  if (!row.inside.empty()) json["inside"] = inlined_json(row.inside);
  if (const HotChain& chain = row.hot_chain; !chain.lines.empty())
    json["hot_chain"] = {
        {"inside", inlined_json(chain.lines)}, {"ticks", chain.ticks}, {"others", chain.others}};
  if (!profile.counts_cpu_time()) json["events"] = row.events;
  if (profile.paths.recorded && row.total.high != 0) {
    json["total"] = row.total_share;
    json["total_low"] = row.total_interval.low;
    json["total_high"] = row.total_interval.high;
    json["total_high_with_cut"] = std::min(1.0, row.total_interval.high + row.cut_share);
    json["total_ticks"] = row.total.low;
  }
  if (by == Grouping::kProcess) {
    json["process"] = valid_utf8(row.process);
    json["pid"] = row.pid;
  }
  if (by == Grouping::kCommand) {
    json["process"] = valid_utf8(row.process);
    json["processes"] = row.processes == 0 ? Json() : Json(row.processes);
  }
  if (is_by_scope(by)) add_scope(row, by, &json);
  return json;
}

Json process_json(const ProfileProcess& process) {
  return {{"pid", process.pid},
          {"comm", valid_utf8(process.comm)},
          {"ticks", process.ticks},
          {"engine", valid_utf8(process.engine)},
          {"note", process.note}};
}

Json command_json(const ProfileRun& profile) {
  Json command = Json::array();
  for (const std::string& argument : profile.command) command.push_back(valid_utf8(argument));
  return command;
}

Json run_json(const ProfileRun& run) {
  const auto cpu_ns = static_cast<int64_t>(run.cpu_user_ns + run.cpu_system_ns);
  return {{"command", command_json(run)},
          {"engine", valid_utf8(run.engine)},
          {"machine", valid_utf8(run.machine)},
          {"started_unix_ns", run.started_unix_ns},
          {"period", run.period_ns},
          {"ticks", run.ledger.ticks()},
          {"samples", run.ledger.samples},
          {"cpu_s", run.cpu_known ? Json(seconds(cpu_ns)) : Json()},
          {"closed", run.closed}};
}

void add_run(const Profile& profile, const Account& account, Json* json) {
  (*json)["version"] = kJsonVersion;
  (*json)["command"] = command_json(profile);
  (*json)["engine"] = valid_utf8(profile.engine);
  (*json)["period_ns"] = profile.counts_cpu_time() ? Json(profile.period_ns) : Json();
  if (!profile.counts_cpu_time()) {
    (*json)["event"] = valid_utf8(profile.event);
    (*json)["period_events"] = profile.period_ns;
    (*json)["sampled_events"] = account.sampled_events;
    (*json)["lost_events"] = account.lost_events;
  }
  (*json)["rate_hz"] = account.delivered_hz;
  (*json)["rate_asked_hz"] = account.asked_hz;
  (*json)["samples"] = profile.ledger.samples;
  (*json)["effective_samples"] = account.effective_samples;
  (*json)["wall_s"] = seconds(duration_of(profile.duration_ns, 1));
  (*json)["stolen_s"] = seconds(duration_of(profile.stolen_ns, 1));
  for (const ProfileRun& run : profile.runs) (*json)["runs"].push_back(run_json(run));
}

void add_account(const Profile& profile, const Account& account, Json* json) {
  const TickLedger& ledger = whole_of(profile).ledger;
  (*json)["ticks"] = ledger.ticks();
  (*json)["counted"] = ledger.counted;
  (*json)["outside"] = ledger.outside;
  (*json)["full"] = ledger.full;
  (*json)["lost"] = ledger.lost;
  (*json)["cpu_s"] = account.cpu_known ? Json(seconds(account.cpu_ns)) : Json();
  (*json)["sampled_s"] = time_json(profile, account.sampled_ns);
  (*json)["lost_s"] = time_json(profile, account.lost_ns);
  (*json)["chance_s"] = seconds(account.chance_ns);
  (*json)["unsampled_s"] = account.cpu_known ? time_json(profile, account.unsampled_ns) : Json();
  Json parts = Json::array();
  for (const UnsampledPart& part : unsampled_parts(profile))
    parts.push_back({{"reason", part.reason}, {"seconds", seconds(part.ns)}});
  if (!parts.empty()) (*json)["unsampled_parts"] = std::move(parts);
}

void add_paths(const Report& report, Json* json) {
  const PathAccount& account = report.paths;
  Json cuts = Json::array(), hot = Json::array();
  for (const PathAccount::Cut& cut : account.cuts) cuts.push_back({{"reason", cut.id}, {"ticks", cut.ticks}});
  for (const HotFrame& frame : report.hot_path)
    hot.push_back({{"function", valid_utf8(frame.function)},
                   {"object", valid_utf8(frame.object)},
                   {"after_left_out", frame.after_left_out},
                   {"share", frame.share}});
  (*json)["paths"] = {{"complete", account.ends_known ? Json(account.complete) : Json()},
                      {"cut", std::move(cuts)},
                      {"folded", account.folded},
                      {"first_come", account.first_come},
                      {"no_room", account.no_room},
                      {"no_total", account.no_total},
                      {"hot_path", std::move(hot)}};
  if (const auto& line = report.hot_line)
    (*json)["paths"]["hot_line"] = {{"file", valid_utf8(line->file)},
                                    {"line", line->line},
                                    {"function", valid_utf8(line->function)},
                                    {"share", line->share},
                                    {"low", line->interval.low},
                                    {"high", line->interval.high}};
}

void add_rows(const Profile& profile, const Report& report, Json* json) {
  (*json)["by"] = grouping_word(report.by);
  Json& rows = (*json)["rows"] = Json::array();
  for (const Row& row : report.rows) rows.push_back(row_json(profile, row, report.by));
  (*json)["hidden_rows"] = report.hidden_rows;
  (*json)["hidden_ticks"] = report.hidden_ticks;
  if (!report.filtered) return;
  (*json)["filtered_rows"] = report.filtered_rows;
  (*json)["filtered_ticks"] = report.filtered_ticks;
}

}  // namespace

const char* severity_word(Severity severity) {
  if (severity == Severity::kNote) return "note";
  return severity == Severity::kWarning ? "warning" : "incomplete";
}

Json time_json(const Profile& profile, int64_t nanoseconds) {
  return profile.counts_cpu_time() ? Json(seconds(nanoseconds)) : Json();
}

void add_warnings(std::span<const Warning> given, Json* json) {
  Json warnings = Json::array();
  bool complete = true;
  for (const Warning& warning : given) {
    warnings.push_back({{"id", warning.id},
                        {"severity", severity_word(warning.severity)},
                        {"text", valid_utf8(warning.text)}});
    complete = complete && warning.severity != Severity::kIncomplete;
  }
  (*json)["complete"] = complete;
  (*json)["warnings"] = std::move(warnings);
}

std::string json_report(const Profile& profile, const Report& report) {
  Json json;
  add_run(profile, report.account, &json);
  add_account(profile, report.account, &json);
  add_warnings(report.warnings, &json);
  if (profile.paths.recorded) add_paths(report, &json);
  add_rows(profile, report, &json);
  Json& processes = json["processes"] = Json::array();
  for (const ProfileProcess& process : profile.processes) processes.push_back(process_json(process));
  return json.dump(1) + "\n";
}

}  // namespace pctally
