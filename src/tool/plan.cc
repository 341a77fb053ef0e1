// pctally plan: how many runs show a difference of a given size.
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
#include "tool/message.h"

namespace pctally {
namespace {

constexpr double kUsualChanges[] = {5, 10, 20};  ///< percent

struct Arguments {
  std::vector<std::string> files;
  std::string by = "function";
  size_t limit = 10;
  double change = 0;  ///< percent; 0: the usual ones
  std::string names = "short";
};

std::optional<int> parse(int argc, char** argv, Arguments* arguments) {
  OptionParser app("pctally plan", "Says how many runs a side pctally diff needs to see a change.");
  app.footer("Exit status: 0; 2 wrong usage; 4 a file cannot be read. See pctally-diff(1).");
  app.add_option("FILE", arguments->files, "Profiles of runs of one program; several show how runs vary")
      ->required()
      ->option_text(" ");
  app.add_option("--change", arguments->change, "The change to be seen, in percent (default: 5, 10 and 20)")
      ->check(number_from_to(0.01, 1000.0))
      ->option_text("P");
  app.add_option("--by", arguments->by, "One row per function (default), object, line or process")
      ->check(one_of({"function", "object", "line", "process"}))
      ->option_text("WHAT");
  add_names_option(app, arguments->names);
  app.add_option("--limit", arguments->limit, "Most rows to show, 0 for all (default 10)")->option_text("N");
  return app.parse(argc, argv);
}

std::string runs_text(size_t runs) { return runs == 0 ? "-" : std::to_string(runs); }

std::string table(const std::vector<RowDeviation>& rows, const std::vector<double>& changes, size_t limit,
                  NameStyle names) {
  std::string out = fmt::format("{:>10} {:>6}", "ms a run", "dev %");
  for (double change : changes) out += fmt::format(" {:>8}", fmt::format("{:g} %", change));
  out += "  runs a side to see that change of\n";
  size_t shown = limit == 0 ? rows.size() : std::min(rows.size(), limit + 1);
  for (size_t i = 0; i < shown; ++i) {
    const RowDeviation& row = rows[i];
    out += fmt::format("{:>10.1f} {:>6.1f}", row.amount,
                       row.amount > 0 ? 100 * row.deviation / row.amount : 0.0);
    for (double change : changes)
      out += fmt::format(" {:>8}", runs_text(runs_needed(row, change / 100, rows.size())));
    out += fmt::format("  {}\n",
                       elided_name(escaped(shown_name(names, row.short_name, row.name, row.linkage)), 60));
  }
  return out;
}

}  // namespace

int run_plan(int argc, char** argv) {
  let_writes_fail();
  Arguments arguments;
  if (std::optional<int> code = parse(argc, argv, &arguments)) return *code;
  std::vector<Profile> runs;
  if (!load_profiles(arguments.files, &runs)) return kExitInput;
  auto rows = run_deviations(runs, &open_symbolizer, {.by = grouping_of(arguments.by)});
  if (!rows) {
    complain("{}", rows.error().text);
    return kExitUsage;
  }
  std::vector<double> changes(std::begin(kUsualChanges), std::end(kUsualChanges));
  if (arguments.change > 0) changes = {arguments.change};
  std::string out = table(*rows, changes, arguments.limit, name_style_of(arguments.names));
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
  return write_out(out + "The change is seen four times in five, all rows being compared at once.\n");
}

}  // namespace pctally
