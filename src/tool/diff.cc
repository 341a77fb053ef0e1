// pctally diff: what changed between two profiles, or two sides of several runs, and how sure that is.
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "object/symbolizer.h"
#include "profile/merge.h"
#include "report/diff/output.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/html_page.h"
#include "tool/load_profiles.h"
#include "tool/message.h"

namespace pctally {
namespace {

constexpr int kExitChanged = 1;    ///< a limit is exceeded
constexpr int kExitUndecided = 3;  ///< the profiles do not decide it

struct Arguments {
  std::vector<std::string> before, after;
  std::string by = "function";
  size_t limit = 20;
  double work = 1;
  std::vector<std::string> fail_if;
  std::string budget;
  bool markdown = false, json = false, junit = false;
  std::string html;
  bool no_sources = false, strip_paths = false;
  std::string names = "short";
  std::string color = "auto";
};

std::string is_positive(const std::string& text) {
  char* end = nullptr;
  const double value = strtod(text.c_str(), &end);
  return end != text.c_str() && *end == 0 && value > 0 ? "" : text + ": not a number above 0";
}

void describe_options(OptionParser& app, Arguments& arguments) {
  app.add_option("--by", arguments.by, "One row per function (default), object, line or process")
      ->check(one_of({"function", "object", "line", "process"}))
      ->option_text("WHAT");
  app.add_option("--limit", arguments.limit, "Most rows to show, 0 for all (default 20)")->option_text("N");
  add_names_option(app, arguments.names);
  app.add_option("--work", arguments.work, "Units of work a run does: amounts are per unit")
      ->check(is_positive)
      ->option_text("N");
  app.add_option("--fail-if", arguments.fail_if,
                 "A limit: 'share(NAME) > +2pp', 'seconds(NAME) > +10%', 'total > +3%'; may repeat")
      ->option_text("LIMIT")
      ->one_value_each();
  app.add_option("--budget", arguments.budget, "A file of limits, one a line")->option_text("FILE");
  Option* markdown = app.add_flag("--markdown", arguments.markdown, "Print Markdown for a pull request");
  Option* json = app.add_flag("--json", arguments.json, "Print one JSON object")->excludes(markdown);
  app.add_flag("--junit", arguments.junit, "Print the limits as JUnit XML")
      ->excludes(markdown)
      ->excludes(json);
  app.add_option("--html", arguments.html,
                 "Also write a page for a browser: the comparison and the new profile")
      ->check(is_page)
      ->option_text("FILE");
  app.add_flag("--no-sources", arguments.no_sources, "Put no lines of source files into the page");
  app.add_flag("--strip-paths", arguments.strip_paths, "Put no directories into the page");
  app.add_option("--color", arguments.color, "auto (default), always or never; NO_COLOR is honoured")
      ->check(one_of({"auto", "always", "never"}))
      ->option_text("WHEN");
}

/// An exit code if the command line ends here. Files stand before and after a lone "--", or there are two.
std::optional<int> parse(int argc, char** argv, Arguments* arguments) {
  OptionParser app("pctally diff", "Compares profiles: what changed, by how much, and how sure that is.");
  app.footer(
      "Usage: pctally diff [OPTIONS] OLD NEW, or pctally diff [OPTIONS] OLD... -- NEW...\n"
      "Exit status: 0; with limits: 1 one is exceeded, 3 the profiles do not decide one;\n"
      "2 wrong usage; 4 a file cannot be read. See pctally-diff(1).");
  describe_options(app, *arguments);
  std::vector<std::string> files;
  app.add_option("FILE", files, "Profiles")->option_text(" ");
  char** divide = std::find(argv, argv + argc, std::string("--"));
  if (std::optional<int> code = app.parse(static_cast<int>(divide - argv), argv)) return code;
  arguments->before = files;
  if (divide != argv + argc) {
    arguments->after.assign(divide + 1, argv + argc);
    for (const std::string& word : arguments->after) {
      if (!word.starts_with("-")) continue;
      complain("{} stands behind '--': options come first, then OLD... -- NEW...", word);
      return kExitUsage;
    }
  } else if (files.size() == 2) {
    arguments->before = {files[0]};
    arguments->after = {files[1]};
  }
  if (!arguments->before.empty() && !arguments->after.empty()) return std::nullopt;
  complain("two profiles are compared: pctally diff OLD NEW, or pctally diff OLD... -- NEW...");
  return kExitUsage;
}

/// An exit code if a limit is wrong or the file cannot be read.
std::optional<int> read_limits(const Arguments& arguments, std::vector<Limit>* limits) {
  std::string lines;
  if (!arguments.budget.empty()) {
    std::ifstream file(arguments.budget);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf())) {
      complain("{}: cannot be read", arguments.budget);
      return kExitInput;
    }
    lines = text.str();
  }
  auto parsed = parse_limits(lines);
  if (!parsed) {
    complain("{}: {}", arguments.budget, parsed.error().text);
    return kExitUsage;
  }
  *limits = std::move(*parsed);
  for (const std::string& text : arguments.fail_if) {
    auto limit = parse_limit(text);
    if (!limit) {
      complain("{}", limit.error().text);
      return kExitUsage;
    }
    limits->push_back(std::move(*limit));
  }
  return std::nullopt;
}

