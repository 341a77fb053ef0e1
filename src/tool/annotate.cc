// pctally annotate: one function's source lines and instructions, with the ticks of each.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "object/symbolizer.h"
#include "profile/load.h"
#include "report/account/warning_lines.h"
#include "report/annotate/output.h"
#include "report/names/name_pattern.h"
#include "report/paths/callers.h"
#include "report/print/escape.h"
#include "report/print/figures.h"
#include "report/runtime_hints.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/debuginfod_option.h"
#include "tool/foreign_options.h"
#include "tool/load_profiles.h"
#include "tool/newest_profile.h"
#include "tool/scope_options.h"
#include "tool/terminal/message.h"
#include "tool/terminal/progress_line.h"
#include "tool/terminal/suggest.h"

namespace pctally {
namespace {

constexpr char kHelp[] =
    R"(Print a function's source lines and instructions, with the ticks of each.

  pctally annotate main                   of the newest *.pct here
  pctally annotate Table::add work.pct
  pctally annotate table.cc:28 work.pct   the function that this line is in

What      FUNCTION             its name, short or full, or a part that no other has
          FILE:LINE            a source line with ticks
          --object REGEX       only functions of objects whose names match
Shown     --all                every instruction (else the hot ones and their neighbours)
          --min-share P        hot: from P percent of the function on (0.5)
          --intel              Intel's syntax (else AT&T's)
          --names STYLE        short (default), full or linkage
          --source-path OLD=NEW   sources compiled in OLD are now in NEW; may repeat
          --debuginfod[=URLS]  download missing debug information (DEBUGINFOD_URLS)
Output    --json               one object with all lines and instructions
          --color WHEN         auto (default), always or never; NO_COLOR is honoured

Exit: 0; 2 usage; 4 the profile cannot be read, is damaged, or has no such function.
)";

struct Arguments {
  std::string query, file, object;
  std::vector<std::string> source_paths;
  double min_share_percent = 0.5;
  bool all = false, intel = false, json = false;
  std::string names = "short", color = "auto", debuginfod;
};

std::string is_source_path(const std::string& text) {
  return parse_source_path(text) ? "" : text + ": write OLD=NEW, for example /build/src=/home/me/src";
}

void describe_options(OptionParser& app, Arguments& arguments) {
  app.help_page(kHelp);
  app.add_option("FUNCTION", arguments.query);
  app.add_option("FILE", arguments.file);
  app.add_option("--object", arguments.object)->check(check_pattern);
  app.add_flag("--all", arguments.all);
  app.add_option("--min-share", arguments.min_share_percent)->check(number_from_to(0, 100));
  app.add_flag("--intel", arguments.intel);
  add_names_option(app, arguments.names);
  app.add_option("--source-path", arguments.source_paths)->one_value_each()->check(is_source_path);
  add_debuginfod_option(app, arguments.debuginfod);
  app.add_flag("--json", arguments.json);
  app.add_option("--color", arguments.color)->check(one_of({"auto", "always", "never"}));
}

std::optional<int> parse(int argc, char** argv, Arguments* arguments) {
  OptionParser app("pctally annotate");
  describe_options(app, *arguments);
  const CommandLineHints hints{.surplus = "one function at a time; {} is one word too many",
                               .unknown = foreign_options("annotate"),
                               .missing = {}};
  if (std::optional<int> code = app.parse(argc, argv, hints)) return code;
  if (arguments->query.empty()) {
    complain("no function named; write pctally annotate FUNCTION [FILE], or FILE:LINE");
    return kExitUsage;
  }
  if (!is_file_of_profile(arguments->query)) return std::nullopt;
  complain("{0} is a profile; name the function first: pctally annotate {1} {0}", arguments->query,
           arguments->file.empty() ? "FUNCTION" : arguments->file);
  return kExitUsage;
}

std::string share_of(const HotFunction& function, const Profile& profile) {
  return fmt::format("{:.1f} %", percent_of(function.ticks, profile.ledger.ticks()));
}

