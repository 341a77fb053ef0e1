#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/diff/output.h"
#include "report/print/colors.h"
#include "report/print/escape.h"

namespace pctally {
namespace {

using Figures = std::array<std::string, 4>;                     ///< change, ±, old, new
constexpr std::array<size_t, 4> kUsualFigures = {10, 7, 8, 8};  ///< columns of each
constexpr size_t kPoints = 10;                                  ///< columns of the change of the share
constexpr size_t kVerdict = 11;
constexpr size_t kUsualName = 60;
constexpr size_t kNarrowName = 16;
constexpr size_t kWide = 110;  ///< columns

std::string colored(bool wanted, const char* color, const std::string& text) {
  return wanted ? fmt::format("{}{}{}", color, text, kPlain) : text;
}

const char* color_of(Verdict verdict) {
  if (verdict == Verdict::kUndecided) return kDim;
  return verdict == Verdict::kMore || verdict == Verdict::kNew ? kRed : kGreen;
}

double half_of(const Interval& interval) { return (interval.high - interval.low) / 2; }

/// A line of a table.
struct ShownRow {
  const DiffRow* row;
  const Change* change;
  const Change* share;
  Verdict verdict;
};

class DiffTable {
 public:
  /// `rows`: the decided ones first; `limit` of the others are shown, too. `title`: of the names.
  DiffTable(const Diff& diff, const DiffTextOptions& options, std::vector<ShownRow> rows, size_t decided,
            size_t limit, std::string title)
      : diff_(diff),
        options_(options),
        rows_(std::move(rows)),
        decided_(decided),
        limit_(limit),
        title_(std::move(title)),
        room_(options.width) {}

  std::string run() {
    const size_t shown =  // no decided row is left out
        options_.limit == 0 ? rows_.size() : std::max(std::min(limit_, rows_.size()), decided_);
    choose_unit(shown);
    const Figures heads = {fmt::format("change {}", unit()), "±", "old", "new"};
    choose_widths(heads, shown);
    std::string out = fmt::format("{}{}  {}\n", aligned(heads),
                                  points_ ? fmt::format("{:>{}}", "share pp", kPoints) : "", title_);
    for (size_t i = 0; i < shown; ++i) out += line(rows_[i]);
    if (shown < rows_.size())
      out += fmt::format("+{} rows, none decided{}; --limit 0 shows them\n", rows_.size() - shown,
                         sum_from(shown));
    return out;
  }

 private:
  /// A name of an event may be long, and the first line has it.
  [[nodiscard]] std::string unit() const { return diff_.counts_cpu_time() ? unit_.name : ""; }

  void choose_unit(size_t shown) {
    constexpr double kMsFrom = 1e5;  // a table stays in ms as long as the column holds it
    double largest = 0;
    for (size_t i = 0; i < shown; ++i)
      largest = std::max({largest, rows_[i].change->before, rows_[i].change->after});
    unit_ = amount_unit(diff_, largest < 1000 || largest >= kMsFrom ? largest : 999);
    largest *= unit_.scale;
    decimals_ = largest < 10 ? 2 : largest < 1000 ? 1 : 0;
    if (largest > 0 && largest < 1)
      decimals_ = std::min(12, 2 - static_cast<int>(std::floor(std::log10(largest))));
  }

  [[nodiscard]] Figures figures_of(const Change& change) const {
    const auto text = [this](double amount) {
      return fmt::format("{:.{}f}", amount * unit_.scale, decimals_);
    };
    return {fmt::format("{:+.{}f}", change.difference * unit_.scale, decimals_),
            text(half_of(change.interval)), text(change.before), text(change.after)};
  }

  [[nodiscard]] std::string aligned(const Figures& figures) const {
    std::string text;
    for (size_t i = 0; i < figures.size(); ++i)
      text += fmt::format("{}{:>{}}", i == 0 ? "" : " ", figures[i], widths_[i]);
    return text;
  }