int exit_status(const Diff& diff, const std::vector<LimitResult>& results) {
  auto count = [&](LimitResult::Outcome outcome) {
    return std::count_if(results.begin(), results.end(),
                         [outcome](const LimitResult& result) { return result.outcome == outcome; });
  };
  if (auto failed = count(LimitResult::Outcome::kFail); failed != 0) {
    complain("{} limit{} exceeded (exit 1)", failed, failed == 1 ? "" : "s");
    return kExitChanged;
  }
  if (auto open = count(LimitResult::Outcome::kUndecided); open != 0) {
    complain("{} limit{} undecided: record more runs a side (exit 3)", open, open == 1 ? "" : "s");
    return kExitUndecided;
  }
  if (!results.empty() && !diff.doubts.empty()) {
    complain("no limit is exceeded, but a profile cannot be relied on: {} (exit 3)", diff.doubts[0]);
    return kExitUndecided;
  }
  return 0;
}

std::string render(const Diff& diff, const std::vector<LimitResult>& results, const Arguments& arguments) {
  if (arguments.json) return diff_json(diff, results);
  if (arguments.junit) return diff_junit(diff, results);
  if (arguments.markdown) return diff_markdown(diff, results, arguments.limit);
  bool color = wants_color(arguments.color);
  std::string text = diff_text(diff, {.color = color, .width = terminal_width(), .limit = arguments.limit});
  return results.empty() ? text : text + "\n" + limits_text(results, color);
}

/// Several runs added up; the first alone where they cannot be.
Profile sum_of(std::vector<Profile> runs, const std::vector<std::string>& files) {
  if (runs.size() == 1) return std::move(runs[0]);
  Merger merger;
  for (size_t i = 0; i < runs.size(); ++i) {
    Result<void> added = merger.add(runs[i], files[i]);
    if (added) continue;
    inform("the page shows {} alone beside the comparison: {}", files[0], added.error().text);
    return std::move(runs[0]);
  }
  return merger.take();
}

/// The comparison, and the new profiles. The exit code.
int write_html(const Diff& diff, std::vector<Profile> runs, const Arguments& arguments) {
  const Profile after = sum_of(std::move(runs), arguments.after);
  const HtmlOptions options{.names = diff.names,
                            .view = "compare",
                            .sources = !arguments.no_sources && !has_imported(after),
                            .strip_paths = arguments.strip_paths,
                            .kept_sources = &kept_source,
                            .diff = &diff};
  return write_page(arguments.html, html_report(after, &open_symbolizer, options), options);
}

int compare(const Arguments& arguments) {
  std::vector<Limit> limits;
  if (std::optional<int> code = read_limits(arguments, &limits)) return *code;
  std::vector<Profile> before, after;
  if (!load_profiles(arguments.before, &before) || !load_profiles(arguments.after, &after)) return kExitInput;
  auto diff = make_diff(
      before, after, &open_symbolizer,
      {.by = grouping_of(arguments.by), .work = arguments.work, .names = name_style_of(arguments.names)});
  if (!diff) {
    complain("{}", diff.error().text);
    return kExitUsage;
  }
  std::vector<LimitResult> results;
  for (const Limit& limit : limits) {
    auto result = check_limit(*diff, limit);
    if (!result) {
      complain("{}", result.error().text);
      return kExitUsage;
    }
    results.push_back(std::move(*result));
  }
  if (int failed = write_out(render(*diff, results, arguments)); failed != 0) return failed;
  if (!arguments.html.empty())
    if (int failed = write_html(*diff, std::move(after), arguments); failed != 0) return failed;
  return exit_status(*diff, results);
}

}  // namespace

int run_diff(int argc, char** argv) {
  let_writes_fail();
  Arguments arguments;
  if (std::optional<int> code = parse(argc, argv, &arguments)) return *code;
  return compare(arguments);
}

}  // namespace pctally
