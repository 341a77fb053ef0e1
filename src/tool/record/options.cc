#include "tool/record/options.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/foreign_options.h"
#include "tool/record/process_list.h"
#include "tool/terminal/message.h"
#include "tool/terminal/suggest.h"

namespace pctally {
namespace {

constexpr char kHelp[] =
    R"(Profile a program, or what is already running.

  pctally record -- ./prog args         a program and its children
  pctally record -p 4711 --for 10       a running process, 10 seconds
  sudo pctally record -a --for 30s      the whole machine

What      -- CMD ARGS...       run this; everything after -- is the command
          -p, --pid LIST       running processes: ids or a name, 4711,4712 or nginx
          --cgroup DIR         a control group
          -a, --all            the whole machine
          --no-children        do not follow the processes that they start
          -g, --callers        call paths; also --call-graph MODE; off: --no-callers
          --scope WHAT         separate ticks by program (-g does so), thread or cgroup
          --paths-memory SIZE  limit of each call-path tree (8M paths, 16M totals)
          --wait               also wait for daemons that CMD leaves behind
How       -F, --frequency HZ   ticks per second of CPU time (1000)
          -c, --period TIME    instead: CPU time per tick (250us), with -e EVENT: events
          -e, --event NAME     count page-faults, cycles, ... instead of CPU time
          -e, --engine NAME    take this engine (see pctally engines)
          --fixed-period       exactly this period; can fall in step with the program
Output    -o, --output FILE    default pctally.NAME.PID.pct
          -f, --force          replace FILE
          --for TIME           stop after 10, 2.5s, 500ms, 5m or 1h
          -q, --quiet, -v, --verbose   print errors only; print also the engine, and why

Exit: the command's own; 2 usage, 125 pctally failed, 126 not executable, 127 not found.
)";

constexpr double kUsualHertz = 1000;
constexpr double kLowestHertz = 0.1, kHighestHertz = 100000;

/// perf's words. It takes a size of stack dumps behind a comma, which is nothing here.
std::string is_call_graph(const std::string& text) {
  return one_of({"fp", "dwarf", "lbr"})(text.substr(0, text.find(',')));
}

struct Words {
  std::vector<std::string> chosen;  ///< by -e: an engine, an event
  std::optional<std::string> processes;
  std::string hertz, period, duration;
  std::string call_graph;  ///< perf's word for how it finds callers
  std::string paths_memory;
  std::string scope;
  bool no_children = false;
  bool fixed_period = false;
};

CommandLineHints hints() {
  return {.surplus = {},
          .unknown = foreign_options("record"),
          .missing = {{"--pid", kNoProcess}},
          .twice = {{"--pid", kOneList}}};
}

/// "250us", "1ms", "0.5s", "5m", "1h", or a number of `plain_unit`s, in nanoseconds; 0 if it is none of
/// these.
uint64_t parse_duration(const std::string& text, const char* plain_unit) {
  char* end = nullptr;
  double value = strtod(text.c_str(), &end);
  std::string unit = *end == '\0' ? plain_unit : end;
  double ns = 0;
  for (const auto& [name, factor] :
       {std::pair("ns", 1.0), {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}})
    if (unit == name) ns = value * factor;
  bool sensible = end != text.c_str() && std::isfinite(ns) && ns >= 1 && ns < 1e18;
  return sensible ? static_cast<uint64_t>(std::llround(ns)) : 0;
}

std::optional<double> parse_number(const std::string& text) {
  char* end = nullptr;
  double value = strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value;
}

void describe(OptionParser* app, RecordCommandLine* line, Words* words) {
  RecordOptions& options = line->options;
  app->help_page(kHelp);
  app->prefix_command();  // the first word that is no option's starts the command
  app->add_option("-p,--pid", words->processes);
  app->add_flag("-a,--all", options.machine);
  app->add_option("--cgroup", options.cgroup);
  app->add_option("--for", words->duration);
  app->add_option("-F,--frequency", words->hertz);
  app->add_option("-c,--period", words->period);
  app->add_option("-e,--engine,--event", words->chosen)->one_value_each();
  app->add_option("-o,--output", options.path);
  app->add_flag("-f,--force", options.overwrite);
  app->add_flag("-q,--quiet", line->quiet);
  app->add_flag("-v,--verbose", line->verbose);
  app->add_flag("--wait", options.wait);
  app->add_flag("-g,--callers,!--no-callers", options.paths);
  app->add_option("--scope", words->scope)->check(one_of({"program", "thread", "cgroup"}));
  app->add_option("--paths-memory", words->paths_memory);
  app->add_option("--call-graph", words->call_graph)->check(is_call_graph);
  app->add_flag("--no-children", words->no_children);
  app->add_flag("--fixed-period", words->fixed_period);
  app->add_option("--for-top", options.top)->hide();  // its process: see tool/top/recorder.cc
}

// Each check returns an empty string, or the line that says what is wrong.

/// "-p --for 1" and "-p 101 102", as an empty or a double $(pidof NAME) leaves them.
std::string check_list(const RecordOptions& options, const Words& words) {
  if (!words.processes) return {};
  bool empty = words.processes->find_first_not_of(", ") == std::string::npos;
  if (empty || words.processes->starts_with('-')) return kNoProcess;
  std::string list = *words.processes;
  for (size_t i = 0; i < options.command.size() && is_number(options.command[i]); ++i)
    list += "," + options.command[i];
  if (list == *words.processes) return {};
  return fmt::format("-p takes one list; separate the ids by commas: -p {}", list);
}

/// "perf record -a sleep 10" records all for ten seconds.
bool is_sleep(const std::vector<std::string>& command) {
  return command.size() == 2 && command[0] == "sleep";
}

std::string check_target(const RecordOptions& options, const Words& words) {
  if (std::string wrong = check_list(options, words); !wrong.empty()) return wrong;
  int targets = (options.command.empty() ? 0 : 1) + (words.processes ? 1 : 0) + (options.machine ? 1 : 0) +
                (options.cgroup.empty() ? 0 : 1);
  if (targets == 0) return "nothing to record; name a program after --, or use -p PID, --cgroup DIR or -a";
  if (targets > 1 && is_sleep(options.command))
    return fmt::format("choose one: a command, -p, --cgroup or -a; a time goes with --for: --for {}",
                       options.command[1]);
  if (targets > 1) return "choose one: a command, -p, --cgroup or -a";
  if (options.wait && options.command.empty())
    return "--wait is for a command; -p, --cgroup and -a end with Ctrl-C";
  if (options.wait && words.no_children) return "choose one: --wait or --no-children";
  return {};
}

bool is_cgroup(const std::string& path) { return access((path + "/cgroup.procs").c_str(), F_OK) == 0; }

/// The directory of a control group that is given as it is, or as /proc/PID/cgroup and reports have it;
/// empty: there is none.
std::string cgroup_directory(const std::string& path) {
  if (path.find_first_not_of('/') == std::string::npos) return {};
  if (is_cgroup(path)) return path;
  for (const char* hierarchy : {"", "/unified", "/perf_event"})
    if (std::string group = fmt::format("/sys/fs/cgroup{}/{}", hierarchy, path); is_cgroup(group))
      return group;
  return {};
}

/// The root of a hierarchy is no group of its own: -a records it.
std::string check_cgroup(RecordOptions* options) {
  std::string& path = options->cgroup;
  if (path.empty()) return {};
  const std::string group = cgroup_directory(path);
  if (group.empty())
    return fmt::format("'{}' is no control group; give a directory below /sys/fs/cgroup", path);
  char whole[PATH_MAX];  // as its path within the hierarchy is found, and as a report names it
  path = realpath(group.c_str(), whole) != nullptr ? whole : group;
  return {};
}

std::string check_duration(RecordOptions* options, const std::string& text) {
  if (text.empty()) return {};
  options->for_ns = parse_duration(text, "s");
  return options->for_ns != 0 ? ""
                              : fmt::format("--for {}: not a time; write 10, 2.5s, 500ms, 5m or 1h", text);
}

std::string no_such_event(const std::string& word) {
  std::vector<std::string> names = event_names();
  for (const char* engine : kEngineNames) names.emplace_back(engine);
  std::string near = nearest(word, names);
  if (near.empty()) return fmt::format("'{}' is no event or engine; all: man pctally-record", word);
  return fmt::format("'{}' is no event or engine; did you mean '{}'? (all: man pctally-record)", word, near);
}

bool is_engine(const std::string& word) {
  return std::find(std::begin(kEngineNames), std::end(kEngineNames), word) != std::end(kEngineNames);
}

/// -e takes engines and events: no name is both.
std::string check_events(RecordOptions* options, const std::vector<std::string>& chosen) {
  bool event_chosen = false;
  for (const std::string& word : chosen) {
    const Event* event = find_event(word);
    if (event == nullptr && !is_engine(word)) return no_such_event(word);
    if (event != nullptr ? event_chosen : !options->engine.empty())
      return fmt::format("-e {}: choose one event and one engine, not two of a kind", word);
    if (event == nullptr) {
      options->engine = word;
    } else {
      options->event = *event;
      event_chosen = true;
    }
  }
  return {};
}

std::string check_scope(RecordOptions* options, const Words& words) {
  if (options->paths) options->scope = ScopeKind::kProgram;
  for (ScopeKind kind : {ScopeKind::kProgram, ScopeKind::kThread, ScopeKind::kGroup})
    if (words.scope == scope_word(kind)) options->scope = kind;
  const std::string& engine = options->engine;
  if (words.scope.empty() || engine.empty() || keeps_scopes(engine, *options->scope)) return {};
  return fmt::format("--scope {}: engine {} knows only programs; use -e ring, or --scope program",
                     words.scope, engine);
}

std::string check_paths(RecordOptions* line, const Words& words) {
  RecordOptions& options = *line;
  if (!words.paths_memory.empty()) {
    if (!options.scope) return "--paths-memory is for call paths and scopes; add -g or --scope";
    options.path_bytes = bytes_of(words.paths_memory);
    if (options.path_bytes < kLeastPathBytes || options.path_bytes > kMostPathBytes)
      return fmt::format("--paths-memory {}: not a size; write 64K to 24M", words.paths_memory);
  }
#if !defined(__x86_64__) && !defined(__aarch64__)
  if (options.paths) return "-g works on x86-64 and aarch64 alone; leave it out to record self time";
#endif
  return {};
}

/// An engine that runs in the program has a clock alone, and cannot be put into one that runs already.
std::string check_engine(const RecordOptions& options) {
  if (options.engine != "timer" && options.engine != "trap") return {};
  if (!options.event.is_cpu_time())
    return fmt::format("-e {}: it counts CPU time alone; use -e ring -e {}, or -e bpf -e {}", options.engine,
                       options.event.name, options.event.name);
  if (!options.command.empty()) return {};
  return fmt::format(
      "-e {}: it observes only programs that pctally record starts; write pctally record -- CMD, or use -e "
      "ring",
      options.engine);
}

std::string check_count(RecordOptions* options, const Words& words) {
  std::string name = options->event.name;
  options->period = options->event.usual_count;
  if (!words.hertz.empty())
    return fmt::format("-F is for CPU time; with {} write -c N: a tick after N of them", name);
  if (words.period.empty()) return {};
  bool number = is_number(words.period) && words.period.size() <= 13;
  options->period = number ? strtoull(words.period.c_str(), nullptr, 10) : 0;
  if (options->period >= 1 && options->period <= kMostEvents) return {};
  return fmt::format("-c {}: not a number of {}; write 1 to 1000000000000", words.period, name);
}

std::string check_frequency(RecordOptions* options, const std::string& text) {
  auto hertz = text.empty() ? kUsualHertz : parse_number(text);
  constexpr char kHow[] = "write ticks per CPU second, 0.1 to 100000, for example -F 1000";
  if (!hertz) return fmt::format("-F {}: not a number; {}", text, kHow);
  if (!(*hertz >= kLowestHertz && *hertz <= kHighestHertz))
    return fmt::format("-F {}: out of range; {}", text, kHow);
  options->period = static_cast<uint64_t>(std::llround(1e9 / *hertz));
  return {};
}

std::string check_period(RecordOptions* options, const Words& words) {
  if (!words.hertz.empty() && !words.period.empty())
    return "-F and -c exclude each other: -F is ticks per second, -c the CPU time of one tick";
  if (!options->event.is_cpu_time()) return check_count(options, words);
  options->hertz_text = words.hertz;
  options->period_text = words.period;
  if (words.period.empty()) return check_frequency(options, words.hertz);
  options->period = parse_duration(words.period, "ns");
  if (options->period >= kShortestPeriodNs && options->period <= kLongestPeriodNs) return {};
  return fmt::format("-c {}: not a time from 10us to 10s; write 250us, 1ms or nanoseconds", words.period);
}

std::string check_pace(const RecordOptions& options) {
  if (options.engine != "trap" || options.period >= kShortestTrapPeriodNs) return {};
  return "-e trap: it takes at most 20000 ticks a second; write -F 20000, or use -e ring";
}

std::string check(RecordCommandLine* line, const Words& words) {
  RecordOptions& options = line->options;
  options.randomise = !words.fixed_period;
  options.children = !words.no_children;
  if (std::string wrong = check_target(options, words); !wrong.empty()) return wrong;
  if (std::string wrong = check_cgroup(&options); !wrong.empty()) return wrong;
  if (std::string wrong = profile_to_write(options.path); !wrong.empty()) return "-o " + wrong;
  if (std::string wrong = check_duration(&options, words.duration); !wrong.empty()) return wrong;
  if (std::string wrong = check_events(&options, words.chosen); !wrong.empty()) return wrong;
  if (std::string wrong = check_scope(&options, words); !wrong.empty()) return wrong;
  if (std::string wrong = check_paths(&options, words); !wrong.empty()) return wrong;
  if (std::string wrong = check_engine(options); !wrong.empty()) return wrong;
  if (std::string wrong = check_period(&options, words); !wrong.empty()) return wrong;
  return check_pace(options);
}

/// What follows the options. False if it begins with an option that record does not have.
bool take_command(std::vector<std::string> rest, std::vector<std::string>* command) {
  if (!rest.empty() && rest[0] == "--")
    rest.erase(rest.begin());
  else if (!rest.empty() && rest[0].size() > 1 && rest[0][0] == '-')
    return false;
  *command = std::move(rest);
  return true;
}

/// Names are looked up last: that no process has one is no mistake of the command line.
std::optional<int> find_targets(RecordCommandLine* line, const Words& words) {
  if (!words.processes) return std::nullopt;
  ProcessList found = find_processes(*words.processes);
  line->options.processes = found.processes;
  line->options.by_number = found.by_number;
  if (found.unknown.empty()) return std::nullopt;
  if (found.near.empty())
    complain("no running process is called {}; give ids (-p 101,102) or start it under pctally record --",
             found.unknown);
  else
    complain("no running process is called {}; these begin so: {}", found.unknown, found.near);
  return kExitFailed;
}

}  // namespace

std::optional<int> parse_record(int argc, char** argv, RecordCommandLine* line) {
  OptionParser app("pctally record");
  Words words;
  describe(&app, line, &words);
  if (auto code = app.parse(argc, argv, hints())) return code;
  if (app.is_last("--call-graph", "--callers")) line->options.paths = true;
  std::vector<std::string> rest = app.remaining();
  if (!take_command(rest, &line->options.command)) return app.complain_of_option(rest[0], hints());
  if (std::string wrong = check(line, words); !wrong.empty()) {
    complain("{}", wrong);
    return kExitUsage;
  }
  return find_targets(line, words);
}

}  // namespace pctally
