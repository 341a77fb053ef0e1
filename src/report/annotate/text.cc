#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/base_name.h"
#include "report/annotate/jump_lanes.h"
#include "report/annotate/listing_rows.h"
#include "report/annotate/output.h"
#include "report/names/short_name.h"
#include "report/print/colors.h"
#include "report/print/escape.h"
#include "report/print/figures.h"

namespace pctally {
namespace {

constexpr size_t kBar = 8;
constexpr size_t kMostLanes = 4, kMostLanesWhenNarrow = 2;
constexpr size_t kNarrow = 100;  ///< columns of a terminal below which the ticks are left out
constexpr size_t kNoBars = 60;   ///< and the bars
constexpr size_t kMostLines = 10;
constexpr size_t kPlaceColumn = 22, kTotalColumn = 10;
constexpr double kHot = 0.10, kWarm = 0.03;  ///< of the function

std::string place_text(const std::string& file, uint32_t line) {
  return line == 0 ? "(no line)" : fmt::format("{}:{}", escaped(base_name(file)), line);
}

class Listing {
 public:
  Listing(const Profile& profile, Annotator& annotator, SourceFiles& sources, const ListingOptions& options)
      : profile_(profile),
        annotator_(annotator),
        annotation_(annotator.annotation()),
        sources_(sources),
        options_(options) {}

  std::string run() {
    add_header();
    add_changed_sources();
    add_lines();
    add_instructions();
    add_notes();
    return std::move(out_);
  }

 private:
  void add_header();
  void add_lines();
  void add_instructions();
  void add_changed_sources();
  void add_notes();
  void add_instruction(size_t index, const std::string& arrows);
  void add_heading(const ListingRow& row, const std::string& arrows);
  void add_left_out(const ListingRow& row, const std::string& arrows);

  [[nodiscard]] bool narrow() const { return options_.width != 0 && options_.width < kNarrow; }
  [[nodiscard]] size_t bar_width() const {
    return options_.width != 0 && options_.width < kNoBars ? 0 : kBar;
  }
  [[nodiscard]] size_t numbers_width() const { return narrow() ? 16 : 18 + ticks_width_; }
  [[nodiscard]] std::string numbers(const TickShare& ticks, bool with_interval = true) const;
  [[nodiscard]] std::string titles() const;
  [[nodiscard]] std::string total_cell(const MeasuredTotal& total) const;
  [[nodiscard]] std::string what_ticks_are() const;
  [[nodiscard]] std::string bar(const TickShare& ticks) const;
  [[nodiscard]] std::string code_text(size_t index);
  [[nodiscard]] std::string source_text(const std::string& file, uint32_t line);
  [[nodiscard]] const char* color_of(const TickShare& ticks) const;
  [[nodiscard]] double part_of_function(const TickShare& ticks) const {
    return static_cast<double>(ticks.ticks) /
           static_cast<double>(std::max<uint64_t>(annotation_.ticks.ticks, 1));
  }
  void add_row(const char* color, const std::string& text) {
    add_text(color, options_.width == 0 ? text : elided(text, options_.width));
  }
  /// Never cut: a terminal breaks it.
  void add_text(const char* color, std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    out_ += options_.color && *color != 0 && !line.empty() ? color + line + kPlain : line;
    out_ += '\n';
  }

