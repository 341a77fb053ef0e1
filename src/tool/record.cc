// pctally record: run a program and keep a profile of it.
#include <errno.h>
#include <string.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "engine/program_file.h"
#include "tool/command.h"
#include "tool/message.h"
#include "tool/recording.h"

namespace pctally {
namespace {

/// "250us", "1ms", "0.5s" or plain nanoseconds; 0 if it is none of these.
uint64_t parse_period(const std::string& text) {
  char* end = nullptr;
  double value = strtod(text.c_str(), &end);
  std::string unit = end;
  double factor = unit.empty() || unit == "ns" ? 1
                  : unit == "us"               ? 1e3
                  : unit == "ms"               ? 1e6
                  : unit == "s"                ? 1e9
                                               : 0;
  double ns = value * factor;
  bool sensible = end != text.c_str() && std::isfinite(ns) && ns >= static_cast<double>(kShortestPeriodNs) &&
                  ns <= static_cast<double>(kLongestPeriodNs);
  return sensible ? static_cast<uint64_t>(std::llround(ns)) : 0;
}

struct CommandLine {
  RecordOptions options;
  double hertz = 1000;
  std::string period;
  bool no_children = false;
  bool fixed_period = false;
  bool quiet = false;
};

void describe(CLI::App* app, CommandLine* line) {
  app->add_option("-F,--frequency", line->hertz, "ticks per second of CPU time (default 1000)")
      ->type_name("HZ");
  app->add_option("-c,--period", line->period, "CPU time per tick instead: 250us, 1ms, or nanoseconds")
      ->type_name("PERIOD")
      ->excludes("-F");
  app->add_option("-e,--engine", line->options.engine, "ring or timer (default: the first that works)")
      ->type_name("ENGINE");
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

/// An empty string, or what is wrong.
std::string check(CommandLine* line) {
  if (line->options.command.empty()) return "no command to record; see pctally record --help";
  if (!line->period.empty()) {
    line->options.period_ns = parse_period(line->period);
    if (line->options.period_ns == 0)
      return "-c " + line->period + ": a period lies between 10us and 10s, for example 250us, 1ms or 1000000";
  } else {
    if (!(line->hertz >= 0.1 && line->hertz <= 100000))
      return "-F: a frequency lies between 0.1 and 100000 Hz";
    line->options.period_ns = static_cast<uint64_t>(std::llround(1e9 / line->hertz));
  }
  line->options.randomise = !line->fixed_period;
  line->options.children = !line->no_children;
  return {};
}

int cannot_run(const std::string& command, int error) {
  complain("cannot run {}: {}", command, error == ENOENT ? "not found" : strerror(error));
  return error == ENOENT ? kExitNotFound : kExitCannotRun;
}

int record(RecordOptions options) {
  std::string command = options.command[0];
  options.program = find_program(command);
  if (options.program.empty()) return cannot_run(command, errno);
  std::vector<std::string> arguments = options.command;
  std::string program = options.program;
  Recording recording(std::move(options));
  auto give_up = [](const Error& error) {
    complain("{}", error.text);
    return kExitFailed;
  };
  if (auto chosen = recording.choose_engine(); !chosen) return give_up(chosen.error());
  auto child = Child::fork(program, arguments);
  if (!child) return give_up(child.error());
  if (auto opened = recording.open(&*child); !opened) return give_up(opened.error());
  if (auto ran = recording.run(&*child); !ran) return cannot_run(command, ran.error().code);
  recording.finish(*child);
  end_like(child->status());
}

}  // namespace

int run_record(int argc, char** argv) {
  CLI::App app(
      "pctally record [OPTIONS] [--] CMD [ARGS...]\n\nRuns CMD and keeps a profile of where its CPU time "
      "goes.",
      "pctally record");
  CommandLine line;
  describe(&app, &line);
  int command = command_index(app, argc, argv);
  int options =
      command > 1 && command <= argc && std::string(argv[command - 1]) == "--" ? command - 1 : command;
  try {
    app.parse(std::min(options, argc), argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    complain("{}; see pctally record --help", error.what());
    return kExitUsage;
  }
  for (int i = command; i < argc; ++i) line.options.command.emplace_back(argv[i]);
  if (std::string wrong = check(&line); !wrong.empty()) {
    complain("{}", wrong);
    return kExitUsage;
  }
  if (line.quiet) be_quiet();
  return record(std::move(line.options));
}

}  // namespace pctally
