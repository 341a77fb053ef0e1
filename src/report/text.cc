#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/base_name.h"
#include "profile/command.h"
#include "report/account/warning_lines.h"
#include "report/line_place.h"
#include "report/print/colors.h"
#include "report/print/escape.h"
#include "report/print/figures.h"
#include "report/scope_names.h"

namespace pctally {
namespace {

constexpr double kNoGap = 0.01;       // unsampled part of the CPU time that is not worth a figure
constexpr size_t kUsualName = 60;     // a longer name leaves its column rather than widen it for all rows
constexpr size_t kNarrowColumn = 16;  // what a name keeps even on a narrow terminal
constexpr size_t kNarrowSideColumn = 8;
constexpr double kWorthCut = 0.005;     // that a total could gain from cut paths, before it is said
constexpr size_t kGains = 5;            // columns of what totals could gain
constexpr size_t kSourceColumns = 100;  // of the hot line's text, wherever it goes
constexpr size_t kSideColumn = 28;      // most that columns behind the first take from a terminal's width
constexpr size_t kRoomForTicks = 100;   // columns of a terminal, from which on ticks always have one
constexpr size_t kUsefulName = 24;      // what a name takes before the columns behind it get more than little

class TextReport {
 public:
  TextReport(const Profile& profile, const Report& report, const TextOptions& options)
      : profile_(profile), report_(report), options_(options) {}
  std::string run();

 private:
  using Names = std::vector<std::string>;  // of one row: what stands in the columns behind the numbers

  void add_header();
  void add_warnings();
  void add_hot_path();
  void add_hot_line();
  void add_table();
  [[nodiscard]] std::string total(const Row& row) const;
  [[nodiscard]] bool with_totals() const { return profile_.paths.recorded && is_by_code(report_.by); }
  void add_row(const Row& row, Names names);
  void add_hidden();
  void add_filtered();
  void add_legend();
  void add_ledger();

  [[nodiscard]] Names titles() const;
  [[nodiscard]] Names names_of(const Row& row) const;
  [[nodiscard]] std::string function_of(const Row& row) const {
    return escaped(shown_name(options_.names, row.short_function, row.function, row.linkage));
  }
  void choose_widths(const std::vector<Names>& rows);
  void drop_columns();
  void fit_widths();
  std::string joined(Names names) const;
  /// What a tick of a sum of runs stands for, where their periods differ: a nanosecond, or an event.
  [[nodiscard]] std::string unit() const { return tick_word(profile_); }
  [[nodiscard]] std::string number_recorded() const;
  [[nodiscard]] std::string delivered() const;
  std::string rate() const;
  std::string event_rate() const;
  void add_cpu_time();
  [[nodiscard]] std::string amount(const Row& row) const;
  /// Columns in front of the names.
  [[nodiscard]] size_t numbers_width() const {
    return (with_totals() ? 35 : 18) + (has_gains_ ? kGains : 0) + (shows_amounts_ ? amount_width_ : 0) +
           (has_ticks() ? 1 + ticks_width_ : 0);
  }
  [[nodiscard]] bool has_ticks() const { return shows_ticks_ && !ticks_are_events(profile_); }
  [[nodiscard]] std::string amount_cell(const std::string& text) const {
    return shows_amounts_ ? fmt::format("{:>{}}", text, amount_width_) : "";
  }
  [[nodiscard]] std::string ticks_cell(const std::string& text) const {
    return has_ticks() ? fmt::format(" {:>{}}", text, ticks_width_) : "";
  }
  [[nodiscard]] std::string colored(const char* color, const std::string& text) const {
    return options_.color ? fmt::format("{}{}{}", color, text, kPlain) : text;
  }
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    out_ += fmt::format(format, std::forward<Arguments>(arguments)...);
  }