  const Profile& profile_;
  Annotator& annotator_;
  const Annotation& annotation_;
  SourceFiles& sources_;
  const ListingOptions& options_;
  size_t ticks_width_ = 5, hottest_ = 0, address_width_ = 4;
  std::string out_;
};

std::string Listing::numbers(const TickShare& ticks, bool with_interval) const {
  if (ticks.ticks == 0) return std::string(numbers_width(), ' ');
  const double half = 100 * half_width(ticks.share, ticks.interval);
  const std::string text =
      fmt::format("{:6.2f} % {:>6} ", 100 * ticks.share, with_interval ? fmt::format("{:.2f}", half) : "");
  return narrow() ? text : fmt::format("{} {:>{}} ", text, tick_cell(profile_, ticks.ticks), ticks_width_);
}

std::string Listing::titles() const {
  constexpr const char* kShare = "   share      ± ";
  return narrow() ? kShare : fmt::format("{} {:>{}} ", kShare, tick_title(profile_), ticks_width_);
}

/// The total of a line with what it calls; empty without call paths. ">30.00 %": folded paths may hold more.
std::string Listing::total_cell(const MeasuredTotal& total) const {
  if (!annotation_.with_totals) return "";
  if (total.ticks.high == 0) return std::string(kTotalColumn, ' ');
  return fmt::format("{:>{}}", fmt::format("{}{:.2f} % ", total.is_range ? ">" : "", 100 * total.share),
                     kTotalColumn);
}

/// As long as the instruction's part of the hottest one; '.' beyond what is certain.
std::string Listing::bar(const TickShare& ticks) const {
  const TickShare& most = annotation_.instructions[hottest_].ticks;
  if (ticks.ticks == 0 || most.ticks == 0) return std::string(bar_width(), ' ');
  auto length = [&](double share) {
    return static_cast<size_t>(
        std::lround(static_cast<double>(bar_width()) * std::min(share / most.share, 1.0)));
  };
  std::string text(length(ticks.interval.low), '#');
  text.append(length(ticks.share) - std::min(length(ticks.share), text.size()), '.');
  return text.append(bar_width() - std::min(bar_width(), text.size()), ' ');
}

const char* Listing::color_of(const TickShare& ticks) const {
  const double part = part_of_function(ticks);
  if (ticks.ticks == 0) return "";
  return part >= kHot ? kBoldRed : part >= kWarm ? kYellow : "";
}

std::string Listing::source_text(const std::string& file, uint32_t line) {
  const SourceFile& source = sources_.file(file);
  if (!source.problem.empty())
    return fmt::format(
        "({})", source.problem == "not found" ? "source not found" : "source " + escaped(source.problem));
  const std::string text = sources_.line(file, line);
  return escaped(narrow() ? text.substr(std::min(text.find_first_not_of(' '), text.size())) : text);
}

/// Behind their number.
std::string Listing::what_ticks_are() const {
  if (!profile_.counts_cpu_time()) return " of " + escaped(profile_.event);
  if (ticks_are_nanoseconds(profile_)) return " of CPU time";
  return fmt::format(", {} of CPU time",
                     duration_text(duration_of(annotation_.ticks.ticks, profile_.period_ns)));
}

void Listing::add_header() {
  const HotFunction& function = *annotation_.function;
  const std::string& name =
      shown_name(options_.names, function.short_name, function.range.function, function.range.linkage);
  add_text(kBold, fmt::format("{}   {}   {:.2f} % ± {:.2f}   {}{}", escaped(name), escaped(function.object),
                              100 * annotation_.ticks.share,
                              100 * half_width(annotation_.ticks.share, annotation_.ticks.interval),
                              counted_ticks(profile_, annotation_.ticks.ticks), what_ticks_are()));
  if (annotation_.with_totals)
    add_text("", fmt::format("{}{:.2f} % with all it calls", annotation_.total.is_range ? "at least " : "",
                             100 * annotation_.total.share));
  add_text("", "shares are of all ticks, as in the report; ± is a 95 % confidence interval");
  ticks_width_ = std::max(ticks_width_, tick_cell(profile_, annotation_.ticks.ticks).size());
  hottest_ = hottest(annotation_);
}

void Listing::add_lines() {
  if (!annotation_.has_lines) return;
  add_row("", "");
  add_row(kBold, titles() + (annotation_.with_totals ? fmt::format("{:>{}}", "total ", kTotalColumn) : "") +
                     " line");
  size_t shown = std::min(kMostLines, annotation_.lines.size());
  if (options_.all) shown = annotation_.lines.size();
  for (size_t i = 0; i < shown; ++i) {
    const AnnotatedLine& line = annotation_.lines[i];
    add_row(color_of(line.ticks), fmt::format("{}{} {:<{}} {}", numbers(line.ticks), total_cell(line.total),
                                              place_text(line.file, line.line), kPlaceColumn,
                                              line.line == 0 ? "" : source_text(line.file, line.line)));
  }
  uint64_t rest = 0;
  for (size_t i = shown; i < annotation_.lines.size(); ++i) rest += annotation_.lines[i].ticks.ticks;
  if (shown < annotation_.lines.size())
    add_row("", fmt::format("+{} lines ({}); --all shows them", annotation_.lines.size() - shown,
                            counted_ticks(profile_, rest)));
}

/// What a jump or call leads to: an address of this function, or a name.
std::string Listing::code_text(size_t index) {
  const Instruction& instruction = annotation_.instructions[index].instruction;
  InstructionText text = annotator_.text(index);
  if (instruction.target != 0) {
    const std::string name = annotator_.target_name(index);
    if (!text.operands.empty()) text.operands += ", ";
    text.operands += name.empty() ? fmt::format("{:x}", instruction.target) : escaped(name);
  }
  const std::string operands = text.operands_and_memory();
  return operands.empty() ? text.mnemonic : fmt::format("{:<7} {}", text.mnemonic, operands);
}

void Listing::add_instruction(size_t index, const std::string& arrows) {
  const AnnotatedInstruction& row = annotation_.instructions[index];
  add_row(color_of(row.ticks), fmt::format("{} {} {} {} {:>{}x}  {}", numbers(row.ticks), bar(row.ticks),
                                           index == hottest_ ? '>' : ' ', arrows, row.instruction.address,
                                           address_width_, code_text(index)));
}

/// "> outermost > ... > innermost"
std::string chain_text(const std::vector<Frame>& inlined) {
  constexpr size_t kMost = 3, kLongest = 36;
  std::string text;
  for (size_t i = 0; i < inlined.size(); ++i) {
    if (inlined.size() > kMost && i == 1) text += " > ...";
    if (i != 0 && i + 2 < inlined.size() && inlined.size() > kMost) continue;
    const std::string name = short_function_name(inlined[i].function, inlined[i].linkage);
    text.append(" > ").append(elided_name(escaped(name), kLongest));
  }
  return text;
}

void Listing::add_heading(const ListingRow& row, const std::string& arrows) {
  const bool is_line = row.kind == ListingRow::Kind::kLine;
  const std::string place = row.line == 0 && !is_line ? "" : place_text(row.file, row.line);
  // Where there is no source a note at the end says so, once.
  const bool known = row.line != 0 && sources_.file(row.file).problem.empty();
  const std::string source = known ? source_text(row.file, row.line) : "";
  const size_t room = numbers_width() + 1 + bar_width() + 3;
  if (is_line) return add_row(kCyan, fmt::format("{:<{}}{}  {}", place, room, arrows, source));
  const size_t indent = std::min(source.find_first_not_of(' '), source.size());
  add_row(kDim, fmt::format("{:<{}}{} {}   {}", "  " + place, room, arrows, chain_text(row.inlined),
                            source.substr(indent)));
}

void Listing::add_left_out(const ListingRow& row, const std::string& arrows) {
  TickShare ticks;
  ticks.ticks = row.ticks;
  const auto all = static_cast<double>(std::max<uint64_t>(profile_.ledger.ticks(), 1));
  ticks.share = static_cast<double>(row.ticks) / all;
  add_row(kDim, fmt::format("{} {:<{}} {}  ... {} from {:x}", numbers(ticks, false), "", bar_width() + 2,
                            arrows, counted(row.last - row.first + 1, "instruction"),
                            annotation_.instructions[row.first].instruction.address));
}

void Listing::add_instructions() {
  if (annotation_.ticks.ticks == 0) return;  // it only called others
  const std::vector<ListingRow> rows = listing_rows(annotator_, options_.all, options_.min_share);
  std::map<size_t, size_t> row_of;
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].kind == ListingRow::Kind::kInstruction) row_of[rows[i].first] = i;
  std::vector<size_t> shown;
  for (const auto& [index, row] : row_of) shown.push_back(index);
  annotator_.find_targets(shown);
  std::vector<Jump> jumps;
  for (const auto& [index, row] : row_of)
    if (auto target = annotator_.jump_target(index); target && row_of.contains(*target))
      jumps.push_back({row, row_of[*target]});
  const JumpLanes lanes(std::move(jumps), narrow() ? kMostLanesWhenNarrow : kMostLanes);
  address_width_ = fmt::format("{:x}", annotation_.instructions.back().instruction.address).size();
  add_row("", "");
  add_row(kBold, fmt::format("{} {:<{}}{:>{}}  instruction", titles(), "", bar_width() + 2 + lanes.width(),
                             "address", address_width_ + 2));
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string arrows = lanes.drawing(i);
    if (rows[i].kind == ListingRow::Kind::kInstruction)
      add_instruction(rows[i].first, arrows);
    else if (rows[i].kind == ListingRow::Kind::kLeftOut)
      add_left_out(rows[i], arrows);
    else
      add_heading(rows[i], arrows);
  }
}

