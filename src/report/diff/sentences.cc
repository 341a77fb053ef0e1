#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/diff/output.h"
#include "report/print/escape.h"
#include "report/print/figures.h"
#include "report/statistics/ratio.h"

namespace pctally {
namespace {

/// The name of a row in a sentence: its middle is left out where it is long, unless another row's would be
/// the same then.
std::string short_name_of(const Diff& diff, const DiffRow& row) {
  constexpr size_t kUsual = 40;
  const auto shortened = [&diff](const DiffRow& of) {
    return elided_name(escaped(shown_name(diff, of)), kUsual);
  };
  const std::string name = escaped(shown_name(diff, row)), usual = shortened(row);
  const bool is_one = usual == name || std::ranges::none_of(diff.rows, [&](const DiffRow& other) {
                        return &other != &row && other.name != row.name && shortened(other) == usual;
                      });
  return is_one ? usual : name;
}

constexpr size_t kCauses = 3;

/// For three figures.
int decimals_of(double value) { return std::abs(value) < 9.995 ? 2 : std::abs(value) < 99.95 ? 1 : 0; }

std::string amount_text(const Diff& diff, double amount) {
  const AmountUnit unit = amount_unit(diff, amount);
  const double scaled = amount * unit.scale;
  const int decimals = diff.counts_cpu_time() ? decimals_of(scaled) : std::abs(amount) < 10 ? 2 : 0;
  const bool is_tiny = std::abs(scaled) < 0.01 && scaled != 0;
  return fmt::format("{} {}{}", is_tiny ? rounded(scaled, 3) : fmt::format("{:.{}f}", scaled, decimals),
                     unit.name, diff.per_unit_of_work() ? " a unit of work" : "");
}

/// Three figures for the larger end.
int decimals_of(const Interval& percent) {
  return decimals_of(std::isinf(percent.high) ? percent.low : std::max(-percent.low, percent.high));
}

/// "12.1 to 14.0 %", "-3.1 to +4.0 %"; without an upper end "12 % or more", "-50 % to any rise"
std::string percent_range(const Interval& percent, bool with_sign) {
  const int decimals = decimals_of(percent);
  const auto text = [&](double end) {
    return with_sign ? fmt::format("{:+.{}f}", end, decimals) : fmt::format("{:.{}f}", end, decimals);
  };
  if (std::isinf(percent.high)) return text(percent.low) + (with_sign ? " % to any rise" : " % or more");
  return fmt::format("{} to {} %", text(percent.low), text(percent.high));
}

const char* cause_word(const Diff& diff) {
  return diff.total.verdict == Verdict::kUndecided ? "Changed" : "Main cause";
}

/// Totals hold each other: of those that have at least half of the largest change it is the smallest, the
/// innermost one.
std::string cause_among_totals(const Diff& diff) {
  std::vector<const DiffRow*> rows = rows_with_callees(diff);
  std::erase_if(rows, [&](const DiffRow* row) {
    const bool other_way = diff.total.verdict != Verdict::kUndecided &&
                           (row->total->difference > 0) != (diff.total.amount.difference > 0);
    return row->total_verdict == Verdict::kUndecided || other_way;
  });
  if (rows.empty()) return "";
  const double largest = rows[0]->total->difference;
  std::erase_if(rows, [&](const DiffRow* row) { return row->total->difference / largest < 0.5; });
  const DiffRow& innermost = **std::ranges::min_element(rows, {}, [](const DiffRow* row) {
    const SideTicks own = row->old_side, now = row->new_side;
    return std::pair(row->total->before + row->total->after, -own.effective - now.effective);
  });
  return fmt::format("{}: {} with all it calls, {} by {}.", cause_word(diff), short_name_of(diff, innermost),
                     largest > 0 ? "more" : "less", amount_text(diff, std::abs(innermost.total->difference)));
}

/// "; but f and 2 others are less by 50.0 ms together", if that is at least half of `sum`, that of the
/// causes: what was renamed, or inlined elsewhere, is two rows.
std::string opposed_text(const Diff& diff, double sum) {
  const DiffRow* largest = nullptr;
  size_t others = 0;
  double opposed = 0;
  for (const DiffRow& row : diff.rows) {
    const double change = row.amount.difference;
    if (row.verdict == Verdict::kUndecided || (change > 0) == (sum > 0)) continue;
    opposed += change;
    if (largest != nullptr) ++others;
    if (largest == nullptr || std::abs(change) > std::abs(largest->amount.difference)) largest = &row;
  }
  if (largest == nullptr || std::abs(opposed) < 0.5 * std::abs(sum)) return "";
  return fmt::format("; but {}{} {} by {}{}", short_name_of(diff, *largest),
                     others == 0   ? " is"
                     : others == 1 ? " and another are"
                                   : fmt::format(" and {} others are", others),
                     sum > 0 ? "less" : "more", amount_text(diff, std::abs(opposed)),
                     others == 0 ? "" : " together");
}

std::string runs_text(const Diff& diff) {
  if (diff.one_run_a_side()) return "one run a side";
  return fmt::format("{} + {} runs", diff.old_runs, diff.new_runs);
}

}  // namespace

Interval rises_of(const Change& change) {
  const Interval ratio = ratio_interval(change);
  return {100 * (ratio.low - 1), 100 * (ratio.high - 1)};
}

std::string percent_change(double percent, const Interval& ends) {
  return fmt::format("{:+.{}f} % ({})", percent, decimals_of(ends), percent_range(ends, true));
}

AmountUnit amount_unit(const Diff& diff, double amount) {
  if (!diff.counts_cpu_time()) return {escaped(diff.event), 1};
  const double ms = std::abs(amount);
  if (ms >= 999.5) return {"s", 1e-3};
  if (ms >= 0.9995 || ms == 0) return {"ms", 1};
  return ms >= 0.9995e-3 ? AmountUnit{"us", 1e3} : AmountUnit{"ns", 1e6};
}

AmountUnit unit_of_rows(const Diff& diff, double most) {
  double largest = 0;
  for (const DiffRow& row : diff.rows) largest = std::max({largest, row.amount.before, row.amount.after});
  return amount_unit(diff, std::min(largest, most));
}

std::string verdict_sentence(const Diff& diff) {
  const Change& total = diff.total.amount;
  const std::string subject = diff.counts_cpu_time() ? "CPU time" : escaped(diff.event);
  const std::string before = amount_text(diff, total.before), after = amount_text(diff, total.after);
  const bool rose = total.difference > 0;
  if (diff.total.verdict == Verdict::kUndecided) {
    const std::string change =
        total.before > 0 ? ", " + percent_change(100 * total.difference / total.before, rises_of(total)) : "";
    const bool none =
        diff.decided + diff.decided_totals == 0 && total.interval.low <= 0 && total.interval.high >= 0;
    return fmt::format("{}: {} to {}{}; {}.",
                       none ? "No difference found" : subject + " as a whole: undecided", before, after,
                       change, runs_text(diff));
  }
  std::string change = subject + (rose ? " rose" : " fell");
  if (total.before > 0) {
    const Interval rises = rises_of(total), falls{-rises.high, -rises.low};
    const Interval& ends = rose ? rises : falls;
    change += fmt::format(" by {:.{}f} % ({})", 100 * std::abs(total.difference) / total.before,
                          decimals_of(ends), percent_range(ends, false));
  }
  return fmt::format("{}: {} to {}; {}.", change, before, after, runs_text(diff));
}

std::string cause_sentence(const Diff& diff) {
  std::vector<const DiffRow*> causes;
  // Where the whole is undecided, nothing is its cause: the row that changed most leads.
  const bool whole = diff.total.verdict != Verdict::kUndecided;
  if (diff.decided == 0) return cause_among_totals(diff);
  const bool rose = (whole ? diff.total.amount : diff.rows[0].amount).difference > 0;
  for (const DiffRow& row : diff.rows)
    if (row.verdict != Verdict::kUndecided && (row.amount.difference > 0) == rose && causes.size() < kCauses)
      causes.push_back(&row);
  if (causes.empty()) return cause_among_totals(diff);
  while (causes.size() > 1 &&
         std::abs(causes.back()->amount.difference) < 0.2 * std::abs(causes[0]->amount.difference))
    causes.pop_back();
  std::string names;
  double sum = 0;
  for (size_t i = 0; i < causes.size(); ++i) {
    const char* joint = i == 0 ? "" : i + 1 == causes.size() ? " and " : ", ";
    names += joint + short_name_of(diff, *causes[i]);
    sum += causes[i]->amount.difference;
  }
  return fmt::format("{}: {}, {} by {}{}{}.", cause_word(diff), names, rose ? "more" : "less",
                     amount_text(diff, std::abs(sum)), causes.size() > 1 ? " together" : "",
                     opposed_text(diff, sum));
}

std::string rate_sentence(const Diff& diff) {
  const size_t totals = rows_with_callees(diff).size();
  return fmt::format("{} of {} rows{} changed (at most {:.0f} % of such calls are wrong).", diff.decided,
                     diff.rows_with_ticks,
                     totals == 0 ? "" : fmt::format(" and {} of {} totals", diff.decided_totals, totals),
                     kDiffRate * 100);
}

std::string interval_sentence() {
  return "± is the 95 % interval of a row alone. Verdicts allow for all rows: one without 0 in it may be "
         "undecided.";
}

std::string deviation_sentence(const Diff& diff) {
  if (diff.one_run_a_side())
    return fmt::format(
        "One run a side: a run-to-run deviation of {:.0f} % is assumed; several runs a side measure it.",
        kBetweenRuns * 100);
  const size_t added = diff.old_added + diff.new_added;
  if (added == 0 &&
      assumed_degrees(static_cast<double>(diff.old_runs), static_cast<double>(diff.new_runs)) > 0)
    return fmt::format(
        "Few runs: a run-to-run deviation of {:.0f} % counts beside what they show; {:.0f} in all measure "
        "it.",
        kBetweenRuns * 100, kManyRuns);
  if (added == 0) return "";
  const std::string taken = diff.deviation_assumed ? fmt::format("{:.0f} % is assumed", kBetweenRuns * 100)
                                                   : "they are taken to vary as the other runs do";
  return fmt::format(
      "{} runs are added up in their files: how rows vary between them is not known, {}; give the runs' "
      "files.",
      added, taken);
}

std::string kernel_sentence(const Diff& diff) {
  if (diff.blind_to_kernel.empty()) return "";
  return fmt::format("User code alone is compared: {} does not see all kernel code.{}",
                     elided_name(escaped(diff.blind_to_kernel), 40),
                     diff.totals_left_out ? " Totals are left out: folded paths may hold some." : "");
}

std::string step_sentence(const Diff& diff) {
  if (diff.in_step.empty()) return "";
  return fmt::format(
      "Ticks of {} follow the kernel's {:g} ms clock: what runs in step with it may differ by chance alone; "
      "bpf and ring do not follow it.",
      elided_name(escaped(diff.in_step), 40), static_cast<double>(diff.clock_tick_ns) / 1e6);
}

std::string unknown_sentence(const Diff& diff) {
  const auto totals = std::ranges::count(diff.rows, true, &DiffRow::total_in_doubt);
  if (totals == 0) return "";
  return fmt::format("{} undecided: more call paths are, or may be, cut, folded or not kept on one side.",
                     totals == 1 ? "1 total is" : fmt::format("{} totals are", totals));
}

std::vector<std::string> remarks_of(const Diff& diff) {
  std::vector<std::string> remarks = {kernel_sentence(diff), step_sentence(diff), unknown_sentence(diff)};
  std::erase(remarks, "");
  return remarks;
}

std::string renamed_sentence(const Diff& diff) {
  std::string names;
  for (const auto& [before, after] : diff.objects.renamed)
    names += fmt::format("{}{} and {}", names.empty() ? "" : "; ", escaped(before), escaped(after));
  return names.empty() ? "" : fmt::format("Compared as one object: {}.", names);
}

std::string power_sentence(const Diff& diff) {
  const bool any = diff.total.verdict != Verdict::kUndecided || diff.decided + diff.decided_totals != 0;
  if (any || diff.rows.empty() || diff.total.amount.before <= 0) return "";
  const auto amount = [&diff](const DiffRow& row) {
    return diff.is_in_doubt(row.object) ? -1 : row.amount.before + row.amount.after;
  };
  const DiffRow& row = *std::ranges::max_element(diff.rows, {}, amount);
  if (diff.is_in_doubt(row.object)) return "";
  const double visible = visible_change(diff, row);
  if (std::isinf(visible)) return "";
  return fmt::format(
      "{} ({}) would have to rise by {} to be seen with {}; for less, record more runs (pctally plan).",
      short_name_of(diff, row), amount_text(diff, row.amount.before), amount_text(diff, visible),
      runs_text(diff));
}

}  // namespace pctally
