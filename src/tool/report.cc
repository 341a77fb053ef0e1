// pctally report: a profile file as a table, or as JSON.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "object/symbolizer.h"
#include "profile/load.h"
#include "report/json.h"
#include "report/rollup.h"
#include "report/text.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/message.h"

namespace pctally {
namespace {

constexpr uint64_t kUsualLimit = 30;

struct Arguments {
  std::string file;
  std::string by = "function";
  std::string sort = "ticks";
  std::optional<uint64_t> limit;
  double min_share_percent = 0;
  bool json = false;
  std::string color = "auto";
};

std::string is_number(const std::string& text) {
  bool digits =
      !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? "" : text + " is not a number of rows";
}

/// An option that takes one of a few words.
void add_choice(CLI::App& app, const char* name, std::string& value, std::vector<std::string> words,
                const char* text, const char* placeholder) {
  app.add_option(name, value, text)
      ->check(CLI::IsMember(std::move(words)).description(""))
      ->option_text(placeholder);
}

void describe_options(CLI::App& app, Arguments& arguments) {
  app.add_option("FILE", arguments.file, "Profile to read; without it the newest *.pct here")
      ->option_text(" ");
  add_choice(app, "--by", arguments.by, {"function", "object", "line", "process"},
             "One row per function (default), object, line or process", "WHAT");
  add_choice(app, "--sort", arguments.sort, {"ticks", "name", "object"},
             "Order of the rows: ticks (default), name or object", "KEY");
  app.add_option("--limit", arguments.limit, "Most rows to show, 0 for all (default 30, with --json all)")
      ->check(is_number)
      ->option_text("N");
  app.add_option("--min-share", arguments.min_share_percent, "Leave out rows below P percent")
      ->check(CLI::Range(0.0, 100.0).description(""))
      ->option_text("P");
  app.add_flag("--json", arguments.json, "Print one JSON object (docs/report.schema.json)");
  add_choice(app, "--color", arguments.color, {"auto", "always", "never"},
             "auto (default), always or never; NO_COLOR is honoured", "WHEN");
}

/// An exit code if the command line ends here: help was asked for, or it is wrong.
std::optional<int> parse(int argc, char** argv, Arguments* arguments) {
  CLI::App app("Shows where the CPU time of a recorded program went.", "pctally report");
  app.footer("Exit status: 0; 2 wrong usage; 4 FILE cannot be read; 125 the report cannot be written.");
  describe_options(app, *arguments);
  return parse_command_line(app, argc, argv);
}

/// The newest *.pct file of the current directory; of two equally new ones the first by name. Empty if there
/// is none.
std::string newest_profile() {
  namespace fs = std::filesystem;
  std::string newest;
  fs::file_time_type newest_time;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(".", error)) {
    if (entry.path().extension() != ".pct" || !entry.is_regular_file(error)) continue;
    fs::file_time_type time = entry.last_write_time(error);
    std::string name = entry.path().filename();
    if (error || (!newest.empty() && (time < newest_time || (time == newest_time && name > newest))))
      continue;
    newest = name;
    newest_time = time;
  }
  return newest;
}

RowOrder row_order(const std::string& word) {
  if (word == "name") return RowOrder::kName;
  return word == "object" ? RowOrder::kObject : RowOrder::kTicks;
}

std::string render(const Profile& profile, const Arguments& arguments) {
  ReportOptions options{.by = grouping_of(arguments.by),
                        .order = row_order(arguments.sort),
                        .limit = arguments.limit.value_or(arguments.json ? 0 : kUsualLimit),
                        .min_share = arguments.min_share_percent / 100};
  Report report = make_report(profile, &Symbolizer::open, options);
  if (arguments.json) return json_report(profile, report);
  return text_report(profile, report, {.color = wants_color(arguments.color), .width = terminal_width()});
}

int report(Arguments& arguments) {
  if (arguments.file.empty()) {
    arguments.file = newest_profile();
    if (arguments.file.empty()) {
      complain("no *.pct file in this directory; name one, or make one with: pctally record -- COMMAND");
      return kExitInput;
    }
    inform("reading {}", arguments.file);
  }
  Result<Profile> profile = load_profile(arguments.file.c_str());
  if (!profile) {
    complain("{}", profile.error().text);
    return kExitInput;
  }
  return write_out(render(*profile, arguments));
}

}  // namespace

int run_report(int argc, char** argv) {
  let_writes_fail();
  Arguments arguments;
  if (std::optional<int> code = parse(argc, argv, &arguments)) return *code;
  return report(arguments);
}

}  // namespace pctally
