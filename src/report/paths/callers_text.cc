#include <fmt/format.h>

#include <algorithm>

#include "base/base_name.h"
#include "report/json.h"
#include "report/paths/callers.h"
#include "report/print/colors.h"
#include "report/print/escape.h"
#include "report/print/figures.h"
#include "report/print/json_value.h"

namespace pctally {
namespace {

std::string place_text(const StackFrame& frame) {
  return frame.file.empty() || frame.line == 0
             ? std::string()
             : fmt::format("{}:{}", escaped(base_name(frame.file)), frame.line);
}

class CallersText {
 public:
  CallersText(const Profile& profile, const Callers& callers, const CallersTextOptions& options)
      : profile_(profile), callers_(callers), options_(options) {}

  std::string run() {
    out_ = fmt::format(
        "{}{}   {} of all ticks have it on the stack: {}\n",
        escaped(shown_name(options_.names, callers_.function)),
        callers_.function.object.empty() ? "" : fmt::format(" ({})", escaped(callers_.function.object)),
        callers_.is_range ? range_text(callers_.interval.low, callers_.interval.high)
                          : fmt::format("{:.1f} % ± {:.1f}", 100 * callers_.share,
                                        100 * half_width(callers_.share, callers_.interval)),
        counted_range(callers_.ticks, callers_.ticks + callers_.folded + callers_.unplaced));
    add_part("called from", callers_.callers);
    add_part("calls", callers_.callees);
    if (callers_.folded != 0)
      out_ += fmt::format("\n{} of other paths were folded and may belong here\n",
                          counted_ticks(profile_, callers_.folded));
    if (callers_.unplaced != 0)
      out_ += fmt::format("\n{} in its {} may be of other paths, or counted already\n",
                          counted_ticks(profile_, callers_.unplaced),
                          callers_.entries.empty() ? "inlined code" : "own code");
    for (const StackFrame& entry : callers_.entries)
      out_ +=
          fmt::format("\nits own ticks are of paths that end in \"{}\": which of these ran is not known\n",
                      escaped(shown_name(options_.names, entry)));
    add_unread();
    if (!callers_.has_all_calls)
      out_ += "\nsome calls found no room and may have no row; record with a larger --paths-memory\n";
    if (has_ranges(callers_.callers) || has_ranges(callers_.callees))
      out_ += fmt::format("\n\"x to y %\": {} may hold more of these calls, or the same ticks twice\n",
                          is_folded(profile_.paths.context) ? "folded paths"
                          : callers_.entries.empty()        ? "inlined code"
                                                            : "paths of several symbols");
    const uint64_t most = callers_.ticks + callers_.folded + callers_.unplaced;
    const bool recurs = sum(callers_.callers) > most || sum(callers_.callees) > most;
    if (recurs)
      out_ += "\nit is recursive: a tick may count for several calls, so parts add to more than 100 %\n";
    return std::move(out_);
  }

 private:
  static bool has_ranges(const std::vector<CallerRow>& rows) {
    return std::any_of(rows.begin(), rows.end(), [](const CallerRow& row) { return row.is_range; });
  }
  [[nodiscard]] std::string counted_range(uint64_t low, uint64_t high) const {
    const std::string most = counted_ticks(profile_, high);
    return low == high ? most : fmt::format("{} to {}", tick_figure(profile_, low), most);
  }
  static std::string figure(const CallerRow& row) {
    if (row.is_range) return fmt::format("{:>14}", range_text(row.interval.low, row.interval.high));
    return fmt::format("{:5.1f} % {:6.1f}", 100 * row.share, 100 * half_width(row.share, row.interval));
  }
  static uint64_t sum(const std::vector<CallerRow>& rows) {
    uint64_t ticks = 0;
    for (const CallerRow& row : rows) ticks += row.ticks;
    return ticks;
  }

  [[nodiscard]] std::string name(const StackFrame& frame) const {
    return escaped(name_with_object(options_.names, frame));
  }

  void add_part(const char* title, const std::vector<CallerRow>& rows) {
    size_t shown = options_.limit == 0 ? rows.size() : std::min<size_t>(rows.size(), options_.limit),
           width = 40;
    size_t ticks_width = 6;
    for (size_t i = 0; i < shown; ++i) {
      width = std::max(width, std::min<size_t>(60, text(rows[i]).size()));
      ticks_width = std::max(ticks_width, tick_cell(profile_, rows[i].ticks).size());
    }
    const std::string heading =
        fmt::format("{:<{}} of them      ± {:>{}}", title, width, tick_title(profile_), ticks_width);
    out_ +=
        options_.color ? fmt::format("\n{}{}{}\n", kBold, heading, kPlain) : fmt::format("\n{}\n", heading);
    for (size_t i = 0; i < shown; ++i) {
      const CallerRow& row = rows[i];
      const std::string left = text(row);
      out_ += fmt::format("{}{:{}} {} {:>{}}\n", left, "", width - std::min(width, width_of(left)),
                          figure(row), tick_cell(profile_, row.ticks), ticks_width);
      add_outer(row);
    }
    if (shown < rows.size())
      out_ += fmt::format("  +{}; --limit 0 shows all\n", counted(rows.size() - shown, "more row"));
  }