/// "put(int) (3.1 %), put(long) (2.0 %) and 4 more", short enough for a line. If one name is in several
/// objects it has these: "main in a (3.1 %), main in b (2.0 %)".
std::string listed(const std::vector<const HotFunction*>& functions, const Profile& profile) {
  constexpr size_t kMost = 3;
  std::string text;
  for (size_t i = 0; i < std::min(kMost, functions.size()); ++i) {
    const HotFunction& function = *functions[i];
    const auto of_that_name = [&](const HotFunction* other) {
      return other->short_name == function.short_name && other->object != function.object;
    };
    const bool elsewhere = std::ranges::any_of(functions, of_that_name);
    text += fmt::format("{}{}{} ({})", i == 0 ? "" : ", ", elided(escaped(function.short_name), 80),
                        elsewhere ? " in " + elided(escaped(function.object), 40) : "",
                        share_of(function, profile));
  }
  if (functions.size() > kMost) text += fmt::format(" and {} more", functions.size() - kMost);
  return text;
}

/// Why the object with most ticks without any name has none: "68.9 % have no name in table: ..."; empty if
/// all have names.
std::string nameless(const std::vector<HotFunction>& functions, const Profile& profile, ObjectNames& names) {
  for (const HotFunction& function : functions) {
    const std::string& problem = names.symbolizer(function.executable).problem();
    if (function.is_whole_object() && !problem.empty())
      return fmt::format("{} have no name in {}: {}", share_of(function, profile), function.object, problem);
  }
  return "";
}

/// Why an object has no annotation, if one with ticks is called `query`; empty if none is.
std::string no_function(const std::string& query, const std::vector<HotFunction>& functions,
                        const Profile& profile) {
  std::vector<const HotFunction*> in_it;
  for (const HotFunction& function : functions)
    if (function.object == query) in_it.push_back(&function);
  if (in_it.empty()) return "";
  if (profile.executables[in_it[0]->executable].kind == ExecutableKind::kKernel)
    return "the kernel's code cannot be annotated; pctally report --object kernel has its ticks";
  return fmt::format("'{}' is an object; name a function of it: {}", query, listed(in_it, profile));
}

/// No object with ticks is called so: the ones with most.
int no_such_object(const Arguments& arguments, const std::vector<HotFunction>& functions) {
  constexpr size_t kMost = 3;
  std::vector<std::string> objects;
  for (const HotFunction& function : functions)
    if (std::ranges::find(objects, function.object) == objects.end()) objects.push_back(function.object);
  std::string text;
  for (size_t i = 0; i < std::min(kMost, objects.size()); ++i)
    text += (i == 0 ? "" : ", ") + elided(escaped(objects[i]), 20);
  if (objects.size() > kMost) text += fmt::format(" and {} more", objects.size() - kMost);
  complain("no ticks in an object called '{}'; they are in {}", arguments.object, text);
  return kExitInput;
}

/// Whether a function so called, not by a part of its name, is on recorded stacks.
bool is_on_stacks(const Arguments& arguments, const Profile& profile, ObjectNames& names) {
  if (!profile.paths.recorded) return false;
  const std::optional<NamePattern> object = pattern_of(arguments.object);
  const NamedPaths paths(profile, names, NamedPaths::Detail::kLines);
  const std::vector<StackFrame> found = find_functions(paths, arguments.query, object ? &*object : nullptr);
  return !found.empty() && !is_part(called_by(found[0], arguments.query));
}

/// `on_stacks`: is_on_stacks() is known to be true. Its code has no name or is not there: else it is shown.
int no_such_function(const Arguments& arguments, const std::vector<HotFunction>& functions,
                     const Profile& profile, ObjectNames& object_names, bool on_stacks) {
  std::vector<std::string> names;
  for (const HotFunction& function : functions) names.push_back(function.short_name);
  std::string near = nearest(arguments.query, names);
  const std::string why = nameless(functions, profile, object_names);
  if (const std::string object = no_function(arguments.query, functions, profile); !object.empty())
    complain("{}", object);
  else if (functions.empty())
    complain("no ticks in '{}': the profile has none in any function", arguments.query);
  else if (const auto around = functions_around(functions, object_names, arguments.query); !around.empty())
    complain("'{}' was inlined into {}; name what it is in", arguments.query, listed(around, profile));
  else if (on_stacks || is_on_stacks(arguments, profile, object_names))
    complain("'{}' has no ticks of its own, only its callees have; pctally report --callers lists them",
             arguments.query);
  else if (!why.empty())
    complain("no ticks in '{}'; {}", arguments.query, why);
  else if (!near.empty())
    complain("no ticks in '{}'; did you mean '{}'?", arguments.query, near);
  else
    complain("no ticks in '{}'; most are in {} ({})", arguments.query,
             elided(escaped(functions[0].short_name), 80), share_of(functions[0], profile));
  return kExitInput;
}

