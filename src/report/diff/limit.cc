#include "report/diff/limit.h"

#include <errno.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "report/diff/limited_rows.h"
#include "report/diff/output.h"
#include "report/print/escape.h"
#include "report/print/figures.h"
#include "report/statistics/ratio.h"

namespace pctally {
namespace {

std::string_view trimmed(std::string_view text) {
  size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view{} : text.substr(first, last - first + 1);
}

/// A comment begins with a '#' at the start of the line or behind white space: names have it, too.
std::string_view without_comment(std::string_view line) {
  for (size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1))
    if (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t') return line.substr(0, at);
  return line;
}

constexpr size_t kMostShown = 40;  ///< of a limit, so that a message is one line

const char* example_of(Limit::Metric metric) {
  switch (metric) {
    case Limit::Metric::kShare:
      return "share(main) > +2pp";
    case Limit::Metric::kSeconds:
      return "seconds(main) > +10%";
    case Limit::Metric::kFunctionTotal:
      return "total(main) > +10%";
    default:
      return "total > +3%";
  }
}

Result<Limit> refused(std::string_view text, const char* why, Limit::Metric metric = Limit::Metric::kTotal) {
  const std::string shown(text.substr(0, kMostShown));
  return fail(EINVAL, "limit '%s': %s; for example '%s'", shown.c_str(), why, example_of(metric));
}

/// False if it is no metric.
bool take_metric(std::string_view text, Limit* limit) {
  if (text == "total") return true;
  size_t open = text.find('(');
  if (open == std::string_view::npos || text.back() != ')') return false;
  std::string_view word = trimmed(text.substr(0, open));
  limit->function = trimmed(text.substr(open + 1, text.size() - open - 2));
  limit->metric = word == "share"   ? Limit::Metric::kShare
                  : word == "total" ? Limit::Metric::kFunctionTotal
                                    : Limit::Metric::kSeconds;
  return (word == "share" || word == "seconds" || word == "total") && !limit->function.empty();
}

/// Takes a decimal number off the front of `rest`. False if there is none.
bool take_number(std::string_view* rest, Limit* limit) {
  limit->change = rest->starts_with('+') || rest->starts_with('-');
  const std::string_view digits = rest->substr(limit->change ? 1 : 0);
  if (digits.empty() || !(std::isdigit(static_cast<unsigned char>(digits[0])) || digits[0] == '.'))
    return false;  // "nan" and "inf" are numbers for from_chars()
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), limit->value);
  if (error == std::errc::result_out_of_range) limit->value = HUGE_VAL;
  if (error == std::errc::invalid_argument) return false;
  if (rest->starts_with('-')) limit->value = -limit->value;
  *rest = digits.substr(static_cast<size_t>(end - digits.data()));
  return true;
}

/// False if the unit does not fit the metric.
bool take_unit(std::string_view unit, Limit* limit) {
  bool share = limit->metric == Limit::Metric::kShare;
  if (unit == "pp") return share;
  if (unit == "%") {
    limit->relative = limit->change;
    return share || limit->change;
  }
  if (unit == "s") limit->value *= 1000;
  return !share && (unit == "ms" || unit == "s");
}

bool is_time(const Limit& limit) { return limit.metric != Limit::Metric::kShare && !limit.relative; }

/// The interval of what is limited, in the limit's unit. A change in percent is relative to an old amount
/// that is not known exactly, either.
Interval interval_for(const Limit& limit, const Change& change) {
  if (limit.relative) return rises_of(change);
  return limit.change ? change.interval : change.after_interval;
}

/// How far from the limit the measured value must be for the interval to end before it: in the unit of
/// amounts.
double half_width_for(const Limit& limit, const Change& change) {
  if (!limit.change) return change.after_interval.high - change.after;  // below 0 it is cut
  if (!limit.relative) return (change.interval.high - change.interval.low) / 2;
  const double limited = 1 + limit.value / 100, ratio = change.after / change.before;
  const Interval ratios = change.single_runs ? ratio_interval(change) : Interval{};
  if (!change.single_runs || std::isinf(ratios.high)) return half_width_at(change, limited);
  return change.before * (ratio > limited ? ratio - ratios.low : ratios.high - ratio);
}

