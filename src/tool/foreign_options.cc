#include "tool/foreign_options.h"

#include <sstream>

namespace pctally {
namespace {

struct Foreign {
  const char* subcommand;
  const char* options;  ///< separated by blanks
  const char* instead;
};

constexpr Foreign kForeign[] = {
    {"report", "-i --input", "name the profile without an option: pctally report FILE"},
    {"report", "--stdio --tui --gtk -text --text -top --top -p --flat-profile",
     "the report is such a table; leave it out (--limit N: N rows)"},
    {"report", "-g --call-graph -G --inverted -q --graph",
     "write --callers FUNCTION, --tree or --bottom-up (profiles of record -g)"},
    {"report", "--no-children -flat --flat", "rows are in the order of self time; leave it out"},
    {"report", "--children -cum --cum", "write --sort total: the time with callees (profiles of record -g)"},
    {"report", "-s", "write --by function, object, line, process, program or thread"},
    {"report", "-n --show-nr-samples", "ticks are always shown; leave it out (--limit N: N rows)"},
    {"report", "--percent-limit", "write --min-share PERCENT"},
    {"report", "-nodecount --nodecount -E --entries", "write --limit N"},
    {"report", "--comm --comms", "write --program REGEX (profiles of record -g, or --scope program)"},
    {"report", "--tid -T --threads",
     "write --by thread, or --thread REGEX (profiles of record --scope thread)"},
    {"report", "--dso --dsos -d", "write --object REGEX"},
    {"report", "-S --symbols --symbol-filter", "write --filter REGEX"},
    {"report", "-o --output", "write pctally report FILE >OUTPUT; a page: --html OUTPUT.html"},
    {"report", "--csv -t --field-separator -F --fields", "write pctally export --format csv FILE"},
    {"report", "-raw --raw -traces --traces -proto --proto -callgrind --callgrind",
     "write pctally export --format pprof, folded, callgrind, ..."},
    {"report", "-list --list -disasm --disasm -A --annotated-source", "write pctally annotate FUNCTION FILE"},
    {"report", "-weblist --weblist -web --web -http --http", "write --html FILE.html: a page for a browser"},
    {"report", "-peek --peek", "write --callers FUNCTION (profiles of record -g)"},
    {"report", "-base --base -diff_base --diff_base", "write pctally diff OLD NEW"},
    {"report", "-svg --svg -png --png -pdf --pdf -dot --dot",
     "write --flamegraph FILE.svg (profiles of record -g)"},
    {"report", "-lines --lines", "write --by line"},
    {"report", "-functions --functions", "rows are functions; leave it out"},

    {"annotate", "-s --symbol -list --list",
     "name the function without an option: pctally annotate FUNCTION"},
    {"annotate", "-i --input", "name the profile behind the function: pctally annotate FUNCTION FILE"},
    {"annotate", "--stdio --tui --gtk -l --print-line", "that is how it is printed; leave it out"},
    {"annotate", "-M --disassembler-style", "write --intel"},
    {"annotate", "-d --dso --dsos", "write --object REGEX"},

    {"diff", "-base --base -diff_base --diff_base", "name the older first: pctally diff OLD NEW"},
    {"diff", "-c --compute", "each row has its change, with an interval and a verdict; leave it out"},
    {"diff", "-s --sort", "write --by function, object, line, process, command or program"},
    {"diff", "--threshold", "write --fail-if 'total > +3%'"},

    {"record", "--duration -d --timeout --seconds --time", "for a time write --for SECONDS"},
    {"record", "-r --rate --hz", "write -F HZ"},
    {"record", "-i --no-inherit", "write --no-children"},
    {"record", "-t --tid -s --stat --per-thread --by",
     "record the process (-p PID) with --scope thread, then pctally report --by thread"},
    {"record", "-u --uid", "users cannot be chosen; name processes: -p PID,PID or -p NAME"},
    {"record", "-C --cpu", "CPUs cannot be chosen; leave it out"},
    {"record", "-D --delay", "a recording starts at once; to start later: pctally record -p PID"},
    {"record", "--overwrite", "write -f (--force)"},
    {"record", "-m --mmap-pages --stack-size -B -N",
     "there is no such size to set; leave it out (for call paths: --paths-memory)"},
    {"record", "--all-cpus", "write -a (--all)"},
    {"record", "-G", "write --cgroup NAME"},
    {"record", "-z --compression-level", "profiles are small as they are; leave it out"},
    {"record", "--all-user --all-kernel --kernel",
     "both are recorded; pctally report --by object shows the kernel's share"},

    {"top", "-d --delay", "write --interval SECONDS"},
    {"top", "-n", "write --count N: end after N tables"},
    {"top", "-s --sort", "write --by function, object, line, process or thread"},
    {"top", "-E --entries", "write --limit N"},
    {"top", "-u --uid", "users cannot be chosen; name processes: -p PID,PID or -p NAME"},

    {"export", "-f -F", "write --format FORMAT"},
    {"export", "--pprof --proto", "write --format pprof"},
    {"export", "--folded --collapsed", "write --format folded"},
    {"export", "--callgrind", "write --format callgrind"},
    {"export", "--csv", "write --format csv"},
    {"export", "-i --input", "name the profile without an option: pctally export --format FORMAT FILE"},
};

constexpr struct {
  const char *theirs, *own;
} kWords[] = {
    {"sym", "function"},    {"symbol", "function"},  {"dso", "object"},        {"module", "object"},
    {"library", "object"},  {"binary", "object"},    {"srcline", "line"},      {"comm", "command"},
    {"pid", "process"},     {"tid", "thread"},       {"overhead", "ticks"},    {"self", "ticks"},
    {"flat", "ticks"},      {"samples", "ticks"},    {"cum", "total"},         {"cumulative", "total"},
    {"children", "total"},  {"collapsed", "folded"}, {"perf.data", "perf"},    {"proto", "pprof"},
    {"pb", "pprof"},        {"pb.gz", "pprof"},      {"gecko", "firefox"},     {"samply", "firefox"},
    {"md", "markdown"},     {"gmon.out", "gmon"},    {"yes", "always"},        {"no", "never"},
    {"mangled", "linkage"}, {"pf", "page-faults"},   {"faults", "page-faults"}};

}  // namespace

std::map<std::string, std::string> foreign_options(const std::string& subcommand) {
  std::map<std::string, std::string> hints;
  for (const Foreign& foreign : kForeign) {
    if (subcommand != foreign.subcommand) continue;
    std::istringstream options(foreign.options);
    for (std::string option; options >> option;) hints[option] = foreign.instead;
  }
  return hints;
}

std::string own_word(const std::string& word) {
  for (const auto& other : kWords)
    if (word == other.theirs) return other.own;
  return "";
}

}  // namespace pctally