/// A line that says why this function has no code to show; empty if it has.
std::string no_code(const HotFunction& function, const Profile& profile, ObjectNames& names) {
  const ExecutableKind kind = profile.executables[function.executable].kind;
  const std::string name = elided(escaped(function.short_name), 80);
  if (kind == ExecutableKind::kKernel)
    return fmt::format("{} is kernel code, which cannot be annotated; pctally report has its ticks", name);
  const bool made = kind == ExecutableKind::kPrivate;
  if (made &&
      names.symbolizer(function.executable).code(function.range.start, function.range.end).bytes.empty())
    return fmt::format("{} was made by a JIT, whose code is gone; pctally report has its ticks", name);
  if (kind == ExecutableKind::kStart)
    return "[process start] is time, not code: exec and dynamic linking, before the first tick";
  if (function.is_whole_object())
    return fmt::format("nothing is known of the code of {}: {}", function.object,
                       names.symbolizer(function.executable).problem());
  return "";
}

/// The functions meant, and by what.
struct Meant {
  std::vector<const HotFunction*> functions;
  bool by_part = false;    ///< of its name
  bool by_alias = false;   ///< another symbol of the same code
  bool on_stacks = false;  ///< none, but one so called is on stacks
};

Meant find_meant(const Arguments& arguments, const std::vector<HotFunction>& functions,
                 const Profile& profile, ObjectNames& names) {
  SourcePlace place;
  const bool by_place = parse_place(arguments.query, &place);
  Meant meant{.functions = functions_called(functions, arguments.query)};
  meant.by_part = !meant.functions.empty() && is_part(called_by(*meant.functions[0], arguments.query));
  // Names of code made at run time hold places: "hot app.js:131" has app.js:13 in it.
  if (by_place && (meant.by_part || meant.functions.empty()))
    if (auto at = functions_at(functions, names, place); !at.empty()) return {.functions = std::move(at)};
  if (!meant.by_part && !meant.functions.empty()) return meant;
  if (auto aliased = functions_aliased(functions, names, arguments.query); !aliased.empty())
    return {.functions = std::move(aliased), .by_alias = true};
  const bool around = meant.by_part && !functions_around(functions, names, arguments.query).empty();
  meant.on_stacks = meant.by_part && !around && is_on_stacks(arguments, profile, names);
  if (around || meant.on_stacks) meant.functions.clear();
  return meant;
}

/// Those of the functions that only called others that are meant: by name, or by the line of one of their
/// calls.
std::vector<const HotFunction*> callers_meant(const Arguments& arguments,
                                              const std::vector<HotFunction>& callers, ObjectNames& names) {
  const std::optional<NamePattern> object = pattern_of(arguments.object);
  SourcePlace place;
  std::vector<const HotFunction*> meant = functions_called(callers, arguments.query);
  if (!meant.empty() && is_part(called_by(*meant[0], arguments.query))) meant.clear();
  if (meant.empty() && parse_place(arguments.query, &place)) meant = functions_at(callers, names, place);
  if (object)
    std::erase_if(meant, [&](const HotFunction* caller) { return !object->matches(caller->object); });
  return meant;
}

void say_how_it_was_meant(const Arguments& arguments, const Meant& meant) {
  const HotFunction& function = *meant.functions[0];
  const std::string name = fmt::format("{} ({})", function.short_name, function.object);
  if (meant.by_part) say_part("with ticks" + of_objects(arguments.object), arguments.query, name);
  if (meant.by_alias)
    inform("{} is another name of {}", elided(escaped(arguments.query), 40), elided(escaped(name), 50));
}

