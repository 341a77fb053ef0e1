// pctally plan: how many runs, or how long ones, show a difference of a given size.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "object/symbolizer.h"
#include "report/diff/diff.h"
#include "report/print/escape.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/load_profiles.h"
#include "tool/scope_options.h"
#include "tool/terminal/message.h"
#include "tool/terminal/progress_line.h"

namespace pctally {
namespace {

constexpr double kUsualChanges[] = {5, 10, 20};  ///< percent
constexpr size_t kFewestRuns = 5;                ///< a side, to which others are compared

constexpr char kHelp[] = R"(Say how many runs a side pctally diff needs to see a change, or how long ones.

  pctally plan 1.pct 2.pct 3.pct        runs of one program; several show how they vary

          --change P           the change to detect, in percent (5, 10 and 20)
          --power P            probability of detecting it, in percent (80)
          --runs N             runs a side for the lengths (as many as FILEs, at least 5)
          --by KEY             function (default), object, line, process,
                               command or program
          --limit N            most rows (10; 0: all)
          --names STYLE        short (default), full or linkage
          --sample-index KIND  of pprof files: which of their values (inuse_space, delay)

Exit: 0; 2 usage; 4 a FILE cannot be read. See pctally-plan(1).
)";

struct Arguments {
  std::vector<std::string> files;
  std::string by = "function";
  size_t limit = 10;
  double change = 0;  ///< percent; 0: the usual ones
  double power = 80;  ///< percent
  size_t runs = 0;    ///< a side, for the lengths; 0: as many as files, at least kFewestRuns
  std::string names = "short";
};

std::optional<int> parse(int argc, char** argv, Arguments* arguments) {
  OptionParser app("pctally plan");
  app.help_page(kHelp);
  app.add_option("FILE", arguments->files);
  app.add_option("--sample-index", wanted_values());
  app.add_option("--change", arguments->change)->check(number_from_to(0.01, 1000.0));
  app.add_option("--power", arguments->power)->check(number_from_to(50, 99.9));
  app.add_option("--runs", arguments->runs)->check(whole_number_from_to(1, 1000000));
  add_by_option(app, arguments->by);
  add_names_option(app, arguments->names);
  app.add_option("--limit", arguments->limit)->check(number_of_rows);
  if (std::optional<int> code = app.parse(argc, argv)) return code;
  if (!arguments->files.empty()) return std::nullopt;
  complain("no profile named; write pctally plan FILE...");
  return kExitUsage;
}

/// Times as long as the runs that were given: nobody makes longer ones.
constexpr double kLongest = 1000;

class Plan {
 public:
  Plan(RunDeviations deviations, const Arguments& arguments, size_t runs)
      : rows_(std::move(deviations.rows)),
        family_(deviations.family),
        event_(escaped(deviations.event)),
        arguments_(arguments),
        runs_(runs) {
    changes_.assign(std::begin(kUsualChanges), std::end(kUsualChanges));
    if (arguments.change > 0) changes_ = {arguments.change};
  }

  [[nodiscard]] std::string text() const {
    return table("runs a side to see that change of",
                 [](const RowDeviation& row, const PlannedChange& change) {
                   const size_t runs = runs_needed(row, change);
                   return runs == 0 ? "-" : std::to_string(runs);
                 }) +
           "\n" +
           table(fmt::format("or {} a run, of {} a side", event_.empty() ? "ms" : event_,
                             runs_ == 1 ? "one run" : fmt::format("{} runs", runs_)),
                 [this](const RowDeviation& row, const PlannedChange& change) {
                   const double length = length_needed(row, change, runs_);
                   if (length <= 0 || length > kLongest) return std::string("-");
                   return row.sampled ? fmt::format("{:.0f}", std::max(1.0, length * rows_[0].amount))
                                      : "any";
                 });
  }

  /// What one recording a side cannot show.
  [[nodiscard]] std::string limit_of_one() const {
    return fmt::format(
        "One run a side, however long, shows changes from {:.0f} % on: runs are then assumed to deviate by "
        "{:.0f} %.\n",
        100 * smallest_of_one_run(planned(0, Judged::kRow)), kBetweenRuns * 100);
  }

 private:
  [[nodiscard]] PlannedChange planned(double percent, Judged judged) const {
    return {.relative = percent / 100, .level = family_.level_of(judged), .power = arguments_.power / 100};
  }

