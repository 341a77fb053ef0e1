// pctally: picks the subcommand. Each subcommand builds its own command line, so that none
// pays for another's.
#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <new>
#include <string>
#include <vector>

#include "recorder/engine/program_file.h"
#include "recorder/signals.h"
#include "report/print/ascii.h"
#include "report/print/escape.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/terminal/message.h"
#include "tool/terminal/suggest.h"

#ifndef PCTALLY_VERSION
#define PCTALLY_VERSION "0.1.0"
#endif

namespace pctally {
namespace {

constexpr char kHelp[] =
    R"(pctally - where does the CPU time go, and how sure are we?

  pctally record -- ./prog args         profile a program
  pctally report                        print the newest profile here
  pctally record -p PID --for 10        profile a running process for 10 seconds
  pctally top -p PID                    watch it live
  pctally diff old.pct new.pct          what changed, and is it real?

Measure   record     keep a profile of a program, process, control group, machine
          top        the same, live
          snapshot   copy a recording that is still running
          engines    what works on this machine, and what to do for more
Read      report     where the time went: by function, line, object or process
          annotate   a function's source lines and instructions
          diff       compare runs, with confidence intervals; plan: how many runs
Share     export     pprof, folded, firefox, callgrind, gmon, markdown ...
          merge      several profiles as one file
          archive    a profile with all it takes to read it elsewhere
Classic   prof       print mon.out, gmon.out and profiles, as prof(1) did
          gperf      print the profile of a program that calls osProfile (Nintendo 64)

pctally COMMAND --help, man pctally-COMMAND.    --version    NO_COLOR
)";

struct Command {
  const char* name;
  int (*run)(int argc, char** argv);
};

constexpr Command kCommands[] = {{"record", run_record},     {"report", run_report}, {"diff", run_diff},
                                 {"annotate", run_annotate}, {"plan", run_plan},     {"export", run_export},
                                 {"engines", run_engines},   {"gperf", run_gperf},   {"prof", run_prof},
                                 {"snapshot", run_snapshot}, {"top", run_top},       {"merge", run_merge},
                                 {"archive", run_archive}};

/// Takes no memory: there is none.
[[noreturn]] void say_out_of_memory() {
  constexpr char kLine[] = "pctally: out of memory; give it more (ulimit -v), or a smaller profile\n";
  (void)!write(STDERR_FILENO, kLine, sizeof kLine - 1);
  _exit(kExitFailed);
}

/// Commands of other profilers, and what does the same here.
constexpr struct {
  const char* name;
  const char* instead;
} kElsewhere[] = {
    {"stat", "pctally record -e EVENT counts events, and pctally report prints their sum"},
    {"list", "pctally engines lists what can be recorded here"},
    {"script", "pctally export --format folded prints every stack, pctally report --json every row"},
};

/// What other profilers call it.
constexpr struct {
  const char *name, *ours;
} kOtherNames[] = {
    {"attach", "record -p PID"},
    {"callers", "report --callers FUNCTION"},
    {"compare", "diff OLD NEW"},
    {"disasm", "annotate FUNCTION"},
    {"html", "report --html FILE.html"},
    {"flamegraph", "report --flamegraph FILE.html"},
    {"load", "report FILE, or report --html FILE.html for a browser"},
    {"peek", "report --callers FUNCTION"},
    {"profile", "record -- COMMAND"},
    {"run", "record -- COMMAND"},
    {"tree", "report --tree"},
    {"web", "report --html FILE.html"},
    {"weblist", "report --html FILE.html"},
};

const Command* find_command(const char* name) {
  for (const Command& command : kCommands)
    if (strcmp(name, command.name) == 0) return &command;
  return nullptr;
}

std::string suggestion(const std::string& word) {
  std::vector<std::string> names = {"help", "version"};
  for (const Command& command : kCommands) names.emplace_back(command.name);
  return nearest(word, names);
}

std::string joined(int argc, char** argv) {
  std::string text;
  for (int i = 1; i < argc; ++i) text.append(i > 1 ? " " : "").append(argv[i]);
  return text;
}

/// Prints why the first word is no command, and what to write instead. Returns the exit status.
int print_unknown_command(int argc, char** argv) {
  std::string word = argv[1], near = suggestion(word);
  for (const auto& missing : kElsewhere)
    if (word == missing.name) {
      complain("there is no '{}' yet; {}", word, missing.instead);
      return kExitUsage;
    }
  for (const auto& other : kOtherNames)
    if (word == other.name) {
      complain("'{}' is no pctally command; write pctally {}", word, other.ours);
      return kExitUsage;
    }
  bool path = word.find('/') != std::string::npos, exists = access(word.c_str(), F_OK) == 0;
  if (exists && word.ends_with(".pct"))
    complain("'{}' is a profile, not a command; to read it: pctally report {}", word, word);
  else if (word[0] == '-')
    complain("'{}' is no option here; write the command first: pctally COMMAND {}, or see pctally --help",
             word, word);
  else if (!near.empty() && !path)
    complain("'{}' is no pctally command; did you mean '{}'?", word, near);
  else if (!find_program(word).empty())
    complain("'{}' is a program, not a command; to profile it: pctally record -- {}", word,
             joined(argc, argv));
  else
    complain("'{}' is no pctally command; see pctally --help", word);
  return kExitUsage;
}

/// "help record" is "record --help".
int help(int argc, char** argv) {
  const Command* command = argc > 2 ? find_command(argv[2]) : nullptr;
  if (argc <= 2 || strcmp(argv[2], "help") == 0) return write_out(kHelp);
  if (command == nullptr) return print_unknown_command(argc - 1, argv + 1);
  char option[] = "--help";
  char* words[] = {argv[2], option, nullptr};
  return command->run(2, words);
}

bool is_one_of(const char* word, std::initializer_list<const char*> words) {
  for (const char* other : words)
    if (strcmp(word, other) == 0) return true;
  return false;
}

int run(int argc, char** argv) {
  if (argc < 2) return write_out(kHelp);
  if (const Command* command = find_command(argv[1])) return command->run(argc - 1, argv + 1);
  if (is_one_of(argv[1], {"--help", "-h", "help"})) return help(argc, argv);
  if (is_one_of(argv[1], {"--version", "-V", "version"})) return write_out("pctally " PCTALLY_VERSION "\n");
  return print_unknown_command(argc, argv);
}

/// Standard streams that are closed stay so for whoever reads or writes them, and for the command; but no
/// file that is opened later takes their numbers, or messages would go into the profile.
void keep_numbers_of_closed_streams() {
  for (int fd = 0; fd <= STDERR_FILENO;) {
    fd = open("/", O_PATH | O_CLOEXEC);
    if (fd > STDERR_FILENO) close(fd);
    if (fd < 0) return;
  }
}

}  // namespace
}  // namespace pctally

int main(int argc, char** argv) {
  pctally::keep_numbers_of_closed_streams();
  pctally::await_children();
  std::set_new_handler(pctally::say_out_of_memory);
  pctally::elide_in_ascii(!pctally::locale_is_utf8());
  return pctally::run(argc, argv);
}
