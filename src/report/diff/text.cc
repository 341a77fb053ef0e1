#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/colors.h"
#include "report/diff/output.h"
#include "report/escape.h"

namespace pctally {
namespace {

constexpr size_t kNumbers = 37;  ///< columns in front of the name
constexpr size_t kVerdict = 11;
constexpr size_t kUsualName = 60;
constexpr size_t kNarrowName = 16;

std::string colored(bool wanted, const char* color, const std::string& text) {
  return wanted ? fmt::format("{}{}{}", color, text, kPlain) : text;
}

const char* color_of(Verdict verdict) {
  if (verdict == Verdict::kUndecided) return kDim;
  return verdict == Verdict::kMore || verdict == Verdict::kNew ? kRed : kGreen;
}

double half_of(const Interval& interval) { return (interval.high - interval.low) / 2; }

class DiffTable {
 public:
  DiffTable(const Diff& diff, const DiffTextOptions& options) : diff_(diff), options_(options) {}

  std::string run() {
    size_t shown = options_.limit == 0 ? diff_.rows.size() : std::min(options_.limit, diff_.rows.size());
    shown = std::max(shown, diff_.decided);  // no decided row is left out
    choose_width(shown);
    double largest = 0;
    for (size_t i = 0; i < shown; ++i)
      largest = std::max({largest, diff_.rows[i].amount.before, diff_.rows[i].amount.after});
    decimals_ = largest < 10 ? 2 : largest < 1000 ? 1 : 0;
    std::string out = fmt::format("{:>10} {:>8} {:>8} {:>8}  {}\n", fmt::format("change {}", unit()), "±",
                                  "old", "new", grouping_word(diff_.by));
    for (size_t i = 0; i < shown; ++i) out += line(diff_.rows[i]);
    if (shown < diff_.rows.size()) out += rest(shown);
    return out;
  }

 private:
  [[nodiscard]] std::string unit() const { return diff_.unit == "ms" ? "ms" : ""; }

  void choose_width(size_t shown) {
    for (size_t i = 0; i < shown; ++i)
      name_width_ =
          std::max(name_width_, std::min(kUsualName, width_of(escaped(shown_name(diff_, diff_.rows[i])))));
    if (options_.width > kNumbers + kVerdict)
      name_width_ = std::min(name_width_, std::max(kNarrowName, options_.width - kNumbers - kVerdict));
  }

  [[nodiscard]] std::string line(const DiffRow& row) const {
    std::string name = escaped(shown_name(diff_, row));
    if (options_.width != 0) name = elided_name(name, name_width_);
    name.append(name_width_ - std::min(name_width_, width_of(name)), ' ');
    std::string text = fmt::format("{:>+10.{}f} {:>7.{}f} {:>8.{}f} {:>8.{}f}  {}  {}", row.amount.difference,
                                   decimals_, half_of(row.amount.interval), decimals_, row.amount.before,
                                   decimals_, row.amount.after, decimals_, name, verdict_word(row.verdict));
    return colored(options_.color, color_of(row.verdict), text) + "\n";
  }

  [[nodiscard]] std::string rest(size_t shown) const {
    double sum = 0;
    for (size_t i = shown; i < diff_.rows.size(); ++i) sum += diff_.rows[i].amount.difference;
    return fmt::format("+{} rows, none decided, {:+.{}f} {} together; --limit 0 shows them\n",
                       diff_.rows.size() - shown, sum, decimals_, diff_.unit);
  }

  const Diff& diff_;
  const DiffTextOptions& options_;
  size_t name_width_ = 8;
  int decimals_ = 0;
};

}  // namespace

std::string diff_text(const Diff& diff, const DiffTextOptions& options) {
  std::string out = colored(options.color, kBold, verdict_sentence(diff)) + "\n";
  if (std::string cause = cause_sentence(diff); !cause.empty()) out += cause + "\n";
  if (diff.decided == 0) out += power_sentence(diff) + "\n";
  for (const std::string& doubt : diff.doubts)
    out += fmt::format("warning: a profile cannot be relied on: {}\n", escaped(doubt));
  out += fmt::format("\n{}", DiffTable(diff, options).run());
  out += fmt::format("\n{} of {} rows changed (at most {:.0f} % of such calls are wrong).", diff.decided,
                     diff.rows.size(), kDiffRate * 100);
  if (std::string deviation = deviation_sentence(diff); !deviation.empty()) out += "\n" + deviation;
  return out + "\n";
}

std::string limits_text(const std::vector<LimitResult>& results, bool color) {
  std::string out;
  for (const LimitResult& result : results) {
    const char* unit = unit_of(result.limit);
    bool failed = result.outcome == LimitResult::Outcome::kFail,
         passed = result.outcome == LimitResult::Outcome::kPass;
    std::string text = fmt::format("{:9}  {}: {:+.3g} ± {:.3g} {}", outcome_word(result.outcome),
                                   escaped(result.limit.text), result.measured, result.half_width, unit);
    if (result.runs_needed != 0)
      text += fmt::format("; about {} runs a side would decide it", result.runs_needed);
    out += colored(color, failed ? kRed : passed ? kGreen : kDim, text) + "\n";
  }
  return out;
}

}  // namespace pctally
