// pctally: picks the subcommand. Each subcommand builds its own command line, so that none pays for
// another's.
#include <stdio.h>
#include <string.h>

#include "tool/command.h"

#ifndef PCTALLY_VERSION
#define PCTALLY_VERSION "0.1.0"
#endif

namespace pctally {
namespace {

constexpr char kHelp[] =
    "pctally - where does the CPU time go, and how sure are we?\n"
    "\n"
    "  pctally record -- CMD ARGS...   run a program and keep a profile of it\n"
    "  pctally report [FILE]           print where its CPU time went\n"
    "  pctally diff OLD NEW            say what changed between two profiles, and how sure that is\n"
    "  pctally plan FILE...            say how many runs it takes to see a change\n"
    "  pctally export --format F FILE  write a profile for pprof, speedscope, kcachegrind, ...\n"
    "  pctally top FILE|-p PID|-a|...  watch where it goes, live\n"
    "  pctally snapshot FILE           copy a recording that goes on into a file of its own\n"
    "  pctally engines                 which ways of sampling work here, and why not the others\n"
    "  pctally gperf A.OUT             print the profile of a program that uses osProfile*\n"
    "  pctally prof [A.OUT]            print what monitor() of a program wrote, as prof(1) did\n"
    "\n"
    "  pctally COMMAND --help          options of a command\n"
    "  pctally --version\n"
    "\n"
    "Manual pages: pctally(1), pctally-record(1), pctally-report(1), pctally-engines(1),\n"
    "pctally-top(1), pctally-snapshot(1), pctally-gperf(1), pctally-prof(1), pctally-file(5).\n";

struct Command {
  const char* name;
  int (*run)(int argc, char** argv);
};

constexpr Command kCommands[] = {{"record", run_record}, {"report", run_report}, {"diff", run_diff},
                                 {"plan", run_plan},     {"export", run_export}, {"engines", run_engines},
                                 {"gperf", run_gperf},   {"prof", run_prof},     {"snapshot", run_snapshot},
                                 {"top", run_top}};

int run(int argc, char** argv) {
  if (argc < 2) return fputs(kHelp, stderr), kExitUsage;
  for (const Command& command : kCommands)
    if (strcmp(argv[1], command.name) == 0) return command.run(argc - 1, argv + 1);
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
    return fputs(kHelp, stdout), 0;
  if (strcmp(argv[1], "--version") == 0) return puts("pctally " PCTALLY_VERSION), 0;
  fprintf(stderr, "pctally: there is no command of that name; see pctally --help\n");
  return kExitUsage;
}

}  // namespace
}  // namespace pctally

int main(int argc, char** argv) { return pctally::run(argc, argv); }