/// A JIT compiles a hot function several times; nearly all ticks are in the last one. What to say of it.
std::string take_main_copy(const Arguments& arguments, const Profile& profile,
                           std::vector<const HotFunction*>* meant) {
  const auto is_made = [&](const HotFunction* function) {
    return is_made_code(profile.executables[function->executable]);
  };
  const bool are_copies = meant->size() > 1 && std::ranges::all_of(*meant, is_made);
  const HotFunction* copy = are_copies ? main_copy(*meant) : nullptr;
  if (copy == nullptr) return "";
  uint64_t all = 0;
  for (const HotFunction* function : *meant) all += function->ticks;
  const size_t times = meant->size();
  *meant = {copy};
  return fmt::format("'{}' was compiled {} times; this copy has {} of the {:.1f} %",
                     elided(escaped(arguments.query), 40), times, share_of(*copy, profile),
                     percent_of(all, profile.ledger.ticks()));
}

bool of_one_object(const std::vector<const HotFunction*>& functions) {
  return std::ranges::all_of(
      functions, [&](const HotFunction* function) { return function->object == functions[0]->object; });
}

int annotate(const Arguments& arguments, const Profile& profile) {
  if (has_imported(profile)) {
    complain("{} is a profile of another tool and has no code to annotate; pctally report has its ticks",
             arguments.file);
    return kExitInput;
  }
  ObjectNames names(profile, &open_symbolizer);
  std::vector<HotFunction> functions = hot_functions(profile, names);
  std::vector<HotFunction> callers;  // found where no function with ticks will do
  if (!arguments.object.empty()) {
    const NamePattern object = std::move(*NamePattern::compile(arguments.object));
    const auto matches = [&](const HotFunction& function) { return object.matches(function.object); };
    const auto none = [&](const std::vector<HotFunction>& of) { return std::ranges::none_of(of, matches); };
    if (!functions.empty() && none(functions)) {
      callers = calling_functions(profile, names);
      if (none(callers)) return no_such_object(arguments, functions);
    }
    std::erase_if(functions, std::not_fn(matches));
  }
  Meant found = find_meant(arguments, functions, profile, names);
  if (found.functions.empty()) {
    if (callers.empty()) callers = calling_functions(profile, names);
    if (auto meant = callers_meant(arguments, callers, names); !meant.empty())
      found = {.functions = std::move(meant)};
  }
  std::vector<const HotFunction*>& meant = found.functions;
  if (meant.empty()) return no_such_function(arguments, functions, profile, names, found.on_stacks);
  const std::string copy = take_main_copy(arguments, profile, &meant);
  if (meant.size() > 1) {
    complain("'{}' is {}; name one in full{}", arguments.query, listed(meant, profile),
             of_one_object(meant) ? "" : ", or its --object");
    return kExitInput;
  }
  if (std::string why = no_code(*meant[0], profile, names); !why.empty()) {
    complain("{}", why);
    return kExitInput;
  }
  if (!copy.empty()) inform("{}", copy);
  say_how_it_was_meant(arguments, found);
  Annotator annotator(profile, names, *meant[0], arguments.intel ? Syntax::kIntel : Syntax::kAtt);
  std::vector<SourcePath> paths;
  for (const std::string& text : arguments.source_paths) paths.push_back(*parse_source_path(text));
  const ExecutableIdentity identity = identity_of(profile, profile.executables[meant[0]->executable]);
  const Symbolizer& symbolizer = names.symbolizer(meant[0]->executable);
  SourceFiles sources(std::move(paths), &kept_source, source_fetcher(identity.build_id),
                      [&symbolizer] { return symbolizer.owner(); });
  if (arguments.json) return write_out(annotation_json(profile, annotator, sources));
  const bool color = wants_color(arguments.color);
  return write_out(in_locale(gravest_lines(profile, color) +
                             annotation_text(profile, annotator, sources,
                                             {.color = color,
                                              .all = arguments.all,
                                              .min_share = arguments.min_share_percent / 100,
                                              .names = name_style_of(arguments.names),
                                              .width = terminal_width()})));
}

}  // namespace

int run_annotate(int argc, char** argv) {
  let_writes_fail();
  Arguments arguments;
  if (std::optional<int> code = parse(argc, argv, &arguments)) return *code;
  const ProgressLine progress;
  Result<Profile> profile = load_named_or_newest(&arguments.file);
  if (!profile) {
    complain("{}", profile.error().text);
    return kExitInput;
  }
  name_damage(*profile, arguments.file);
  if (std::optional<int> code = use_debuginfod(arguments.debuginfod)) return *code;
  const int code = annotate(arguments, *profile);
  warn_of_debuginfod_failure();
  return exit_code_of(*profile, code);
}

}  // namespace pctally
