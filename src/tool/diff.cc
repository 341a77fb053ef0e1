// pctally diff: what changed between two profiles, or two sides of several runs, and how sure that is.
#include <errno.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "object/symbolizer.h"
#include "profile/merge.h"
#include "report/diff/budget.h"
#include "report/diff/output.h"
#include "report/print/figures.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/foreign_options.h"
#include "tool/html_page.h"
#include "tool/load_profiles.h"
#include "tool/scope_options.h"
#include "tool/terminal/message.h"
#include "tool/terminal/progress_line.h"

namespace pctally {
namespace {

constexpr int kExitChanged = 1;    ///< a limit is exceeded
constexpr int kExitUndecided = 3;  ///< the profiles do not decide it

constexpr char kHelp[] = R"(Compare profiles: what changed, by how much, and how sure that is.

  pctally diff old.pct new.pct
  pctally diff old1.pct old2.pct -- new1.pct new2.pct   several runs a side
  pctally diff --fail-if 'seconds(parse) > +10%' old.pct new.pct

Rows      --by KEY             function (default), object, line, process,
                               command or program
          --limit N            rows (20; 0: all); those that changed are always shown
          --names STYLE        short (default), full or linkage
          --work N or OLD,NEW  units of work a run does: amounts are per unit
          --sample-index KIND  of pprof files: which of their values (inuse_space, delay)
Limits    --fail-if LIMIT      'share(NAME) > +2pp', 'seconds(NAME) > +10%', 'total > +3%'
                               'total(NAME) > +5%' (with all it calls); may repeat
          --budget FILE        limits from a file, one a line
Output    --markdown, --json, --junit   for a pull request; one object; the limits as XML
          --html FILE          a page for a browser: the comparison and the new profile
          --no-sources, --strip-paths   the page without source lines, without directories
          --color WHEN         auto (default), always or never; NO_COLOR is honoured

Exit: 0; 1 a limit is exceeded; 2 usage; 3 a limit is undecided; 4 a file cannot be read.
)";

struct Arguments {
  std::vector<std::string> before, after;
  std::string by = "function";
  size_t limit = 20;
  std::string work = "1";
  std::vector<std::string> fail_if;
  std::string budget;
  bool markdown = false, json = false, junit = false;
  std::string html;
  bool no_sources = false, strip_paths = false;
  std::string names = "short";
  std::string color = "auto";
};

struct Work {
  double before = 0, after = 0;
};

/// "N" of both sides, or "OLD,NEW"; 0 where it is no number.
Work work_of(const std::string& text) {
  char* end = nullptr;
  Work work;
  work.before = work.after = strtod(text.c_str(), &end);
  if (*end == ',') work.after = strtod(end + 1, &end);
  constexpr double kMost = 1e15;  // the squares of what is divided by it are numbers, too
  const auto is_amount = [](double value) { return value >= 1 / kMost && value <= kMost; };
  return *end == 0 && is_amount(work.before) && is_amount(work.after) ? work : Work{};
}

std::string is_work(const std::string& text) {
  return work_of(text).before > 0 ? "" : text + ": not a number from 1e-15 to 1e15, or two: OLD,NEW";
}

void describe_options(OptionParser& app, Arguments& arguments) {
  add_by_option(app, arguments.by);
  app.add_option("--limit", arguments.limit)->check(number_of_rows);
  add_names_option(app, arguments.names);
  app.add_option("--sample-index", wanted_values());
  app.add_option("--work", arguments.work)->check(is_work);
  app.add_option("--fail-if", arguments.fail_if)->one_value_each();
  app.add_option("--budget", arguments.budget);
  Option* markdown = app.add_flag("--markdown", arguments.markdown);
  Option* json = app.add_flag("--json", arguments.json)->excludes(markdown);
  app.add_flag("--junit", arguments.junit)->excludes(markdown)->excludes(json);
  app.add_option("--html", arguments.html)->check(is_page);
  app.add_flag("--no-sources", arguments.no_sources);
  app.add_flag("--strip-paths", arguments.strip_paths);
  app.add_option("--color", arguments.color)->check(one_of({"auto", "always", "never"}));
}

/// What an option lacks to change anything; null: nothing.
const char* idle_option(const Arguments& arguments) {
  if (arguments.html.empty() && arguments.no_sources)
    return "--no-sources is for a page; write diff --html FILE --no-sources";
  if (arguments.html.empty() && arguments.strip_paths)
    return "--strip-paths is for a page; write diff --html FILE --strip-paths";
  if (arguments.junit && arguments.fail_if.empty() && arguments.budget.empty())
    return "--junit prints limits, and there are none; add --fail-if LIMIT or --budget FILE";
  return nullptr;
}

/// An exit code if the command line ends here. Files stand before and after a lone "--", or there are two.
std::optional<int> parse(int argc, char** argv, Arguments* arguments) {
  OptionParser app("pctally diff");
  app.help_page(kHelp);
  describe_options(app, *arguments);
  std::vector<std::string> files;
  app.add_option("FILE", files);
  const CommandLineHints hints{.surplus = {}, .unknown = foreign_options("diff"), .missing = {}};
  char** divide = std::find(argv, argv + argc, std::string("--"));
  if (std::optional<int> code = app.parse(static_cast<int>(divide - argv), argv, hints)) return code;
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
  if (const char* idle = idle_option(*arguments); idle != nullptr) {
    complain("{}", idle);
    return kExitUsage;
  }
  if (!arguments->before.empty() && !arguments->after.empty()) return std::nullopt;
  complain("two profiles are compared: pctally diff OLD NEW, or pctally diff OLD... -- NEW...");
  return kExitUsage;
}

/// An exit code if a limit is wrong or the file cannot be read.
std::optional<int> read_limits(const Arguments& arguments, std::vector<Limit>* limits) {
  if (!arguments.budget.empty()) {
    auto budget = read_budget(arguments.budget);
    if (!budget) {
      complain("{}", budget.error().text);
      return budget.error().code == EINVAL ? kExitUsage : kExitInput;
    }
    *limits = std::move(*budget);
  }
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

/// "about 12 runs a side would decide it, 11 s of CPU time each side"
std::string way_to_decide(const Diff& diff, const std::vector<LimitResult>& results) {
  if (std::ranges::any_of(results, &LimitResult::nameless)) return "see the warnings above";
  const auto has_other_name = [](const LimitResult& result) { return !result.other_name.empty(); };
  if (std::ranges::any_of(results, has_other_name)) return "a side has the function under another name";
  if (std::ranges::any_of(results, &LimitResult::in_doubt))
    return "call paths that are not known may decide it; pctally report says why";
  size_t runs = 0;
  for (const LimitResult& result : results) runs = std::max(runs, result.runs_needed);
  if (runs == 0) return "record more runs a side; pctally plan says how many";
  const double run_ms =
      std::max(diff.total.amount.before * diff.work, diff.total.amount.after * diff.new_work);
  if (!diff.counts_cpu_time()) return fmt::format("about {} runs a side would decide it", runs);
  return fmt::format("about {} runs a side would decide it, {} s of CPU time each side", runs,
                     rounded(run_ms * static_cast<double>(runs) / 1000, 2));
}

/// Names the damaged ones. Whether there are any.
bool name_damaged(const std::vector<Profile>& profiles, const std::vector<std::string>& files) {
  bool damaged = false;
  for (size_t i = 0; i < profiles.size(); ++i) {
    name_damage(profiles[i], files[i]);
    damaged = damaged || !profiles[i].damage.empty();
  }
  return damaged;
}

int exit_status(const Diff& diff, const std::vector<LimitResult>& results, bool damaged) {
  auto count = [&](LimitResult::Outcome outcome) {
    return std::count_if(results.begin(), results.end(),
                         [outcome](const LimitResult& result) { return result.outcome == outcome; });
  };
  if (auto failed = count(LimitResult::Outcome::kFail); failed != 0) {
    complain("{} exceeded (exit 1)", counted(failed, "limit"));
    return kExitChanged;
  }
  const int otherwise = damaged ? kExitInput : kExitUndecided;
  if (auto open = count(LimitResult::Outcome::kUndecided); open != 0) {
    for (const std::string& doubt : first_texts(diff.doubts)) warn("{}", doubt);
    complain("{} undecided: {} (exit {})", counted(open, "limit"), way_to_decide(diff, results), otherwise);
    return otherwise;
  }
  if (!results.empty() && diff.is_in_doubt()) {
    for (const std::string& doubt : first_texts(diff.doubts)) warn("{}", doubt);
    complain("no limit is exceeded, but these profiles cannot be relied on (exit {})", otherwise);
    return otherwise;
  }
  return damaged ? kExitInput : 0;
}

std::string render(const Diff& diff, const std::vector<LimitResult>& results, const Arguments& arguments) {
  if (arguments.json) return diff_json(diff, results);
  if (arguments.junit) return diff_junit(diff, results);
  if (arguments.markdown) return diff_markdown(diff, results, arguments.limit);
  bool color = wants_color(arguments.color);
  std::string text = diff_text(diff, {.color = color, .width = terminal_width(), .limit = arguments.limit});
  if (!results.empty()) text += "\n" + limits_text(results, color);
  return in_locale(std::move(text));
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
int write_html(const Diff& diff, const std::vector<LimitResult>& results, std::vector<Profile> runs,
               const Arguments& arguments) {
  const Profile after = sum_of(std::move(runs), arguments.after);
  const HtmlOptions options{.names = diff.names,
                            .view = "compare",
                            .sources = !arguments.no_sources && !has_imported(after),
                            .strip_paths = arguments.strip_paths,
                            .kept_sources = &kept_source,
                            .diff = &diff,
                            .limits = results};
  return write_page(arguments.html, html_report(after, &open_symbolizer, options), options);
}

int compare(const Arguments& arguments) {
  std::vector<Limit> limits;
  if (std::optional<int> code = read_limits(arguments, &limits)) return *code;
  std::vector<Profile> before, after;
  SeparateRuns runs;
  if (!runs.load(arguments.before, &before) || !runs.load(arguments.after, &after)) return kExitInput;
  if (auto code = refuse_without_scopes(before, arguments.before, grouping_of(arguments.by))) return *code;
  if (auto code = refuse_without_scopes(after, arguments.after, grouping_of(arguments.by))) return *code;
  const Work work = work_of(arguments.work);
  std::vector<std::string> files = arguments.before;
  files.insert(files.end(), arguments.after.begin(), arguments.after.end());
  auto diff = make_diff(before, after, &open_symbolizer,
                        {.by = grouping_of(arguments.by),
                         .work = work.before,
                         .new_work = work.after,
                         .names = name_style_of(arguments.names),
                         .files = files});
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
  const bool old_damaged = name_damaged(before, arguments.before),
             new_damaged = name_damaged(after, arguments.after);
  if (int failed = write_out(render(*diff, results, arguments)); failed != 0) return failed;
  if (!arguments.html.empty())
    if (int failed = write_html(*diff, results, std::move(after), arguments); failed != 0) return failed;
  return exit_status(*diff, results, old_damaged || new_damaged);
}

}  // namespace

int run_diff(int argc, char** argv) {
  let_writes_fail();
  Arguments arguments;
  if (std::optional<int> code = parse(argc, argv, &arguments)) return *code;
  const ProgressLine progress;
  return compare(arguments);
}

}  // namespace pctally