  using Line = std::vector<std::string>;  ///< figures, and the name

  [[nodiscard]] std::string table(const std::string& title, const auto& cell) const {
    Line head = {event_.empty() ? "ms a run" : "a run", "dev %"};
    for (double change : changes_) head.push_back(fmt::format("{:g} %", change));
    head.push_back(title);
    std::vector<Line> lines = {std::move(head)};
    const size_t limit = arguments_.limit;
    const size_t shown = limit == 0 ? rows_.size() : std::min(rows_.size(), limit + 1);
    for (size_t i = 0; i < shown; ++i)
      lines.push_back(line(rows_[i], i == 0 ? Judged::kWhole : Judged::kRow, cell));
    return aligned(lines);
  }

  [[nodiscard]] Line line(const RowDeviation& row, Judged judged, const auto& cell) const {
    const NameStyle names = name_style_of(arguments_.names);
    Line figures = {fmt::format("{:.1f}", row.amount),
                    fmt::format("{:.1f}", row.amount > 0 ? 100 * row.deviation / row.amount : 0.0)};
    for (double change : changes_) figures.push_back(cell(row, planned(change, judged)));
    figures.push_back(elided_name(escaped(shown_name(names, row.short_name, row.name, row.linkage)), 60));
    return figures;
  }

  /// The name stands last, and is not aligned.
  static std::string aligned(const std::vector<Line>& lines) {
    std::vector<size_t> widths(lines[0].size() - 1, 8);
    widths[0] = 10, widths[1] = 6;
    for (const Line& line : lines)
      for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
    std::string out;
    for (const Line& line : lines) {
      for (size_t i = 0; i < widths.size(); ++i)
        out += fmt::format("{}{:>{}}", i == 0 ? "" : " ", line[i], widths[i]);
      out += "  " + line.back() + "\n";
    }
    return out;
  }

  std::vector<RowDeviation> rows_;
  Family family_;
  std::string event_;  ///< empty: CPU time
  const Arguments& arguments_;
  size_t runs_;
  std::vector<double> changes_;
};

}  // namespace

int run_plan(int argc, char** argv) {
  let_writes_fail();
  Arguments arguments;
  if (std::optional<int> code = parse(argc, argv, &arguments)) return *code;
  const ProgressLine progress;
  std::vector<Profile> runs;
  if (!SeparateRuns().load(arguments.files, &runs)) return kExitInput;
  if (auto code = refuse_without_scopes(runs, arguments.files, grouping_of(arguments.by))) return *code;
  auto deviations =
      run_deviations(runs, &open_symbolizer, {.by = grouping_of(arguments.by), .files = arguments.files});
  if (!deviations) {
    complain("{}", deviations.error().text);
    return kExitUsage;
  }
  for (const std::string& doubt : first_texts(deviations->doubts)) warn("{}", doubt);
  if (!deviations->blind_to_kernel.empty())
    warn("user code alone is planned for: {} does not see all kernel code", deviations->blind_to_kernel);
  const size_t a_side = arguments.runs != 0 ? arguments.runs : std::max(runs.size(), kFewestRuns);
  const Plan plan(std::move(*deviations), arguments, a_side);
  std::string out = plan.text();
  size_t added = 0;
  for (const Profile& run : runs) added += run.runs.size();
  if (added > 0)
    out += fmt::format(
        "\n{} runs are added up in their files: how rows vary between them is not known; give the runs' "
        "files.",
        added);
  out += runs.size() == 1 && added > 0
             ? fmt::format("\nA run-to-run deviation of {:.0f} % is assumed.\n", kBetweenRuns * 100)
         : runs.size() == 1
             ? fmt::format(
                   "\nOne run: a run-to-run deviation of {:.0f} % is assumed; several runs measure it.\n",
                   kBetweenRuns * 100)
             : fmt::format("\nDeviations are those of the {} runs.\n", runs.size());
  out += plan.limit_of_one();
  const int failed =
      write_out(out + fmt::format("The change is seen {:g} times in 100, all rows being compared at once.\n",
                                  arguments.power));
  const bool damaged = std::ranges::any_of(runs, [](const Profile& run) { return !run.damage.empty(); });
  return failed == 0 && damaged ? kExitInput : failed;
}

}  // namespace pctally