  const Profile& profile_;
  const Report& report_;
  TextOptions options_;
  size_t amount_width_ = 11, ticks_width_ = 5;
  bool has_gains_ = false;   // rows whose totals could be larger
  bool has_chains_ = false;  // rows with inlined lines: files by their last element alone
  bool shows_amounts_ = true, shows_ticks_ = true;
  std::vector<size_t> widths_;  // of the columns of names
  std::string out_;
};

std::string exit_text(const Profile& profile) {
  if (!profile.closed || profile.exit_status == 0) return "";
  int status = profile.exit_status;  // as of waitpid(2)
  if ((status & 0x7f) != 0) return fmt::format(", ended by signal {}", status & 0x7f);
  return fmt::format(", exit status {}", (status >> 8) & 0xff);
}

/// Nanoseconds rounded to the last of `decimals` digits, in units of that digit.
int64_t rounded(int64_t nanoseconds, int decimals) {
  return std::llround(seconds(nanoseconds) * std::pow(10, decimals));
}

std::string decimal(int64_t digits, int decimals) {
  return fmt::format("{:.{}f}", static_cast<double>(digits) / std::pow(10, decimals), decimals);
}

int decimals_for(int64_t nanoseconds) { return nanoseconds < 10'000'000'000 ? 3 : 2; }

std::string seconds_text(int64_t nanoseconds) {
  int decimals = decimals_for(nanoseconds);
  return decimal(rounded(nanoseconds, decimals), decimals);
}

std::string per_second(double rate) { return fmt::format("{:g}", std::round(rate * 10) / 10); }

/// A sample may stand for several ticks: where the kernel delivers fewer than were asked for, and in a sum of
/// runs.
std::string TextReport::delivered() const {
  constexpr double kHardlyLess = 0.95;
  const TickLedger& ledger = whole_of(profile_).ledger;
  const double hz = report_.account.delivered_hz, samples = static_cast<double>(ledger.samples),
               ticks = static_cast<double>(ledger.counted + ledger.outside + ledger.full);
  if (samples > kHardlyLess * ticks || samples == 0) return fmt::format("{:.1f} ticks", hz);
  if (unit() != "tick") return fmt::format("{:.1f} samples", hz);
  return fmt::format("{:.1f} ticks in {:.1f} samples", hz * ticks / samples, hz);
}

std::string TextReport::rate() const {
  const Account& account = report_.account;
  std::string text = fmt::format("{} per {} second", delivered(), account.cpu_known ? "CPU" : "sampled");
  if (account.asked_hz <= 0) return text;
  text += fmt::format(" ({} asked", per_second(account.asked_hz));
  const bool none = profile_.period_ns == 0 || unit() != "tick";
  double drawn = none ? 0 : 1e9 / static_cast<double>(profile_.period_ns);
  if (drawn > 0 && drawn < 0.85 * account.asked_hz)
    text += fmt::format(", {} allowed", per_second(drawn));
  else if (drawn > 0 && std::abs(drawn - account.asked_hz) > account.asked_hz / 1000)
    text += fmt::format(", {} drawn at random near it", per_second(drawn));
  return text + ")";
}

std::string TextReport::event_rate() const {
  if (unit() != "tick") return fmt::format("ticks of {}", escaped(profile_.event));
  std::string text =
      fmt::format("a tick per {} {}", grouped(profile_.period_asked_ns), escaped(profile_.event));
  if (profile_.period_ns != profile_.period_asked_ns)
    text += fmt::format(" ({} drawn at random near it)", grouped(profile_.period_ns));
  if (report_.account.delivered_hz > 0) text += fmt::format(", {} per CPU second", delivered());
  return text;
}

std::string TextReport::number_recorded() const {
  const Recorded all = recorded(profile_);
  return counted(all.number, all.word);
}

void TextReport::add_header() {
  const Account& account = report_.account;
  const bool several = profile_.runs.size() > 1;
  std::string command =
      profile_.command.empty() ? several ? "(several)" : "(not recorded)" : escaped(command_line(profile_));
  add("command   {}{}\n", command, exit_text(profile_));
  if (several) add("runs      {}, added up\n", profile_.runs.size());
  add("engine    {}, {}\n", escaped(profile_.engine), profile_.counts_cpu_time() ? rate() : event_rate());
  std::string cpu = account.cpu_known ? seconds_text(account.cpu_ns) + " s of CPU time" : "CPU time unknown";
  const std::string elapsed =
      profile_.duration_ns != 0 ? seconds_text(duration_of(profile_.duration_ns, 1)) + " s elapsed, " : "";
  add("time      {}, {}{}\n", cpu, elapsed, number_recorded());
  const std::string what = profile_.counts_cpu_time() ? "time" : escaped(profile_.event);
  add("shares    {}; ± is a 95 % confidence interval\n",
      with_totals() ? fmt::format("self: {} in the function; total: with its callees", what)
                    : (profile_.counts_cpu_time() ? "self time" : what) + ", not of callees");
  if (unsampled_beyond_chance(account) > kTolerableGap)
    add("          of the {:.0f} % of the CPU time that was sampled; the rest may have run anything\n",
        100 * (1 - unsampled_share(account)));
  add_hot_path();
  add("\n");
}

void TextReport::add_warnings() { out_ += warning_lines(report_.warnings, options_.color); }

TextReport::Names TextReport::titles() const {
  switch (report_.by) {
    case Grouping::kObject:
      return {"object"};
    case Grouping::kLine:
      return {"line", "function", "object"};
    case Grouping::kProcess:
      return {"process", "pid", "note"};
    case Grouping::kCommand:
      return {"command", "processes"};
    case Grouping::kProgram:
      return {"program"};
    case Grouping::kThread:
      return {"thread", "program"};
    case Grouping::kGroup:
      return {"control group"};
    case Grouping::kProgramFunction:
      return {"function", "program", "object"};
    case Grouping::kThreadFunction:
      return {"function", "thread", "program", "object"};
    case Grouping::kGroupFunction:
      return {"function", "control group", "object"};
    default:
      return {"function", "object"};
  }
}

TextReport::Names TextReport::names_of(const Row& row) const {
  switch (report_.by) {
    case Grouping::kObject:
      return {escaped(row.object)};
    case Grouping::kLine:
      return {line_place(row, options_.width != 0 || has_chains_), function_of(row), escaped(row.object)};
    case Grouping::kProcess:
      return {escaped(row.process), row.pid == 0 ? std::string() : std::to_string(row.pid),
              escaped(row.note)};
    case Grouping::kCommand:
      return {escaped(row.process), row.processes == 0 ? std::string() : std::to_string(row.processes)};
    case Grouping::kProgram:
      return {escaped(row.program)};
    case Grouping::kThread:
      return {escaped(row.thread), escaped(row.program)};
    case Grouping::kGroup:
      return {escaped(row.group)};
    case Grouping::kProgramFunction:
      return {function_of(row), escaped(row.program), escaped(row.object)};
    case Grouping::kThreadFunction:
      return {function_of(row), escaped(row.thread), escaped(row.program), escaped(row.object)};
    case Grouping::kGroupFunction:
      return {function_of(row), escaped(row.group), escaped(row.object)};
    default:
      return {function_of(row), escaped(row.object)};
  }
}

void TextReport::choose_widths(const std::vector<Names>& rows) {
  widths_.assign(rows.front().size(), 0);
  for (const Names& names : rows)
    for (size_t i = 0; i < names.size(); ++i) widths_[i] = std::max(widths_[i], width_of(names[i]));
  if (options_.width != 0) return fit_widths();
  for (size_t& width : widths_) width = std::min(width, kUsualName);
}

/// What a narrow terminal has no room for: ticks first, for which no name is cut, then objects and the like,
/// then amounts. Lines keep their function: not every row has a line.
void TextReport::drop_columns() {
  const auto needed = [this] {
    size_t columns = numbers_width();
    for (const size_t width : widths_) columns += width + 2;
    return columns;
  };
  const auto least = [this] {
    return numbers_width() + 2 + kNarrowColumn + (widths_.size() - 1) * (kNarrowSideColumn + 2);
  };
  const size_t kept = report_.by == Grouping::kLine ? 2 : 1;
  shows_ticks_ = options_.width >= std::min(kRoomForTicks, needed());
  while (widths_.size() > kept && least() > options_.width) widths_.pop_back();
  shows_amounts_ = least() <= options_.width;
}

void TextReport::fit_widths() {
  drop_columns();
  const size_t numbers = numbers_width();
  size_t side = 0;
  for (size_t i = 1; i < widths_.size(); ++i) {
    widths_[i] = std::min(widths_[i], kSideColumn);
    side += widths_[i] + 2;
  }
  const size_t left = options_.width > numbers + side + 2 ? options_.width - numbers - side - 2 : 0;
  widths_[0] = std::min(widths_[0], std::max(left, kUsefulName));
  const size_t needed = numbers + 2 + widths_[0] + side;
  size_t over = needed > options_.width ? needed - options_.width : 0;
  for (size_t i = widths_.size() - 1; i > 0 && over > 0; --i) {
    const size_t cut = std::min(over, widths_[i] - std::min(widths_[i], kNarrowSideColumn));
    widths_[i] -= cut;
    over -= cut;
  }
  widths_[0] -= std::min(over, widths_[0] - std::min(widths_[0], kNarrowColumn));
}

std::string TextReport::joined(Names names) const {
  std::string line;
  for (size_t i = 0; i < widths_.size(); ++i) {
    std::string name =
        options_.width != 0 ? elided_name(names[i], std::max<size_t>(widths_[i], 1)) : names[i];
    size_t width = width_of(name);
    line.append("  ").append(name).append(width < widths_[i] ? widths_[i] - width : 0, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

void TextReport::add_row(const Row& row, Names names) {
  add("{:6.2f} % {:6.2f} {}{}{}{}\n", 100 * row.share, 100 * half_width(row.share, row.interval), total(row),
      amount_cell(amount(row)), ticks_cell(std::to_string(row.ticks)), joined(std::move(names)));
}

/// Rows for ticks without code have none.
std::string TextReport::total(const Row& row) const {
  if (!with_totals()) return "";
  if (row.total.high == 0) return std::string(has_gains_ ? kGains + 17 : 17, ' ');
  const std::string figure = row.total_is_range
                                 ? range_text(row.total_interval.low, row.total_interval.high)
                                 : fmt::format("{:6.2f} % {:6.2f}", 100 * row.total_share,
                                               100 * half_width(row.total_share, row.total_interval));
  const std::string gain = row.cut_share >= kWorthCut ? fmt::format("+{:.1f}", 100 * row.cut_share) : "";
  return has_gains_ ? fmt::format("{:>15} {:>5} ", figure, gain) : fmt::format("{:>15}  ", figure);
}

void TextReport::add_hot_path() {
  if (report_.by != Grouping::kFunction || report_.hot_path.empty()) return;
  std::string text = "hot path ";
  double last = -1;
  for (size_t i = 0; i < report_.hot_path.size(); ++i) {
    const HotFrame& frame = report_.hot_path[i];
    text += fmt::format("{}{}{}", i == 0 ? " " : " > ", frame.after_left_out ? "… > " : "",
                        escaped(shown_name(options_.names, frame.short_name, frame.function, frame.linkage)));
    if (frame.in_several_objects) text += fmt::format(" ({})", escaped(frame.object));
    const double percent = std::round(100 * frame.share);
    if (percent != last || i + 1 == report_.hot_path.size()) text += fmt::format(" {:.0f}", percent);
    last = percent;
  }
  add("{} %\n", text);
  if (report_.hot_line) add_hot_line();
}

void TextReport::add_hot_line() {
  const HotLine& line = *report_.hot_line;
  const std::string_view file = options_.width != 0 ? base_name(line.file) : line.file;
  const bool is_range = decimal(100 * line.share, 1) != decimal(100 * line.most, 1);
  const std::string figure = is_range ? range_text(line.interval.low, line.interval.high)
                                      : fmt::format("{:.1f} % ± {:.1f}", 100 * line.share,
                                                    100 * half_width(line.share, line.interval));
  std::string text = fmt::format("hot line  {}:{}{} {}", escaped(file), line.line,
                                 line.calls ? ", with its calls" : "", figure);
  const size_t from = options_.hot_source.find_first_not_of(" \t");
  if (from != std::string::npos) {
    text += "  " + elided(escaped(options_.hot_source.substr(from)), kSourceColumns);
    if (options_.width != 0) text = elided(text, options_.width);
  }
  add("{}\n", text);
}

std::string TextReport::amount(const Row& row) const {
  return profile_.counts_cpu_time() ? decimal(rounded(row.nanoseconds, 3), 3) : std::to_string(row.events);
}

void TextReport::add_table() {
  has_gains_ = with_totals() && std::any_of(report_.rows.begin(), report_.rows.end(), [](const Row& row) {
                 return row.total.high != 0 && row.cut_share >= kWorthCut;
               });
  has_chains_ = std::any_of(report_.rows.begin(), report_.rows.end(),
                            [](const Row& row) { return !row.inside.empty(); });
  std::vector<Names> names{titles()};
  for (const Row& row : report_.rows) {
    names.push_back(names_of(row));
    amount_width_ = std::max(amount_width_, amount(row).size());
    ticks_width_ = std::max(ticks_width_, std::to_string(row.ticks).size());
  }
  choose_widths(names);
  std::string title = fmt::format("   {}      ± {}{}{}{}", with_totals() ? " self" : "share",
                                  !with_totals() ? ""
                                  : has_gains_   ? "   total      ±   cut "
                                                 : "   total      ±  ",
                                  amount_cell(profile_.counts_cpu_time() ? "seconds" : "events"),
                                  ticks_cell(tick_number_title(profile_)), joined(names[0]));
  add("{}\n", colored(kBold, title));
  for (size_t i = 0; i < report_.rows.size(); ++i) add_row(report_.rows[i], std::move(names[i + 1]));
  add_hidden();
  add_filtered();
}

void TextReport::add_hidden() {
  if (report_.hidden_rows == 0) return;
  auto total = static_cast<double>(std::max<uint64_t>(profile_.ledger.ticks(), 1));
  const bool one = report_.hidden_rows == 1;
  std::string text = fmt::format("+{} row{} ", report_.hidden_rows, one ? "" : "s");
  if (report_.hidden_share == 0)
    text += with_totals() ? "without own ticks;" : "without ticks;";
  else
    text += fmt::format("of {:.2f} % or less ({:.2f} % together, {});", 100 * report_.hidden_share,
                        100 * static_cast<double>(report_.hidden_ticks) / total,
                        counted_ticks(profile_, report_.hidden_ticks));
  text += fmt::format("{}{} shows {}", report_.hides_many ? " --limit 0" : "",
                      report_.hides_small ? " --min-share 0" : "", one ? "it" : "them");
  add("{}\n", colored(kBold, text));
}

void TextReport::add_filtered() {
  if (!report_.filtered) return;
  auto total = static_cast<double>(std::max<uint64_t>(profile_.ledger.ticks(), 1));
  double share = 100 * static_cast<double>(report_.filtered_ticks) / total;
  add("{}\n", colored(kBold, fmt::format("+{} row{} filtered out ({:.2f} % together, {})",
                                         report_.filtered_rows, report_.filtered_rows == 1 ? "" : "s", share,
                                         counted_ticks(profile_, report_.filtered_ticks))));
}

/// Why totals may be larger.
const char* reason_for_ranges(const Report& report) {
  if (report.paths.folded != 0) return "paths that were folded may hold more of it";
  return report.by == Grouping::kLine ? "ticks of the line's own may lie below its own calls"
                                      : "paths of several symbols may hold more of it";
}

/// Explains the rows in brackets, if the table has any.
void TextReport::add_legend() {
  auto is_start = [](const Row& row) {
    return row.function == "[process start]" || row.object == "[process start]";
  };
  if (std::any_of(report_.rows.begin(), report_.rows.end(), is_start))
    add("[process start]: fork, exec, dynamic linking and our own start there; by the process's clock, not "
        "sampled\n");
  auto is_others = [](const Row& row) { return row.program == kOtherScopes || row.group == kOtherScopes; };
  if (std::any_of(report_.rows.begin(), report_.rows.end(), is_others))
    add("{}: those that came after the first 4,096\n", kOtherScopes);
  auto unnamed = [](const Row& row) {
    return row.function.starts_with('[') && row.function.find("+0x") != std::string::npos;
  };
  if (std::any_of(report_.rows.begin(), report_.rows.end(), unnamed))
    add("[object+0x...]: code without a symbol; the object's debug package would name it\n");
  if (with_totals() && std::any_of(report_.rows.begin(), report_.rows.end(),
                                   [](const Row& row) { return row.total_is_range; }))
    add("total \"x to y %\": {}\n", reason_for_ranges(report_));
  if (has_gains_) add("cut: so many points more may be in call paths that are cut\n");
}

void TextReport::add_ledger() {
  const TickLedger& ledger = whole_of(profile_).ledger;
  const Account& account = report_.account;
  if (ledger.ticks() == ledger.counted)
    add("\n{:<9} {}, all counted\n", tick_number_title(profile_), ledger.ticks());
  else
    add("\n{:<9} {} = {} counted + {} outside + {} full + {} lost\n", tick_number_title(profile_),
        ledger.ticks(), ledger.counted, ledger.outside, ledger.full, ledger.lost);
  if (profile_.paths.recorded) add("paths     {}\n", path_account_text(report_.paths, unit()));
  if (profile_.counts_cpu_time()) return add_cpu_time();
  add("events    {} {} = {} sampled + {} lost\n", account.sampled_events + account.lost_events,
      escaped(profile_.event), account.sampled_events, account.lost_events);
}

void TextReport::add_cpu_time() {
  const Account& account = report_.account;
  int decimals = decimals_for(std::max(account.cpu_ns, account.sampled_ns));
  int64_t sampled = rounded(account.sampled_ns, decimals), lost = rounded(account.lost_ns, decimals);
  if (!account.cpu_known) {
    add("CPU time  unknown: {} s sampled + {} lost + unknown unsampled\n", decimal(sampled, decimals),
        decimal(lost, decimals));
    return;
  }
  int64_t cpu = rounded(account.cpu_ns, decimals);
  if (account.sampled_ns > 0 && lost == 0 && std::abs(unsampled_beyond_chance(account)) <= kNoGap) {
    add("CPU time  {} s, all sampled ({} s in ticks)\n", decimal(cpu, decimals), decimal(sampled, decimals));
    return;
  }
  // The difference is taken of the rounded figures, so that the line adds up as it stands.
  int64_t unsampled = cpu - sampled - lost;
  add("CPU time  {} s = {} sampled + {} lost {} {} unsampled{}\n", decimal(cpu, decimals),
      decimal(sampled, decimals), decimal(lost, decimals), unsampled < 0 ? '-' : '+',
      decimal(std::abs(unsampled), decimals),
      account.chance_ns != 0
          ? fmt::format(" (± {} by chance)", decimal(rounded(account.chance_ns, decimals), decimals))
          : "");
  for (const UnsampledPart& part : unsampled_parts(profile_))
    add("          of which {} s of threads with {}\n",
        decimal(std::min(rounded(part.ns, decimals), std::max<int64_t>(unsampled, 0)), decimals),
        part.reason);
}

std::string TextReport::run() {
  add_header();
  add_warnings();
  add_table();
  add_legend();
  add_ledger();
  return std::move(out_);
}

}  // namespace

std::string text_report(const Profile& profile, const Report& report, const TextOptions& options) {
  return TextReport(profile, report, options).run();
}

}  // namespace pctally