/// Rows of one name in several objects, or of one function that each side names in its own way, are one:
/// their changes add up, and their variances. Their ratio is Fieller's then, also of one run a side.
Change sum_of(const std::vector<const DiffRow*>& rows, Limit::Metric metric) {
  Change sum;
  double variance = 0, variance_before = 0, variance_after = 0;
  for (const DiffRow* row : rows) {
    const Change& change = metric == Limit::Metric::kShare           ? row->share
                           : metric == Limit::Metric::kFunctionTotal ? *row->total
                                                                     : row->amount;
    sum.single_runs = rows.size() == 1 ? change.single_runs : std::nullopt;
    sum.before += change.before;
    sum.after += change.after;
    const double own = squared(change.interval.high - change.difference);
    sum.degrees = std::min(sum.degrees, change.degrees);
    sum.before_degrees = std::min(sum.before_degrees, change.before_degrees);
    sum.after_degrees = std::min(sum.after_degrees, change.after_degrees);
    sum.one_estimate = sum.one_estimate || change.one_estimate;
    variance += own;
    variance_before += change.before_part * own;
    variance_after += squared(change.after_interval.high - change.after);
  }
  sum.difference = sum.after - sum.before;
  sum.before_part = variance > 0 ? variance_before / variance : 0;
  sum.interval = {sum.difference - std::sqrt(variance), sum.difference + std::sqrt(variance)};
  const double half_after = std::sqrt(variance_after);
  sum.after_interval = {std::max(0.0, sum.after - half_after), sum.after + half_after};
  return sum;
}

/// "the new side has parse(long) instead; 'parse' means both"; empty if a side has no row instead.
std::string other_name(const LimitedRows& limited, const Limit& limit) {
  const DiffRow* row = limited.new_namesake;
  if (row == nullptr && limit.change) row = limited.old_namesake;  // else the old amount does not matter
  if (row == nullptr) return "";
  return fmt::format("the {} side has {} instead; '{}' means both",
                     row == limited.new_namesake ? "new" : "old", elided_name(escaped(row->name), kMostShown),
                     elided_name(escaped(bare_name(*row)), kMostShown));
}

using Outcome = LimitResult::Outcome;

Outcome outcome_between(double low, double high, double limit) {
  return low > limit ? Outcome::kFail : high <= limit ? Outcome::kPass : Outcome::kUndecided;
}

/// Whether a side has several of the rows with a total: one may be part of another. What is called otherwise
/// on each side is one function.
bool have_several(const std::vector<const DiffRow*>& rows) {
  const auto is_old = [](const DiffRow* row) { return row->old_on_path.ticks != 0; };
  const auto is_new = [](const DiffRow* row) { return row->new_on_path.ticks != 0; };
  return std::ranges::count_if(rows, is_old) > 1 || std::ranges::count_if(rows, is_new) > 1;
}

/// "'parts.cc:10' may be '/a/parts.cc:10', '/b/parts.cc:10'; write one of these names"; of many, or long
/// ones, the first.
std::string choice_of(const std::string& name, const std::vector<std::string>& lines) {
  constexpr size_t kMostListed = 2, kMostBytes = 60;
  std::string list = fmt::format("'{}'", escaped(lines[0]));
  size_t listed = 1;
  for (; listed < std::min(kMostListed, lines.size()); ++listed) {
    const std::string more = fmt::format(", '{}'", escaped(lines[listed]));
    if (list.size() + more.size() > kMostBytes) break;
    list += more;
  }
  if (lines.size() > listed) list += fmt::format(" and {} more", lines.size() - listed);
  return fmt::format("'{}' may be {}; write one of these names", name, list);
}