  void choose_widths(const Figures& heads, size_t shown) {
    const auto fit = [this](const Figures& figures) {
      for (size_t i = 0; i < figures.size(); ++i) widths_[i] = std::max(widths_[i], width_of(figures[i]));
    };
    fit(heads);
    for (size_t i = 0; i < shown; ++i) {
      fit(figures_of(*rows_[i].change));
      name_width_ =
          std::max(name_width_, std::min(kUsualName, width_of(escaped(shown_name(diff_, *rows_[i].row)))));
    }
    size_t numbers = widths_.size() + 1;  // the blanks between them, and two in front of the name
    for (const size_t width : widths_) numbers += width;
    // No name is cut for the sake of shares, but on a wide terminal.
    const size_t needed = numbers + kPoints + kVerdict + name_width_;
    points_ = options_.width == 0 || options_.width >= std::min(needed, kWide);
    if (points_ && options_.width > kPoints) room_ = options_.width - kPoints;
    if (room_ > numbers + kVerdict)
      name_width_ = std::min(name_width_, std::max(kNarrowName, room_ - numbers - kVerdict));
  }

  /// Totals hold each other, and have no sum.
  [[nodiscard]] std::string sum_from(size_t first) const {
    double sum = 0;
    for (size_t i = first; i < rows_.size(); ++i) {
      if (rows_[i].change != &rows_[i].row->amount) return "";
      sum += rows_[i].change->difference;
    }
    return fmt::format(", {:+.{}f} {} together", sum * unit_.scale, decimals_, unit_.name);
  }

  [[nodiscard]] std::string line(const ShownRow& row) const {
    std::string name = escaped(shown_name(diff_, *row.row));
    if (options_.width != 0) name = elided_name(name, name_width_);
    name.append(name_width_ - std::min(name_width_, width_of(name)), ' ');
    const std::string text =
        fmt::format("{}{}  {}  {}", aligned(figures_of(*row.change)),
                    points_ ? fmt::format("{:>+{}.1f}", row.share->difference, kPoints) : "", name,
                    verdict_word(row.verdict));
    return colored(options_.color, color_of(row.verdict), text) + "\n";
  }

  const Diff& diff_;
  const DiffTextOptions& options_;
  std::vector<ShownRow> rows_;
  size_t decided_, limit_;
  std::string title_;
  std::array<size_t, 4> widths_ = kUsualFigures;
  size_t name_width_ = 8;
  size_t room_;  ///< for all but the shares
  bool points_ = false;
  AmountUnit unit_;
  int decimals_ = 0;
};

}  // namespace

std::string diff_text(const Diff& diff, const DiffTextOptions& options) {
  std::string out = colored(options.color, kBold, verdict_sentence(diff)) + "\n";
  if (std::string cause = cause_sentence(diff); !cause.empty()) out += cause + "\n";
  if (std::string power = power_sentence(diff); !power.empty()) out += power + "\n";
  for (const std::string& remark : remarks_of(diff)) out += remark + "\n";
  for (const std::string& doubt : first_texts(diff.doubts))
    out += fmt::format("warning: {}\n", escaped(doubt));
  std::vector<ShownRow> rows;
  for (size_t i = 0; i < diff.rows_with_ticks; ++i) {
    const DiffRow& row = diff.rows[i];
    rows.push_back({&row, &row.amount, &row.share, row.verdict});
  }
  out += "\n" + DiffTable(diff, options, rows, diff.decided, options.limit, grouping_word(diff.by)).run();
  std::vector<ShownRow> totals;
  for (const DiffRow* row : rows_with_callees(diff))
    totals.push_back({row, &*row->total, &*row->total_share, row->total_verdict});
  if (diff.decided_totals != 0 || (options.limit == 0 && !totals.empty()))
    out +=
        "\n" + DiffTable(diff, options, totals, diff.decided_totals, 0, "function with all it calls").run();
  out += "\n" + rate_sentence(diff) + "\n" + interval_sentence() + "\n";
  for (const std::string& sentence : {deviation_sentence(diff), renamed_sentence(diff)})
    if (!sentence.empty()) out += sentence + "\n";
  return out;
}

std::string limits_text(const std::vector<LimitResult>& results, bool color) {
  std::string out;
  for (const LimitResult& result : results) {
    bool failed = result.outcome == LimitResult::Outcome::kFail,
         passed = result.outcome == LimitResult::Outcome::kPass;
    const std::string text = fmt::format("{:9}  {}", outcome_word(result.outcome), text_of(result));
    out += colored(color, failed ? kRed : passed ? kGreen : kDim, text) + "\n";
  }
  return out;
}

}  // namespace pctally
