#include "report/live/live_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/base_name.h"
#include "profile/command.h"
#include "report/account/account.h"
#include "report/print/ascii.h"
#include "report/print/escape.h"
#include "report/print/figures.h"

namespace pctally {
namespace {

constexpr size_t kNarrow = 60;   ///< below: only the window's share, its trend and one name
constexpr size_t kNumbers = 33;  ///< columns the figures take, with the blanks behind them
constexpr size_t kTotal = 9;     ///< columns of a total
constexpr size_t kNarrowNumbers = 17;
constexpr size_t kUsualObject = 26;
constexpr size_t kUsualName = 60;  ///< a longer name leaves its column rather than widen it for all rows

/// What a terminal without UTF-8 would show as something else, characters of names, becomes a question mark.
std::string ascii_alone(const std::string& text) {
  std::string result;
  for (char byte : in_ascii(text))
    if ((byte & 0x80) == 0)
      result += byte;
    else if ((byte & 0xc0) != 0x80)
      result += '?';
  return result;
}

/// The unit of a tick, where it is not CPU time.
std::string unit_of(const Profile& profile) {
  return profile.counts_cpu_time() ? "" : fmt::format(" of {} {}", profile.period_ns, escaped(profile.event));
}

class LiveText {
 public:
  LiveText(const Profile& profile, const LiveTable& table, const LiveTextOptions& options)
      : profile_(profile), table_(table), options_(options) {}

  std::vector<LiveLine> run() {
    add_title();
    add_window();
    add_message();
    add_rows();
    add_ledger();
    return std::move(lines_);
  }

 private:
  struct Names {
    std::string first, second;
  };

  [[nodiscard]] bool narrow() const { return options_.width != 0 && options_.width < kNarrow; }
  [[nodiscard]] static const char* mark(Trend trend) {
    return trend == Trend::kUp ? "▲" : trend == Trend::kDown ? "▼" : " ";
  }

  void add(LineStyle style, std::string text);
  void add_title();
  void add_window();
  [[nodiscard]] std::string amount(uint64_t ticks) const;
  [[nodiscard]] std::string cpus() const;
  void add_message();
  void add_rows();
  void add_rest(size_t first);
  void add_ledger();
  [[nodiscard]] Names titles() const;
  [[nodiscard]] Names names_of(const Row& row) const;
  [[nodiscard]] std::string place_of(const Row& row) const;
  [[nodiscard]] std::string function_of(const Row& row) const {
    return escaped(shown_name(options_.names, row.short_function, row.function, row.linkage));
  }
  [[nodiscard]] std::string numbers(const LiveRow& row) const;
  [[nodiscard]] std::string total_of(const LiveRow& row) const;
  [[nodiscard]] std::string joined(const Names& names) const;
  void choose_widths(const std::vector<Names>& names);