void Listing::add_changed_sources() {
  for (const std::string& file : annotation_.files) {
    const SourceChange change = annotator_.change_of_source(file, sources_);
    if (change == SourceChange::kNone) continue;
    const char* what =
        change == SourceChange::kNewer ? "is newer than" : "has another MD5 than when it was compiled into";
    add_text(kYellow, fmt::format("warning: {} {} {}: lines may have moved", escaped(file), what,
                                  escaped(annotation_.function->object)));
  }
}

void Listing::add_notes() {
  add_row("", "");
  std::set<std::string> missing;
  for (const AnnotatedLine& line : annotation_.lines) {
    if (line.line == 0) continue;
    if (!sources_.file(line.file).problem.empty()) missing.insert(line.file);
  }
  if (!missing.empty())
    add_text("", fmt::format("no source of {}: {}; --source-path OLD=NEW says where sources are now",
                             escaped(*missing.begin()), escaped(sources_.file(*missing.begin()).problem)));
  if (!annotation_.problem.empty())
    add_text("", fmt::format("no instructions: {}", escaped(annotation_.problem)));
  else if (!annotation_.has_lines)
    add_text(
        "", "no source lines: no line information (compile with -g, or install the package's debug symbols)");
  if (annotation_.has_lines && !annotation_.line_problem.empty())
    add_text("",
             fmt::format("without some lines or inlined functions: {}", escaped(annotation_.line_problem)));
  if (annotation_.with_totals && annotation_.has_lines)
    add_text("", "total: with what the line calls; pctally report --callers has the functions");
  if (annotation_.ticks.ticks == 0)
    return add_text("", "no instructions: it has no ticks of its own, only its callees have");
  add_text(
      "",
      "skid: a tick often lands on the instruction behind the slow one; read a bar with the line above it");
}

}  // namespace

std::string annotation_text(const Profile& profile, Annotator& annotator, SourceFiles& sources,
                            const ListingOptions& options) {
  return Listing(profile, annotator, sources, options).run();
}

}  // namespace pctally
