#include <algorithm>

#include "report/html/parts.h"
#include "report/json.h"

namespace pctally {
namespace {

/// Which part of the CPU time was sampled, where the text report says that the shares are of that part alone.
HtmlJson sampled_part(const Account& account) {
  const bool is_part = unsampled_beyond_chance(account) > kTolerableGap;
  return is_part ? HtmlJson(1 - unsampled_share(account)) : HtmlJson();
}

}  // namespace

HtmlJson html_run(const Profile& profile, const Account& account, const Texts& texts) {
  const Recorded all = recorded(profile);
  return {{"engine", texts.shown(profile.engine)},
          {"event", profile.counts_cpu_time() ? HtmlJson() : HtmlJson(texts.shown(profile.event))},
          {"period", profile.period_ns},
          {"unit", tick_word(profile)},
          {"runs", std::max<size_t>(1, profile.runs.size())},
          {"recorded", all.number},
          {"recorded_unit", all.word},
          {"rate_hz", account.delivered_hz},
          {"wall_s", seconds(duration_of(profile.duration_ns, 1))},
          {"effective_samples", account.effective_samples},
          {"ticks", whole_of(profile).ledger.ticks()},
          {"cpu_s", account.cpu_known ? HtmlJson(seconds(account.cpu_ns)) : HtmlJson()},
          {"sampled_s", time_json(profile, account.sampled_ns)},
          {"lost_s", time_json(profile, account.lost_ns)},
          {"unsampled_s", account.cpu_known ? time_json(profile, account.unsampled_ns) : HtmlJson()},
          {"sampled_part", sampled_part(account)},
          {"chance_s", seconds(account.chance_ns)}};
}

HtmlJson html_warnings(const Report& report, const Texts& texts) {
  HtmlJson list = HtmlJson::array();
  for (const Warning& warning : report.warnings)
    list.push_back({{"id", warning.id},
                    {"severity", severity_word(warning.severity)},
                    {"text", texts.shown(warning.text)}});
  return list;
}

HtmlJson html_path_account(const PathAccount& account) {
  HtmlJson cut = HtmlJson::array();
  for (const PathAccount::Cut& part : account.cuts)
    cut.push_back({{"reason", part.reason}, {"ticks", part.ticks}});
  return {{"complete", account.complete},
          {"folded", account.folded},
          {"no_room", account.no_room},
          {"no_total", account.no_total},
          {"cut", std::move(cut)}};
}

}  // namespace pctally