  const Profile& profile_;
  const LiveTable& table_;
  const LiveTextOptions& options_;
  size_t first_width_ = 0, second_width_ = 0;
  std::vector<LiveLine> lines_;
};

void LiveText::add(LineStyle style, std::string text) {
  if (options_.ascii) text = ascii_alone(text);
  if (options_.width != 0 && width_of(text) > options_.width)
    text = options_.ascii ? text.substr(0, options_.width) : elided(text, options_.width);
  text.erase(text.find_last_not_of(' ') + 1);
  lines_.push_back({style, std::move(text)});
}

/// The command to the left, the state to the right.
void LiveText::add_title() {
  std::string left = "pctally top: " + (profile_.command.empty() ? std::string("(command not recorded)")
                                                                 : escaped(command_line(profile_)));
  std::string right = options_.state.empty() ? std::string() : "[" + options_.state + "]";
  size_t room = options_.width > right.size() + 2 ? options_.width - right.size() - 1 : 0;
  if (options_.width == 0 || room == 0) return add(LineStyle::kTitle, left + " " + right);
  left = elided(left, room);
  add(LineStyle::kTitle, left + std::string(room + 1 - width_of(left), ' ') + right);
}

void LiveText::add_window() {
  const double wall = seconds(static_cast<int64_t>(profile_.duration_ns));
  const double window = seconds(static_cast<int64_t>(table_.window_ns));
  std::string text;
  if (!options_.filter.empty())
    text = fmt::format("{} of {} rows contain \"{}\"; ", table_.rows.size(), table_.all_rows,
                       escaped(options_.filter));
  text += fmt::format("{}{:.1f} s: {}{}; all {:.1f} s: ", narrow() ? "" : "last ", window,
                      amount(table_.now_ledger.ticks()), cpus(), wall);
  if (narrow())
    text += tick_figure(profile_, table_.ledger.ticks());
  else
    text += fmt::format("{}{}; by {}", amount(table_.ledger.ticks()), unit_of(profile_),
                        grouping_word(table_.by));
  add(LineStyle::kPlain, std::move(text));
}

/// "1,203 ticks"; or "2.40 s of CPU time", beside the times that passed.
std::string LiveText::amount(uint64_t ticks) const {
  return counted_ticks(profile_, ticks) +
         (ticks_are_nanoseconds(profile_) && !narrow() ? " of CPU time" : "");
}

/// ", 1.30 CPUs": how busy the window was, as far as it was sampled. Nothing where ticks are not CPU time.
std::string LiveText::cpus() const {
  if (narrow() || !profile_.counts_cpu_time() || table_.window_ns == 0) return "";
  double used = static_cast<double>(table_.now_ledger.ticks()) * static_cast<double>(profile_.period_ns);
  return fmt::format(", {:.2f} {}CPUs", used / static_cast<double>(table_.window_ns),
                     profile_.kernel_observed ? "" : "user ");
}

/// One line whether there is something to say or not, so that the table stays where it is.
void LiveText::add_message() {
  if (!options_.message.empty()) return add(LineStyle::kWarning, escaped(options_.message));
  for (const Warning& warning : table_.warnings)
    if (warning.severity != Severity::kNote)
      return add(
          LineStyle::kWarning,
          (warning.severity == Severity::kIncomplete ? "INCOMPLETE: " : "WARNING: ") + escaped(warning.text));
  add(LineStyle::kPlain, "");
}

LiveText::Names LiveText::titles() const {
  if (table_.by == Grouping::kObject) return {"object", ""};
  if (table_.by == Grouping::kLine) return {"line", "function"};
  if (table_.by == Grouping::kProcess) return {"process", "pid"};
  if (table_.by == Grouping::kCommand) return {"command", "processes"};
  if (table_.by == Grouping::kProgram) return {"program", ""};
  if (table_.by == Grouping::kThread) return {"thread", "program"};
  if (table_.by == Grouping::kGroup) return {"control group", ""};
  if (table_.by == Grouping::kProgramFunction) return {"function", "program"};
  if (table_.by == Grouping::kThreadFunction) return {"function", "thread"};
  if (table_.by == Grouping::kGroupFunction) return {"function", "control group"};
  return {"function", "object"};
}

std::string LiveText::place_of(const Row& row) const {
  if (row.file.empty()) return row.object.empty() ? row.function : row.object;
  return fmt::format("{}:{}", base_name(row.file), line_text(row.line));
}

LiveText::Names LiveText::names_of(const Row& row) const {
  if (table_.by == Grouping::kObject) return {escaped(row.object), ""};
  if (table_.by == Grouping::kLine)
    return {escaped(place_of(row)), row.object.empty() ? std::string() : function_of(row)};
  if (table_.by == Grouping::kProcess)
    return {escaped(row.process), row.pid == 0 ? std::string() : std::to_string(row.pid)};
  if (table_.by == Grouping::kCommand)
    return {escaped(row.process), row.processes == 0 ? std::string() : std::to_string(row.processes)};
  if (table_.by == Grouping::kProgram) return {escaped(row.program), ""};
  if (table_.by == Grouping::kThread) return {escaped(row.thread), escaped(row.program)};
  if (table_.by == Grouping::kGroup) return {escaped(row.group), ""};
  if (is_by_scope_and_function(table_.by))
    return {function_of(row), escaped(!row.thread.empty()  ? row.thread
                                      : !row.group.empty() ? row.group
                                                           : row.program)};
  return {function_of(row), escaped(row.object)};
}

std::string LiveText::numbers(const LiveRow& row) const {
  bool any = table_.now_ledger.ticks() != 0;
  std::string share = any ? fmt::format("{:6.2f}%", 100 * row.now_share) : "     - ";
  std::string around =
      any ? fmt::format("{:6.2f}", 100 * half_width(row.now_share, row.now_interval)) : "     -";
  if (narrow()) return fmt::format("{} {} {} ", share, around, mark(row.trend));
  std::string change = row.trend == Trend::kUnknown ? "     -" : fmt::format("{:+6.2f}", 100 * row.change);
  const std::string total = table_.with_totals ? total_of(row) : "";
  return fmt::format("{}{} {} {} {} {:6.2f}%  ", total, share, around, change, mark(row.trend),
                     100 * row.all.share);
}

/// Rows for ticks without code have none.
std::string LiveText::total_of(const LiveRow& row) const {
  if (row.all.total.high == 0) return fmt::format("{:9}", "");
  if (table_.now_ledger.ticks() == 0) return "     -   ";
  if (!row.now_total_is_least) return fmt::format("{:6.2f}%  ", 100 * row.now_total_share);
  return fmt::format("{:>7}  ", fmt::format(">{:.1f}%", 100 * row.now_total_share));
}

void LiveText::choose_widths(const std::vector<Names>& names) {
  for (const Names& name : names) {
    first_width_ = std::max(first_width_, width_of(name.first));
    second_width_ = std::max(second_width_, width_of(name.second));
  }
  if (options_.width == 0) first_width_ = std::min(first_width_, kUsualName);
  if (options_.width == 0) return;
  size_t numbers = narrow() ? kNarrowNumbers : kNumbers + (table_.with_totals ? kTotal : 0);
  size_t room = options_.width > numbers ? options_.width - numbers : 1;
  size_t left = room - std::min(room, first_width_ + 2);
  second_width_ = narrow() ? 0 : std::min({second_width_, kUsualObject, std::max(room / 3, left)});
  size_t side = second_width_ == 0 ? 0 : second_width_ + 2;
  first_width_ = std::min(first_width_, room - side);
}

std::string LiveText::joined(const Names& names) const {
  bool cut = options_.width != 0;
  std::string first = cut ? elided_name(names.first, std::max<size_t>(first_width_, 1)) : names.first;
  if (second_width_ == 0) return first;
  first.append(first_width_ - std::min(first_width_, width_of(first)), ' ');
  return first + "  " + (cut ? elided(names.second, second_width_) : names.second);
}

void LiveText::add_rows() {
  size_t begin = std::min(options_.first, table_.rows.size());
  size_t end = options_.rows == 0 ? table_.rows.size() : std::min(begin + options_.rows, table_.rows.size());
  std::vector<Names> names{titles()};
  for (size_t i = begin; i < end; ++i) names.push_back(names_of(table_.rows[i].all));
  choose_widths(names);
  std::string head = narrow() ? fmt::format("    now {:>6}   ", "±")
                              : fmt::format("{}    now {:>6} change       all  ",
                                            table_.with_totals ? "  total  " : "", "±");
  add(LineStyle::kHeader, head + joined(names[0]));
  for (size_t i = begin; i < end; ++i) {
    const LiveRow& row = table_.rows[i];
    LineStyle style = i == options_.selected      ? LineStyle::kSelected
                      : row.trend == Trend::kUp   ? LineStyle::kUp
                      : row.trend == Trend::kDown ? LineStyle::kDown
                                                  : LineStyle::kPlain;
    add(style, numbers(row) + joined(names[i - begin + 1]));
  }
  add_rest(end);
}

/// Lines that nobody can scroll say what stands behind them.
void LiveText::add_rest(size_t first) {
  if (options_.width != 0 || first == table_.rows.size()) return;
  double now = 0, all = 0;
  for (size_t i = first; i < table_.rows.size(); ++i) {
    now += table_.rows[i].now_share;
    all += table_.rows[i].all.share;
  }
  add(LineStyle::kPlain, fmt::format("+{} (together now {:.2f} %, all {:.2f} %); --limit 0 shows them",
                                     counted(table_.rows.size() - first, "row"), 100 * now, 100 * all));
}

void LiveText::add_ledger() {
  for (const std::string& line : options_.beneath) add(LineStyle::kPlain, line);
  const TickLedger& ledger = table_.ledger;
  const std::string unit = tick_number_title(profile_);
  if (narrow())
    return add(LineStyle::kHeader, fmt::format("{} {}: {} outside, {} full, {} lost", ledger.ticks(), unit,
                                               ledger.outside, ledger.full, ledger.lost));
  add(LineStyle::kHeader,
      fmt::format("{} {} = {} counted + {} outside + {} full + {} lost", unit, ledger.ticks(), ledger.counted,
                  ledger.outside, ledger.full, ledger.lost));
}

}  // namespace

std::vector<LiveLine> live_text(const Profile& profile, const LiveTable& table,
                                const LiveTextOptions& options) {
  return LiveText(profile, table, options).run();
}

std::vector<LiveLine> live_help(const LiveTextOptions& options) {
  static constexpr const char* kLines[] = {
      "pctally top                           q: quit; any other key: back",
      "",
      "now     share of the ticks of the last seconds, in the function itself",
      "total   share with it on the stack (-g); > more, in folded paths",
      "±       95 % confidence interval of that share",
      "change  now less before, in percent points; ▲ ▼ mark a change that is",
      "        significant at 95 % over the whole table",
      "all     share in the whole recording",
      "ticks   what became of every tick of the recording",
      "",
      "f o l      rows: function, object, line",
      "p c        rows: process; command: all processes of one name",
      "s          rows: program, thread or control group, as recorded",
      "/          filter: rows that contain what you type; Enter keeps it,",
      "           Escape clears it",
      "up down    scroll (also Page Up, Page Down, Home); with -g choose the",
      "           row whose callers are beneath the table",
      "space      freeze the screen or go on; recording never stops",
      "w          write a snapshot here, for pctally report",
      "q          quit",
  };
  std::vector<LiveLine> lines;
  for (const char* line : kLines) {
    std::string text = options.ascii ? ascii_alone(line) : line;
    if (options.width != 0)
      text = text.empty() || width_of(text) <= options.width ? text : elided(text, options.width);
    lines.push_back({lines.empty() ? LineStyle::kTitle : LineStyle::kPlain, text});
  }
  return lines;
}

}  // namespace pctally