/// Why no row has what the limit is on; empty: one has.
std::string what_lacks(const Diff& diff, const Limit& limit, const LimitedRows& limited) {
  const std::string name = elided_name(limit.function, kMostShown);
  if (!limited.named)
    return fmt::format("neither side has a row '{}'; {}", name,
                       diff.blind_to_kernel.empty()
                           ? "pctally diff --limit 0 lists the rows"
                           : "kernel code is left out, for one side does not see it");
  if (limit.metric != Limit::Metric::kFunctionTotal && limited.lines.size() > 1)
    return choice_of(name, limited.lines);
  if (limit.metric != Limit::Metric::kFunctionTotal)
    return limited.rows.empty()
               ? fmt::format(
                     "'{0}' has no ticks of its own on either side; total({0}) limits it with all it calls",
                     name)
               : "";
  if (diff.by != Grouping::kFunction)
    return fmt::format("'{}': total(NAME) is of functions; leave out --by {}", name, grouping_word(diff.by));
  if (diff.totals_left_out)
    return fmt::format("'{}': totals are left out, for one side does not see kernel code in folded paths",
                       name);
  if (limited.rows.empty() || !limited.rows[0]->total)
    return fmt::format("'{}': no total without call paths on both sides; pctally record -g", name);
  if (have_several(limited.rows))
    return fmt::format("'{}' is several functions, whose totals do not add up; write one in full: '{}'", name,
                       elided_name(limited.rows[0]->name, kMostShown));
  return "";
}

}  // namespace

const char* outcome_word(LimitResult::Outcome outcome) {
  switch (outcome) {
    case LimitResult::Outcome::kPass:
      return "PASS";
    case LimitResult::Outcome::kFail:
      return "FAIL";
    default:
      return "UNDECIDED";
  }
}

const char* unit_of(const Limit& limit) {
  if (limit.relative) return "%";
  if (limit.metric != Limit::Metric::kShare) return "ms";
  return limit.change ? "pp" : "%";
}

Result<Limit> parse_limit(std::string_view text) {
  Limit limit;
  limit.text = trimmed(text);
  size_t sign = text.rfind('>');
  if (sign == std::string_view::npos) return refused(text, "it has no '>'");
  if (!take_metric(trimmed(text.substr(0, sign)), &limit))
    return refused(text, "not share(NAME), seconds(NAME), total(NAME) or total", Limit::Metric::kShare);
  std::string_view rest = trimmed(text.substr(sign + 1));
  if (!take_number(&rest, &limit)) return refused(text, "a number follows '>'", limit.metric);
  if (!take_unit(trimmed(rest), &limit))
    return refused(text,
                   limit.metric == Limit::Metric::kShare
                       ? "the unit of a share is pp or %"
                       : "the unit of a time is ms or s, of a change also %",
                   limit.metric);
  if (!std::isfinite(limit.value)) return refused(text, "the number is too large", limit.metric);
  if (limit.metric == Limit::Metric::kShare && !limit.relative && limit.value >= 100)
    return refused(text, "no share is, or rises, above 100", limit.metric);
  return limit;
}

Result<std::vector<Limit>> parse_limits(std::string_view lines) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // some editors begin files with it
  if (lines.starts_with(kByteOrderMark)) lines.remove_prefix(kByteOrderMark.size());
  std::vector<Limit> limits;
  int number = 0;
  while (!lines.empty()) {
    size_t end = std::min(lines.find('\n'), lines.size());
    std::string_view line = trimmed(without_comment(lines.substr(0, end)));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    ++number;
    if (line.empty()) continue;
    auto limit = parse_limit(line);
    if (!limit) return fail(EINVAL, "line %d: %s", number, limit.error().text);
    limits.push_back(std::move(*limit));
  }
  return limits;
}

std::optional<double> half_width(const LimitResult& result) {
  const auto& [low, high] = result.interval;
  const double above = high - result.measured, below = result.measured - low;
  if (result.limit.relative || std::abs(above - below) > 1e-6 * std::abs(above)) return std::nullopt;
  return (high - low) / 2;
}

std::string measured_text(const LimitResult& result) {
  const auto& [low, high] = result.interval;
  if (std::isinf(result.measured))
    return low > 0 ? fmt::format("the old side has none of it: +{} % or more", rounded(low, 3))
                   : "the old side has none of it";
  if (result.limit.relative) return percent_change(result.measured, result.interval);
  const std::string number =
      result.limit.change ? signed_rounded(result.measured, 3) : rounded(result.measured, 3);
  const char* unit = unit_of(result.limit);
  if (const auto half = half_width(result)) return fmt::format("{} ± {} {}", number, rounded(*half, 3), unit);
  return fmt::format("{} {} ({} to {} {})", number, unit, rounded(low, 3), rounded(high, 3), unit);
}

