#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "export/formats.h"
#include "profile/command.h"
#include "report/print/figures.h"
#include "report/print/markdown.h"

namespace pctally {
namespace {

std::string amount(const Profile& profile, uint64_t ticks) {
  const int64_t amount = duration_of(ticks, profile.period_ns);
  return profile.counts_cpu_time() ? fmt::format("{:.3f}", seconds(amount))
                                   : grouped(static_cast<uint64_t>(amount));
}

/// "1,203 ticks, "; nothing where the amount is their number.
std::string ticks_before_amount(const Profile& profile) {
  const bool is_amount = tick_word(profile) != std::string_view("tick");
  return is_amount ? "" : counted_ticks(profile, profile.ledger.ticks()) + ", ";
}

std::string share(double part, double whole) {
  return fmt::format("{:.2f}", whole > 0 ? 100 * part / whole : 0.0);
}

}  // namespace

std::string markdown_export(const Profile& profile, const Report& report, NameStyle names) {
  const auto whole = static_cast<double>(profile.ledger.ticks());
  const std::string command = profile.command.empty() ? "" : markdown_code(command_line(profile)) + ": ";
  std::string out = fmt::format(
      "{}{}{} {}\n\n", command, ticks_before_amount(profile), amount(profile, profile.ledger.ticks()),
      profile.counts_cpu_time() ? "s of CPU time sampled" : markdown_text(profile.event));
  for (const Warning& warning : report.warnings) {
    const bool note = warning.severity == Severity::kNote;
    if (!note || warning.id == std::string_view("in-step"))  // others say how to read what is not here
      out += fmt::format("{}: {}\n\n", note ? "Note" : "Warning", markdown_text(warning.text));
  }
  const bool has_ticks = !ticks_are_events(profile);
  const auto if_has_ticks = [&](const std::string& cell) { return has_ticks ? cell + " | " : ""; };
  out += fmt::format("| share % | ± | {} | {}function | object |\n|--:|--:|--:|{}:--|:--|\n",
                     profile.counts_cpu_time() ? "seconds" : "events",
                     if_has_ticks(tick_number_title(profile)), has_ticks ? "--:|" : "");
  const auto add = [&](uint64_t ticks, const std::string& half, const std::string& rest) {
    out += fmt::format("| {} | {} | {} | {}{} |\n", share(static_cast<double>(ticks), whole), half,
                       amount(profile, ticks), if_has_ticks(std::to_string(ticks)), rest);
  };
  for (const Row& row : report.rows)
    add(row.ticks, fmt::format("{:.2f}", 100 * half_width(row.share, row.interval)),
        fmt::format("{} | {}",
                    markdown_cell(shown_name(names, row.short_function, row.function, row.linkage)),
                    markdown_cell(row.object)));
  if (report.hidden_rows != 0)
    add(report.hidden_ticks, "", fmt::format("{} | ", counted(report.hidden_rows, "more row")));
  add(profile.ledger.ticks(), "", "**all** | ");
  return out;
}

}  // namespace pctally