  [[nodiscard]] std::string text(const CallerRow& row) const {
    const std::string place = place_text(row.frame), object = escaped(row.frame.object);
    if (!place.empty()) return fmt::format("  {}  {}", name(row.frame), place);
    return fmt::format("  {}{}{}", escaped(shown_name(options_.names, row.frame)), object.empty() ? "" : "  ",
                       object);
  }

  void add_outer(const CallerRow& row) {
    if (row.outer.empty()) return;
    std::string chain;
    for (const StackFrame& frame : row.outer) {
      const std::string place = place_text(frame);
      chain +=
          fmt::format("{}{}{}{}", chain.empty() ? "" : " < ", name(frame), place.empty() ? "" : " ", place);
    }
    out_ += fmt::format("      inlined into {}\n", chain);
  }

  /// Another tool's samples may have none.
  void add_unread() {
    if (callers_.unread == 0) return;
    const std::string ticks = counted_ticks(profile_, callers_.unread);
    if (!profile_.paths.stackless)
      out_ += fmt::format("\nthe recorder has not read the stacks of {}, which may belong here\n", ticks);
    else
      out_ += fmt::format("\n{} without a stack may belong here\n", ticks);
  }

  const Profile& profile_;
  const Callers& callers_;
  CallersTextOptions options_;
  std::string out_;
};

/// It may have a few ticks, and is not known to have one: it would be a row of 0.0 %.
bool is_nothing(const CallerRow& row) { return row.ticks == 0 && !row.is_range; }

Json row_json(const CallerRow& row) {
  return {{"function", valid_utf8(row.frame.function)},
          {"object", valid_utf8(row.frame.object)},
          {"file", valid_utf8(row.frame.file)},
          {"line", row.frame.line},
          {"ticks", row.ticks},
          {"ticks_high", row.high},
          {"share", row.share},
          {"low", row.interval.low},
          {"high", row.interval.high}};
}

/// The first rows of a part, and the number of the others: `key` and "hidden_" `key`.
void add_part(const std::string& key, const std::vector<CallerRow>& rows, uint64_t limit, Json* json) {
  const size_t shown = limit == 0 ? rows.size() : std::min<size_t>(rows.size(), limit);
  (*json)["hidden_" + key] = rows.size() - shown;
  Json& list = (*json)[key] = Json::array();
  for (size_t i = 0; i < shown; ++i) list.push_back(row_json(rows[i]));
}

}  // namespace

std::string callers_text(const Profile& profile, const Callers& callers, const CallersTextOptions& options) {
  Callers shown = callers;
  std::erase_if(shown.callers, is_nothing);
  std::erase_if(shown.callees, is_nothing);
  return CallersText(profile, shown, options).run();
}

std::string callers_line(const std::vector<CallerRow>& rows, NameStyle names) {
  constexpr size_t kMost = 4;
  std::string text;
  size_t shown = 0;
  for (const CallerRow& row : rows) {
    if (is_nothing(row) || shown++ >= kMost) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                        row.is_range ? range_text(row.interval.low, row.interval.high)
                                     : fmt::format("{:.0f} %", 100 * row.share),
                        escaped(name_with_object(names, row.frame)));
  }
  if (shown > kMost) text += fmt::format(", {} more", shown - kMost);
  return text;
}

std::string callers_json(const Profile& profile, const Callers& callers, uint64_t limit) {
  Json json = {{"version", kJsonVersion},
               {"function", valid_utf8(callers.function.function)},
               {"object", valid_utf8(callers.function.object)},
               {"ticks", callers.ticks},
               {"all_ticks", profile.ledger.ticks()},
               {"share", callers.share},
               {"low", callers.interval.low},
               {"high", callers.interval.high},
               {"folded", callers.folded},
               {"unplaced", callers.unplaced},
               {"unread", callers.unread},
               {"has_all_calls", callers.has_all_calls}};
  add_warnings(warnings_of(profile), &json);
  add_part("callers", callers.callers, limit, &json);
  add_part("callees", callers.callees, limit, &json);
  return json.dump(1) + "\n";
}

}  // namespace pctally
