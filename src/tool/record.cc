// pctally record: run a program and keep a profile of it.
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "recorder/program_file.h"
#include "recorder/recording.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/message.h"

namespace pctally {
namespace {

constexpr double kUsualHertz = 1000;
constexpr uint64_t kMostEvents = 1000000000000u;  ///< of one tick: what a reader believes

/// "250us", "1ms", "0.5s", or a number of `plain_unit`s, in nanoseconds; 0 if it is none of these.
uint64_t parse_duration(const std::string& text, const char* plain_unit) {
  char* end = nullptr;
  double value = strtod(text.c_str(), &end);
  std::string unit = *end == '\0' ? plain_unit : end;
  double factor = unit == "ns" ? 1 : unit == "us" ? 1e3 : unit == "ms" ? 1e6 : unit == "s" ? 1e9 : 0;
  double ns = value * factor;
  bool sensible = end != text.c_str() && std::isfinite(ns) && ns >= 1 && ns < 1e18;
  return sensible ? static_cast<uint64_t>(std::llround(ns)) : 0;
}

/// "12,34"; empty if it is no such list.
std::vector<pid_t> parse_processes(const std::string& text) {
  std::vector<pid_t> pids;
  for (const char* at = text.c_str();; ++at) {
    char* end = nullptr;
    long pid = isdigit(static_cast<unsigned char>(*at)) ? strtol(at, &end, 10) : 0;
    if (pid <= 0 || pid > INT_MAX || (*end != ',' && *end != '\0')) return {};
    pids.push_back(static_cast<pid_t>(pid));
    if (*end == '\0') return pids;
    at = end;
  }
}

struct CommandLine {
  RecordOptions options;
  std::vector<std::string> chosen;  ///< by -e: an engine, an event
  std::optional<double> hertz;
  std::string period;
  std::string processes;
  std::string duration;
  bool no_children = false;
  bool fixed_period = false;
  bool quiet = false;
};

void describe(CLI::App* app, CommandLine* line) {
  app->add_option("-p,--pid", line->processes, "observe these running processes instead of a command")
      ->type_name("PID[,PID...]");
  app->add_flag("-a,--all", line->options.machine, "observe the whole machine instead of a command");
  app->add_option("--cgroup", line->options.cgroup, "observe a control group instead of a command")
      ->type_name("PATH");
  app->add_option("--for", line->duration, "stop recording after so many seconds (or 500ms, 2s)")
      ->type_name("SECONDS");
  app->add_option("-F,--frequency", line->hertz, "ticks per second of CPU time (default 1000)")
      ->type_name("HZ");
  app->add_option("-c,--period", line->period,
                  "CPU time per tick instead: 250us, 1ms, or nanoseconds; with an event, events per tick")
      ->type_name("PERIOD")
      ->excludes("-F");
  app->add_option("-e,--engine,--event", line->chosen,
                  "an engine, see pctally engines (default: the first that works); or an event, counted in\n"
                  "the place of CPU time: page-faults, context-switches, cycles, cache-misses, ...")
      ->type_name("ENGINE|EVENT")
      ->allow_extra_args(false);
  app->add_option("-o,--output", line->options.path, "profile file (default: pctally.<comm>.<pid>.pct)")
      ->type_name("FILE");
  app->add_flag("-f,--force", line->options.overwrite, "overwrite an existing file");
  app->add_flag("-q,--quiet", line->quiet, "say nothing but errors");
  app->add_flag("--no-children", line->no_children, "do not follow fork and exec");
  app->add_flag("--fixed-period", line->fixed_period,
                "do not randomise (a program in step is then misjudged)");
  app->footer(
      "The command's own exit status is passed through. Own failures: 125; the command\n"
      "cannot be run: 126; not found: 127; wrong usage: 2. See pctally-record(1).");
}

bool takes_value(const CLI::App& app, const std::string& name) {
  const CLI::Option* option = app.get_option_no_throw(name);
  return option != nullptr && option->get_items_expected_max() > 0;
}

/// True if the option word's value is the next word: "-o", "--output", "-qo"; not "-F500", "--output=x",
/// "-q".
bool value_follows(const CLI::App& app, const std::string& word) {
  if (word[1] == '-') return takes_value(app, word);
  for (size_t i = 1; i < word.size(); ++i)
    if (takes_value(app, std::string("-") + word[i])) return i + 1 == word.size();
  return false;
}

/// Index of the first word of the command: after "--", or the first word that is neither an option nor its
/// value. Everything from there on is the command's, whatever it looks like.
int command_index(const CLI::App& app, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--") return i + 1;
    if (word.size() < 2 || word[0] != '-') return i;
    if (value_follows(app, word)) ++i;
  }
  return argc;
}

std::string check_target(CommandLine* line) {
  RecordOptions& options = line->options;
  int targets = (options.command.empty() ? 0 : 1) + (line->processes.empty() ? 0 : 1) +
                (options.machine ? 1 : 0) + (options.cgroup.empty() ? 0 : 1);
  if (targets == 0) return "no command to record; see pctally record --help";
  if (targets > 1) return "one of a command, -p, -a and --cgroup can be recorded at a time";
  if (!line->processes.empty()) {
    options.processes = parse_processes(line->processes);
    if (options.processes.empty()) return "-p " + line->processes + ": process numbers, separated by commas";
  }
  if (!line->duration.empty()) {
    options.for_ns = parse_duration(line->duration, "s");
    if (options.for_ns == 0) return "--for " + line->duration + ": a time, for example 10, 2.5s or 500ms";
  }
  return {};
}

/// An engine and an event are told apart by their names, which have none in common.
std::string check_events(CommandLine* line) {
  RecordOptions& options = line->options;
  bool event_chosen = false;
  for (const std::string& word : line->chosen) {
    const Event* event = find_event(word);
    if (event != nullptr ? event_chosen : !options.engine.empty())
      return "-e " + word + ": one engine and one event can be chosen, not two";
    if (event == nullptr) {
      options.engine = word;
    } else {
      options.event = *event;
      event_chosen = true;
    }
  }
  return {};
}

std::string check_count(CommandLine* line) {
  RecordOptions& options = line->options;
  std::string name = options.event.name;
  options.period = options.event.usual_count;
  if (line->hertz) return "-F is for CPU time; for " + name + " it is -c N: so many of them to a tick";
  if (line->period.empty()) return {};
  bool number =
      line->period.size() <= 13 && line->period.find_first_not_of("0123456789") == std::string::npos;
  options.period = number ? strtoull(line->period.c_str(), nullptr, 10) : 0;
  if (options.period >= 1 && options.period <= kMostEvents) return {};
  return "-c " + line->period + ": with " + name + " a number of them, from 1 to 1000000000000";
}

std::string check_period(CommandLine* line) {
  if (!line->options.event.is_cpu_time()) return check_count(line);
  uint64_t& period = line->options.period;
  if (!line->period.empty()) {
    period = parse_duration(line->period, "ns");
    if (period < kShortestPeriodNs || period > kLongestPeriodNs)
      return "-c " + line->period + ": a period lies between 10us and 10s, for example 250us, 1ms or 1000000";
    return {};
  }
  double hertz = line->hertz.value_or(kUsualHertz);
  if (!(hertz >= 0.1 && hertz <= 100000)) return "-F: a frequency lies between 0.1 and 100000 Hz";
  period = static_cast<uint64_t>(std::llround(1e9 / hertz));
  return {};
}

/// An empty string, or what is wrong.
std::string check(CommandLine* line) {
  if (std::string wrong = check_target(line); !wrong.empty()) return wrong;
  if (std::string wrong = check_events(line); !wrong.empty()) return wrong;
  line->options.randomise = !line->fixed_period;
  line->options.children = !line->no_children;
  return check_period(line);
}

int cannot_run(const std::string& command, int error) {
  complain("cannot run {}: {}", command, error == ENOENT ? "not found" : strerror(error));
  return error == ENOENT ? kExitNotFound : kExitCannotRun;
}

int give_up(const Error& error) {
  complain("{}", error.text);
  return kExitFailed;
}

int record_command(RecordOptions options) {
  std::string command = options.command[0];
  options.program = find_program(command);
  if (options.program.empty()) return cannot_run(command, errno);
  std::vector<std::string> arguments = options.command;
  std::string program = options.program;
  Recording recording(std::move(options), &recorder_notices());
  if (auto chosen = recording.choose_engine(); !chosen) return give_up(chosen.error());
  auto child = Child::fork(program, arguments);
  if (!child) return give_up(child.error());
  if (auto opened = recording.open(Target::command(child->pid())); !opened) return give_up(opened.error());
  if (auto ran = recording.run(&*child); !ran) return cannot_run(command, ran.error().code);
  (void)recording.finish(&*child);  // what went wrong was said; the exit status is the command's
  child->wait();
  end_like(child->status());
}

Target target_of(const RecordOptions& options) {
  if (options.machine) return Target::machine();
  if (!options.cgroup.empty()) return Target::control_group(options.cgroup);
  return Target::running(options.processes);
}

int record_running(RecordOptions options) {
  if (!options.cgroup.empty() && options.cgroup[0] != '/' && access(options.cgroup.c_str(), F_OK) != 0)
    options.cgroup = "/sys/fs/cgroup/" + options.cgroup;
  Target target = target_of(options);
  auto attachment = Attachment::open(target.processes);
  if (!attachment) return give_up(attachment.error());
  Recording recording(std::move(options), &recorder_notices());
  if (auto chosen = recording.choose_engine(); !chosen) return give_up(chosen.error());
  if (auto opened = recording.open(target); !opened) return give_up(opened.error());
  recording.watch(&*attachment);
  return recording.finish(nullptr) ? 0 : kExitFailed;
}

}  // namespace

int run_record(int argc, char** argv) {
  CLI::App app(
      "pctally record [OPTIONS] [--] CMD [ARGS...]\n"
      "pctally record [OPTIONS] -p PID[,PID...] | -a | --cgroup PATH\n\n"
      "Runs CMD, or attaches to what runs already, and keeps a profile of where its CPU time goes.",
      "pctally record");
  CommandLine line;
  describe(&app, &line);
  int command = command_index(app, argc, argv);
  int options =
      command > 1 && command <= argc && std::string(argv[command - 1]) == "--" ? command - 1 : command;
  if (auto code = parse_command_line(app, std::min(options, argc), argv)) return *code;
  for (int i = command; i < argc; ++i) line.options.command.emplace_back(argv[i]);
  if (std::string wrong = check(&line); !wrong.empty()) {
    complain("{}", wrong);
    return kExitUsage;
  }
  if (line.quiet) be_quiet();
  return line.options.command.empty() ? record_running(std::move(line.options))
                                      : record_command(std::move(line.options));
}

}  // namespace pctally
