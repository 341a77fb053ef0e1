// pctally report: a profile file as a table, or as JSON.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "object/symbolizer.h"
#include "profile/command.h"
#include "report/account/path_account.h"
#include "report/account/warning_lines.h"
#include "report/annotate/source_files.h"
#include "report/html/parts.h"
#include "report/json.h"
#include "report/names/short_name.h"
#include "report/path_choice.h"
#include "report/paths/call_tree.h"
#include "report/paths/callers.h"
#include "report/paths/flame_svg.h"
#include "report/print/escape.h"
#include "report/rollup.h"
#include "report/text.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/debuginfod_option.h"
#include "tool/foreign_options.h"
#include "tool/html_page.h"
#include "tool/load_profiles.h"
#include "tool/newest_profile.h"
#include "tool/scope_options.h"
#include "tool/terminal/message.h"
#include "tool/terminal/progress_line.h"
#include "tool/terminal/suggest.h"

namespace pctally {
namespace {

constexpr uint64_t kUsualLimit = 30;
constexpr char kOwn[] = "true";  ///< what the parser makes of a bare --own

constexpr char kHelp[] =
    R"(Print where the CPU time of a profile went.

  pctally report                        the newest *.pct here, by function
  pctally report --by line work.pct     by source line
  pctally report a.pct b.pct c.pct      several runs, added up
  pctally report --callers malloc       who calls it (profiles of record -g)

Rows      --by KEY             function (default), object, line, process, program, thread,
                               cgroup (record --scope); command: all processes of a name
          --sort KEY           ticks (default), total, name or object
          --limit N, --min-share P   most rows (30; --json, 0: all); none below P %
          --own[=DIR], --inlines   with --by line: your innermost line; inlined chains
          --filter, --object REGEX   only rows whose names, or whose objects, match
          --program, --thread, --cgroup REGEX   only their ticks (record --scope)
          --names STYLE        short (default), full (arguments, templates), linkage
          --debuginfod[=URLS], --sample-index KIND   from servers; which values (pprof)
Paths     --callers FUNCTION   its callers, with the lines of the calls, and its callees
          --tree, --bottom-up  tree from main down; from what ran up; --min-share P (1)
          --flamegraph FILE    the tree as a page (.html) or as a picture (.svg)
          --focus, --ignore REGEX   keep, or drop, paths through functions that match
          --hide REGEX         hide the functions; their ticks go to their callers
Output    --html FILE          one page for a browser that needs no network
          --command, --no-sources, --strip-paths   with command line; no sources or paths
          --json, --color WHEN   one object (docs/report.schema.json); auto, always, never

Exit: 0; 2 usage; 4 the profile cannot be read, or is damaged; 125 the output failed.
)";

struct Arguments {
  std::vector<std::string> files;
  std::string by = "function";
  std::string sort = "ticks";
  std::optional<uint64_t> limit;
  std::optional<double> min_share_percent;
  bool json = false;
  std::string callers;
  bool tree = false;
  bool bottom_up = false;
  std::string flame_graph;
  std::string names = "short";
  std::string filter, object;
  ScopeOptions scopes;
  std::string focus, ignore, hide;
  std::string own;  ///< kOwn: without a directory
  bool inlines = false;
  std::string color = "auto", debuginfod, html;
  bool command = false, no_sources = false, strip_paths = false;
};

constexpr double kUsualTreeShare = 1;  ///< percent
constexpr size_t kMostListed = 3;      ///< of functions that a name may mean

std::string is_function(const std::string& text) {
  return text.empty() ? "'' is no function; pctally report --sort total lists them" : "";
}

/// perf's --sort chooses the rows.
std::string is_order(const std::string& text) {
  const std::string rows = own_word(text.substr(0, text.find(',')));
  if (!rows.empty() && check_grouping(rows).empty())
    return fmt::format("{}: --sort is the order of the rows; what a row is says --by: write --by {}", text,
                       rows);
  return one_of({"ticks", "total", "name", "object"})(text);
}

bool is_picture(const std::string& path) { return path.ends_with(".svg"); }

std::string is_page_or_picture(const std::string& path) {
  if (path.ends_with(".html") || is_picture(path)) return "";
  return path + ": a flame graph is a page or a picture; name a file that ends in .html or .svg";
}

void describe_options(OptionParser& app, Arguments& arguments) {
  app.help_page(kHelp);
  app.add_option("FILE", arguments.files);
  app.add_option("--by", arguments.by)->check(check_grouping);
  app.add_option("--sort", arguments.sort)->check(is_order);
  app.add_option("--limit", arguments.limit)->check(number_of_rows);
  app.add_option("--min-share", arguments.min_share_percent)->check(number_from_to(0, 100));
  add_names_option(app, arguments.names);
  add_debuginfod_option(app, arguments.debuginfod);
  app.add_option("--sample-index", wanted_values());
  app.add_flag("--own", arguments.own);
  app.add_flag("--inlines", arguments.inlines);
  app.add_option("--filter", arguments.filter)->check(check_pattern);
  app.add_option("--object", arguments.object)->check(check_pattern);
  describe_scope_options(app, arguments.scopes);
  app.add_option("--focus", arguments.focus)->check(check_pattern);
  app.add_option("--ignore", arguments.ignore)->check(check_pattern);
  app.add_option("--hide", arguments.hide)->check(check_pattern);
  app.add_flag("--json", arguments.json);
  app.add_option("--callers", arguments.callers)->check(is_function);
  app.add_flag("--tree", arguments.tree);
  app.add_flag("--bottom-up", arguments.bottom_up);
  app.add_option("--flamegraph", arguments.flame_graph)->check(is_page_or_picture);
  app.add_option("--html", arguments.html)->check(is_page);
  app.add_flag("--command", arguments.command);
  app.add_flag("--no-sources", arguments.no_sources);
  app.add_flag("--strip-paths", arguments.strip_paths);
  app.add_option("--color", arguments.color)->check(one_of({"auto", "always", "never"}));
}

/// An exit code if the command line ends here: help was asked for, or it is wrong.
std::optional<int> parse(int argc, char** argv, Arguments* arguments) {
  OptionParser app("pctally report");
  describe_options(app, *arguments);
  const CommandLineHints hints{.surplus = {}, .unknown = foreign_options("report"), .missing = {}};
  if (auto code = app.parse(argc, argv, hints)) return code;
  arguments->tree = arguments->tree || (arguments->bottom_up && arguments->flame_graph.empty());
  const int views = (arguments->callers.empty() ? 0 : 1) + (arguments->tree ? 1 : 0) +
                    (arguments->flame_graph.empty() ? 0 : 1) + (arguments->html.empty() ? 0 : 1);
  if (views <= 1) return std::nullopt;
  complain("choose one: --callers, --tree, --flamegraph or --html");
  return kExitUsage;
}

RowOrder row_order(const std::string& word) {
  if (word == "name") return RowOrder::kName;
  if (word == "total") return RowOrder::kTotal;
  return word == "object" ? RowOrder::kObject : RowOrder::kTicks;
}

LineOptions line_options(const Arguments& arguments) {
  LineOptions options{.inlines = arguments.inlines};
  if (!arguments.own.empty()) options.own = arguments.own == kOwn ? "" : arguments.own;
  return options;
}

/// The text of the hot line, if it is what was compiled, and everybody's to read.
std::string hot_source(const Profile& profile, const Report& report) {
  if (!report.hot_line || has_imported(profile)) return "";
  const HotLine& line = *report.hot_line;
  SourceFiles sources({}, &kept_source, {}, [&line] { return line.owner; });
  const SourceFile& file = sources.file(line.file);
  if (!file.is_for_all) return "";
  if (change_of(file, line.file, line.digests, line.built_unix_ns) != SourceChange::kNone) return "";
  return sources.line(line.file, line.line);
}

bool chooses_paths(const Arguments& arguments) {
  return !arguments.focus.empty() || !arguments.ignore.empty() || !arguments.hide.empty();
}

std::string render(const Profile& profile, const Arguments& arguments) {
  const std::optional<NamePattern> filter = pattern_of(arguments.filter),
                                   object = pattern_of(arguments.object);
  ReportOptions options{.by = grouping_of(arguments.by),
                        .order = row_order(arguments.sort),
                        .limit = arguments.limit.value_or(arguments.json ? 0 : kUsualLimit),
                        .min_share = arguments.min_share_percent.value_or(0) / 100,
                        .lines = line_options(arguments),
                        .filter = filter ? &*filter : nullptr,
                        .object = object ? &*object : nullptr,
                        .hot_line = !chooses_paths(arguments) && !arguments.scopes.any()};
  Report report = make_report(profile, &open_symbolizer, options);
  if (arguments.json) return json_report(profile, report);
  return in_locale(text_report(profile, report,
                               {.color = wants_color(arguments.color),
                                .names = name_style_of(arguments.names),
                                .width = terminal_width(),
                                .hot_source = hot_source(profile, report)}));
}

int print_tree(const Profile& profile, const Arguments& arguments) {
  ObjectNames names(profile, &open_symbolizer);
  const NamedPaths paths(profile, names, NamedPaths::Detail::kInnermostParts);
  const CallTreeNode tree = call_tree(paths, arguments.bottom_up);
  const CallTreeTextOptions options{.names = name_style_of(arguments.names),
                                    .min_share = arguments.min_share_percent.value_or(kUsualTreeShare) / 100,
                                    .bottom_up = arguments.bottom_up};
  return write_out(arguments.json ? call_tree_json(profile, tree, options)
                                  : in_locale(gravest_lines(profile, wants_color(arguments.color)) +
                                              call_tree_text(profile, tree, options)));
}

/// The page, opened at the view that is asked for.
int write_html(const Profile& profile, const Arguments& arguments) {
  const bool flame = !arguments.flame_graph.empty();
  const HtmlOptions options{.names = name_style_of(arguments.names),
                            .view = flame ? "flame" : "functions",
                            .command = arguments.command,
                            .sources = !arguments.no_sources && !has_imported(profile),
                            .strip_paths = arguments.strip_paths,
                            .kept_sources = &kept_source,
                            .fetch_source = source_fetcher()};
  return write_page(flame ? arguments.flame_graph : arguments.html,
                    html_report(profile, &open_symbolizer, options), options);
}

int write_picture(const Profile& profile, const Arguments& arguments) {
  ObjectNames names(profile, &open_symbolizer);
  const NamedPaths paths(profile, names, NamedPaths::Detail::kSharedParts);
  const FlameSvgOptions options{.names = name_style_of(arguments.names),
                                .bottom_up = arguments.bottom_up,
                                .title = program_name(profile)};
  const CallTreeNode tree = call_tree(paths, arguments.bottom_up);
  if (write_file(arguments.flame_graph, flame_svg(profile, tree, options)) != 0) return kExitFailed;
  inform("wrote {}; browsers, and pages that show pictures, draw it", arguments.flame_graph);
  return 0;
}

int refuse_without_paths(const Profile& profile, const Arguments& arguments) {
  const std::string fact =
      arguments.files.front() + " has no call paths; record again with -g: pctally record -g";
  const std::string again = has_command(profile) ? fact + " -- " + command_line(profile) : fact;
  complain("{}", again.size() <= kLongestMessage ? again : fact);
  return kExitInput;
}

int refuse_lines(const std::string& file) {
  complain("{} has call paths, which know no lines of the innermost function; record --scope without -g",
           file);
  return kExitInput;
}

/// That `text` may be 'name (object)', ...: names that are accepted.
std::string choice_of(const std::string& text, const std::vector<StackFrame>& functions, size_t listed) {
  std::string list;
  for (size_t i = 0; i < listed; ++i) list += (i == 0 ? "'" : ", '") + listed_name(functions[i]) + "'";
  const size_t more = functions.size() - listed;
  if (more != 0) list += fmt::format(" and {} more, which report --filter lists", more);
  return fmt::format("{} may be {}; write one name", text, list);
}

int refuse_missing_function(const Profile& profile, const Arguments& arguments, const NamedPaths& paths,
                            const NamePattern* object) {
  const std::string where = of_objects(arguments.object), &name = arguments.callers;
  std::vector<std::string> names;
  for (const StackFrame& frame : find_functions(paths, "", object)) names.push_back(frame.short_name);
  if (ticks_without_entry(profile.paths.plane) != 0)
    complain(
        "no function on a path that was kept{} is called {}; more are with a larger record --paths-memory",
        where, name);
  else if (const uint64_t unread = unread_ticks(profile.paths.context);
           unread != 0 && !profile.paths.stackless)
    complain("no function on a stack that was read{} is called {}; the recorder has not read those of {}",
             where, name, counted_ticks(profile, unread));
  else if (const std::string near = nearest(name, names); !near.empty())
    complain("no function on a stack{} is called {}; did you mean '{}'?", where, name, near);
  else
    complain("no function on a stack{} is called {}; pctally report --sort total lists them", where, name);
  return kExitInput;
}

int refuse_ambiguous_function(const Arguments& arguments, const std::vector<StackFrame>& functions) {
  const auto text = [&](size_t listed) { return choice_of(arguments.callers, functions, listed); };
  size_t listed = std::min(kMostListed, functions.size());
  while (listed > 1 && width_of(escaped(text(listed))) > kLongestMessage) --listed;
  complain("{}", text(listed));
  return kExitInput;
}

int print_callers(const Profile& profile, const Arguments& arguments) {
  ObjectNames names(profile, &open_symbolizer);
  const NamedPaths paths(profile, names, NamedPaths::Detail::kInlinedCode);
  const std::optional<NamePattern> object = pattern_of(arguments.object);
  const std::vector<StackFrame> functions =
      find_functions(paths, arguments.callers, object ? &*object : nullptr);
  if (functions.empty())
    return refuse_missing_function(profile, arguments, paths, object ? &*object : nullptr);
  if (functions.size() != 1) return refuse_ambiguous_function(arguments, functions);
  if (is_part(called_by(functions[0], arguments.callers)))
    say_part("on a stack" + of_objects(arguments.object), arguments.callers, listed_name(functions[0]));
  const Callers callers = callers_of(profile, paths, functions[0]);
  const CallersTextOptions options{.color = wants_color(arguments.color),
                                   .names = name_style_of(arguments.names),
                                   .limit = arguments.limit.value_or(arguments.json ? 0 : 10)};
  return write_out(arguments.json ? callers_json(profile, callers, options.limit)
                                  : in_locale(gravest_lines(profile, options.color) +
                                              callers_text(profile, callers, options)));
}

/// An exit code if no function is what is asked for.
std::optional<int> choose_paths(const Arguments& arguments, Profile* profile) {
  const std::optional<NamePattern> focus = pattern_of(arguments.focus), ignore = pattern_of(arguments.ignore),
                                   hide = pattern_of(arguments.hide);
  ObjectNames names(*profile, &open_symbolizer);
  std::optional<Profile> chosen = chosen_paths(*profile, names,
                                               {.focus = focus ? &*focus : nullptr,
                                                .ignore = ignore ? &*ignore : nullptr,
                                                .hide = hide ? &*hide : nullptr});
  if (!chosen && profile->ledger.ticks() == 0) return std::nullopt;  // the report says why
  if (!chosen) {
    complain("no function on a stack matches --focus; of inlined code name the function around it");
    return kExitInput;
  }
  *profile = std::move(*chosen);
  return std::nullopt;
}

int print(const Profile& profile, const Arguments& arguments) {
  if (!arguments.html.empty()) return write_html(profile, arguments);
  if (arguments.callers.empty() && !arguments.tree && arguments.flame_graph.empty())
    return write_out(render(profile, arguments));
  if (!profile.paths.recorded) return refuse_without_paths(profile, arguments);
  if (is_picture(arguments.flame_graph)) return write_picture(profile, arguments);
  if (!arguments.flame_graph.empty()) return write_html(profile, arguments);
  return arguments.tree ? print_tree(profile, arguments) : print_callers(profile, arguments);
}

/// An exit code if there are options that do not go with the rows asked for.
std::optional<int> check_by(const Arguments& arguments) {
  const Grouping by = grouping_of(arguments.by);
  if (!arguments.object.empty() &&
      (is_by_process(by) || (is_by_scope(by) && !is_by_scope_and_function(by)))) {
    complain("--object: a {} has no object; leave out --by {}", arguments.by, arguments.by);
    return kExitUsage;
  }
  if (arguments.scopes.any() && is_by_process(by)) {
    complain("--program, --thread and --cgroup say nothing of processes; leave out --by {}", arguments.by);
    return kExitUsage;
  }
  if (arguments.sort == "total" && is_by_process(by)) {
    complain("--sort total: only functions, objects, lines and programs have totals; leave out --by {}",
             arguments.by);
    return kExitUsage;
  }
  if (is_by_scope(by) && (!arguments.callers.empty() || arguments.tree || !arguments.flame_graph.empty())) {
    complain("--by is for the table; to choose a part of the paths write --program, --thread or --cgroup");
    return kExitUsage;
  }
  return std::nullopt;
}

/// An exit code if an option without its value has taken the profile for it.
std::optional<int> check_names(const Arguments& arguments) {
  if (!arguments.files.empty()) return std::nullopt;
  const struct {
    const char *option, *value;
    const std::string& given;
  } names[] = {
      {"--callers", "FUNCTION", arguments.callers},     {"--focus", "REGEX", arguments.focus},
      {"--ignore", "REGEX", arguments.ignore},          {"--hide", "REGEX", arguments.hide},
      {"--filter", "REGEX", arguments.filter},          {"--object", "REGEX", arguments.object},
      {"--program", "REGEX", arguments.scopes.program}, {"--thread", "REGEX", arguments.scopes.thread},
      {"--cgroup", "REGEX", arguments.scopes.group}};
  for (const auto& name : names) {
    if (!is_file_of_profile(name.given)) continue;
    complain("{0} {1}: a profile, not a name; write report {0} {2} {1}", name.option, name.given, name.value);
    return kExitUsage;
  }
  return std::nullopt;
}

/// The view that is asked for in place of the table; null: none.
const char* view_option(const Arguments& arguments) {
  if (!arguments.callers.empty()) return "--callers";
  if (!arguments.flame_graph.empty()) return "--flamegraph";
  if (!arguments.html.empty()) return "--html";
  if (!arguments.tree) return nullptr;
  return arguments.bottom_up ? "--bottom-up" : "--tree";
}

/// An option of the table, or of another view, that changes nothing in the one asked for; null: none is
/// given.
const char* idle_option(const Arguments& arguments) {
  const bool callers = !arguments.callers.empty(), page = !arguments.html.empty();
  const struct {
    const char* option;
    bool given;
  } options[] = {{"--json", arguments.json && (page || !arguments.flame_graph.empty())},
                 {"--by", arguments.by != "function" && !page},
                 {"--sort", arguments.sort != "ticks" && !page},
                 {"--filter", !arguments.filter.empty() && !page},
                 {"--object", !arguments.object.empty() && !callers && !page},
                 {"--limit", arguments.limit && !callers && !page},
                 {"--min-share", arguments.min_share_percent && !arguments.tree && !page}};
  for (const auto& option : options)
    if (option.given) return option.option;
  return nullptr;
}

/// An exit code if an option would be ignored.
std::optional<int> check_view(const Arguments& arguments) {
  const char *view = view_option(arguments), *idle = idle_option(arguments);
  if (view != nullptr && idle != nullptr) {
    complain("{} changes nothing with {}; leave it out", idle, view);
    return kExitUsage;
  }
  if (arguments.bottom_up && arguments.flame_graph.ends_with(".html")) {
    complain("--bottom-up is for pictures (.svg); the page has a button for it, so leave it out");
    return kExitUsage;
  }
  return std::nullopt;
}

/// An exit code if there are options that say nothing about what is asked for.
std::optional<int> check_options(const Arguments& arguments) {
  if ((!arguments.own.empty() || arguments.inlines) && arguments.by != "line") {
    complain("{} is for source lines; write report --by line {}", arguments.inlines ? "--inlines" : "--own",
             arguments.inlines ? "--inlines" : "--own");
    return kExitUsage;
  }
  if (chooses_paths(arguments) && (arguments.by == "line" || is_by_process(grouping_of(arguments.by)))) {
    complain("--focus, --ignore and --hide choose functions on a path; leave out --by {}", arguments.by);
    return kExitUsage;
  }
  if (std::optional<int> code = check_names(arguments)) return code;
  if (std::optional<int> code = check_by(arguments)) return code;
  if (std::optional<int> code = check_view(arguments)) return code;
  const char* of_table = arguments.by != "function"  ? "--by"
                         : !arguments.filter.empty() ? "--filter"
                         : !arguments.object.empty() ? "--object"
                         : arguments.limit           ? "--limit"
                                                     : nullptr;
  if (of_table != nullptr && !arguments.html.empty()) {
    complain("--html: the page has all functions, and is searched in the browser; leave out {}", of_table);
    return kExitUsage;
  }
  const char* of_page = arguments.command       ? "--command"
                        : arguments.no_sources  ? "--no-sources"
                        : arguments.strip_paths ? "--strip-paths"
                                                : nullptr;
  const bool page = !arguments.html.empty() || arguments.flame_graph.ends_with(".html");
  if (of_page != nullptr && !page) {
    complain("{} is for a page; write report --html FILE {}", of_page, of_page);
    return kExitUsage;
  }
  return std::nullopt;
}

int report(Arguments& arguments) {
  if (std::optional<int> code = check_options(arguments)) return *code;
  Result<Profile> profile = load_named_or_newest(&arguments.files);
  if (!profile) {
    complain("{}", profile.error().text);
    return kExitInput;
  }
  if (arguments.files.size() == 1) name_damage(*profile, arguments.files.front());
  const std::string& file = arguments.files.front();
  if (auto code = refuse_without_scopes(*profile, file, grouping_of(arguments.by), arguments.scopes))
    return *code;
  if (arguments.scopes.any()) {
    if (arguments.by == "line" && profile->paths.recorded) return refuse_lines(file);
    if (auto code = choose_scopes(arguments.scopes, &*profile)) return *code;
  }
  const bool sorts_by_total = arguments.sort == "total" && arguments.html.empty();  // a page sorts by itself
  if (sorts_by_total && !profile->paths.recorded) return refuse_without_paths(*profile, arguments);
  if (std::optional<int> code = use_debuginfod(arguments.debuginfod)) return *code;
  if (chooses_paths(arguments)) {
    if (!profile->paths.recorded) return refuse_without_paths(*profile, arguments);
    if (auto code = choose_paths(arguments, &*profile)) return *code;
  }
  int code = print(*profile, arguments);
  warn_of_debuginfod_failure();
  return exit_code_of(*profile, code);
}

}  // namespace

int run_report(int argc, char** argv) {
  let_writes_fail();
  Arguments arguments;
  if (std::optional<int> code = parse(argc, argv, &arguments)) return *code;
  const ProgressLine progress;
  return report(arguments);
}

}  // namespace pctally
