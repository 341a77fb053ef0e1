#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/diff/output.h"
#include "report/print/escape.h"

namespace pctally {
namespace {

constexpr size_t kCauses = 3;

bool is_time(const Diff& diff) { return diff.unit == "ms"; }

std::string amount_text(const Diff& diff, double amount) {
  std::string unit = diff.work == 1 ? "" : " a unit of work";
  if (!is_time(diff)) return fmt::format("{:.0f} {}{}", amount, diff.unit, unit);
  if (std::abs(amount) >= 995) return fmt::format("{:.2f} s{}", amount / 1000, unit);
  return fmt::format("{:.3g} ms{}", amount, unit);
}

std::string runs_text(const Diff& diff) {
  if (diff.one_run_a_side()) return "one run a side";
  return fmt::format("{} + {} runs", diff.old_runs, diff.new_runs);
}

}  // namespace

std::string verdict_sentence(const Diff& diff) {
  const Change& total = diff.total.amount;
  std::string subject = is_time(diff) ? "CPU time" : diff.unit;
  std::string amounts = fmt::format("{} to {}; {}", amount_text(diff, total.before),
                                    amount_text(diff, total.after), runs_text(diff));
  if (diff.total.verdict == Verdict::kUndecided) {
    if (diff.decided == 0) return fmt::format("No difference found: {}.", amounts);
    return fmt::format("{} as a whole: undecided, {}.", subject, amounts);
  }
  double percent = 100 / std::max(total.before, 1e-9);
  double low = std::abs(total.interval.low) * percent, high = std::abs(total.interval.high) * percent;
  return fmt::format("{} {} by {:.3g} % ({:.3g} to {:.3g} %): {}.", subject,
                     total.difference > 0 ? "rose" : "fell", std::abs(total.difference) * percent,
                     std::min(low, high), std::max(low, high), amounts);
}

std::string cause_sentence(const Diff& diff) {
  std::vector<const DiffRow*> causes;
  const bool rose = diff.total.amount.difference > 0;
  for (const DiffRow& row : diff.rows)
    if (row.verdict != Verdict::kUndecided && (row.amount.difference > 0) == rose && causes.size() < kCauses)
      causes.push_back(&row);
  if (causes.empty()) return "";
  while (causes.size() > 1 &&
         std::abs(causes.back()->amount.difference) < 0.2 * std::abs(causes[0]->amount.difference))
    causes.pop_back();
  std::string names;
  double sum = 0;
  for (size_t i = 0; i < causes.size(); ++i) {
    const char* joint = i == 0 ? "" : i + 1 == causes.size() ? " and " : ", ";
    names += joint + elided_name(escaped(shown_name(diff, *causes[i])), 40);
    sum += causes[i]->amount.difference;
  }
  return fmt::format("Main cause: {}, {} by {}{}.", names, rose ? "more" : "less",
                     amount_text(diff, std::abs(sum)), causes.size() > 1 ? " together" : "");
}

std::string deviation_sentence(const Diff& diff) {
  if (diff.one_run_a_side())
    return fmt::format(
        "One run a side: a run-to-run deviation of {:.0f} % is assumed; several runs a side measure it.",
        kBetweenRuns * 100);
  const size_t added = diff.old_added + diff.new_added;
  if (added == 0) return "";
  const std::string taken = diff.deviation_assumed ? fmt::format("{:.0f} % is assumed", kBetweenRuns * 100)
                                                   : "as other runs do is assumed";
  return fmt::format(
      "{} runs are added up in their files: how rows vary between them is not known, {}; give the runs' "
      "files.",
      added, taken);
}

std::string renamed_sentence(const Diff& diff) {
  std::string names;
  for (const auto& [before, after] : diff.renamed)
    names += fmt::format("{}{} and {}", names.empty() ? "" : "; ", escaped(before), escaped(after));
  return names.empty() ? "" : fmt::format("Compared as one object: {}.", names);
}

std::string power_sentence(const Diff& diff) {
  if (diff.rows.empty() || diff.total.amount.before <= 0) return "";
  const DiffRow& row =
      *std::max_element(diff.rows.begin(), diff.rows.end(), [](const DiffRow& a, const DiffRow& b) {
        return a.amount.before + a.amount.after < b.amount.before + b.amount.after;
      });
  return fmt::format(
      "{} ({}) would have to change by {} to be seen with {}; for less, record more runs (pctally plan).",
      elided_name(escaped(shown_name(diff, row)), 40), amount_text(diff, row.amount.before),
      amount_text(diff, visible_change(diff, row)), runs_text(diff));
}

}  // namespace pctally