std::vector<std::string> remarks_of(const LimitResult& result) {
  std::vector<std::string> remarks;
  if (result.runs_needed != 0)
    remarks.push_back(fmt::format("about {} runs a side would decide it", result.runs_needed));
  if (!result.line.empty()) remarks.push_back("of " + escaped(result.line));
  if (!result.other_name.empty()) remarks.push_back(result.other_name);
  if (result.in_doubt) remarks.emplace_back("call paths that are cut, folded or not kept may be more");
  if (result.gone) remarks.emplace_back("the new side has none of it: was it renamed or inlined?");
  return remarks;
}

std::string text_with_remarks(const LimitResult& result) {
  std::string text = measured_text(result);
  for (const std::string& remark : remarks_of(result)) text += "; " + remark;
  return text;
}

std::string text_of(const LimitResult& result) {
  return escaped(result.limit.text) + ": " + text_with_remarks(result);
}

Result<LimitResult> check_limit(const Diff& diff, const Limit& limit) {
  if (!diff.counts_cpu_time() && is_time(limit))
    return fail(EINVAL, "limit '%s': the profiles count %s, not time; limit the change in %%, or a share",
                elided_name(limit.text, kMostShown).c_str(), elided_name(diff.event, kMostShown).c_str());
  Change change = diff.total.amount;
  LimitedRows limited;
  if (limit.metric != Limit::Metric::kTotal) {
    const bool total = limit.metric == Limit::Metric::kFunctionTotal;
    limited = limited_rows(diff, limit.function, total);
    if (const std::string why = what_lacks(diff, limit, limited); !why.empty())
      return fail(EINVAL, "%s", why.c_str());
    change = sum_of(limited.rows, limit.metric);
  }
  LimitResult result{.limit = limit};
  result.nameless =
      std::ranges::any_of(limited.rows, [&diff](auto* row) { return diff.is_in_doubt(row->object); });
  result.other_name = other_name(limited, limit);
  if (!limited.lines.empty()) result.line = limited.lines[0];
  const bool cannot_be_known = result.nameless || !result.other_name.empty();
  if (limit.relative && !(change.before > 0)) {
    result.measured = HUGE_VAL;
    result.interval = {-100, HUGE_VAL};
    if (cannot_be_known) return result;
    result.interval = rises_of(change);
    const bool may_be_unread =
        limit.metric == Limit::Metric::kFunctionTotal && limited.rows[0]->unknown.before > 0;
    const Outcome of_ticks = outcome_between(result.interval.low, HUGE_VAL, limit.value);
    result.in_doubt = of_ticks == Outcome::kFail && may_be_unread;
    if (!result.in_doubt) result.outcome = of_ticks;
    return result;
  }
  double scale = limit.relative ? 100 / change.before : 1;
  result.measured = (limit.change ? change.difference : change.after) * scale;
  result.interval = interval_for(limit, change);
  if (cannot_be_known) return result;
  const auto [low, high] = result.interval;
  result.outcome = outcome_between(low, high, limit.value);
  if (limit.metric == Limit::Metric::kFunctionTotal) {
    const UnknownPaths& unknown = limited.rows[0]->unknown;
    const double more = (limit.change ? unknown.change() : unknown.after) * scale;
    const Outcome least = outcome_between(low + std::min(0.0, more), high + std::max(0.0, more), limit.value);
    result.in_doubt = least != result.outcome;
    if (result.in_doubt) {
      result.outcome = Outcome::kUndecided;
      return result;
    }
  }
  result.gone = result.outcome == Outcome::kPass && change.before > 0 && change.after <= 0;
  const double distance = std::abs(result.measured - limit.value);
  const double widths = half_width_for(limit, change) * scale / distance;
  const double runs = static_cast<double>(std::max(diff.old_runs, diff.new_runs)) * squared(widths);
  if (result.outcome == Outcome::kUndecided && distance > 0 && runs < 10000)
    result.runs_needed = static_cast<size_t>(std::ceil(runs)) + 1;
  return result;
}

}  // namespace pctally
