// pctally export: a profile in the format of another tool.
#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/base_name.h"
#include "export/formats.h"
#include "export/program_file.h"
#include "object/kernel/kernel_symbol_epoch.h"
#include "object/symbolizer.h"
#include "report/account/account.h"
#include "report/account/warnings.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/debuginfod_option.h"
#include "tool/foreign_options.h"
#include "tool/load_profiles.h"
#include "tool/terminal/message.h"
#include "tool/terminal/progress_line.h"

namespace pctally {
namespace {

constexpr char kHelp[] =
    R"(Write a profile in the format of another tool, to the tick. Several files are added up.

  pctally export --format pprof -o cpu.pb.gz work.pct     then: go tool pprof cpu.pb.gz
  pctally export --format folded work.pct | flamegraph.pl >work.svg
  pctally export --format llvm -o work.prof work.pct  then: clang -O2 -g
                             -fdebug-info-for-profiling -fprofile-sample-use=work.prof

          --format FORMAT      pprof, folded, speedscope, firefox (profiler.firefox.com),
                               perf (perf report, hotspot), callgrind (kcachegrind),
                               csv (a spreadsheet),
                               markdown (a pull request), gmon (gprof: ./work gmon.out),
                               llvm (clang builds a faster program with it)
          -o, --output FILE    the file to write (standard output)
          --names STYLE        full (default), short (default of markdown) or linkage
          --no-lines           functions alone: debug information is not read
          --limit N            markdown: most rows (30; 0: all)
          --sample-index KIND  of pprof files: which of their values (inuse_space, delay)
          --object NAME        gmon, llvm: what is written (the program)
          --debuginfod[=URLS]  download missing debug information; not for gmon and llvm

Exit: 0; 2 usage; 4 a FILE is damaged, unreadable, or not for this format; 125 failed.
)";

constexpr uint64_t kUsualLimit = 30;
constexpr double kWorthAWord = 0.01;  ///< of all ticks

struct Format {
  const char* name;
  std::string (*write)(const Profile& profile, const Samples& samples);  ///< null: see write()
  bool binary;
  bool stacks;             ///< holds callers, if the profile has them
  bool lines;              ///< and source lines
  bool addresses = false;  ///< is nothing without them
};

constexpr Format kFormats[] = {{"pprof", pprof_export, true, true, true},
                               {"folded", folded_export, false, true, true},
                               {"speedscope", speedscope_export, false, true, true},
                               {"firefox", firefox_export, false, true, true},
                               {"perf", perf_data_export, true, true, false, true},
                               {"callgrind", callgrind_export, false, false, true},
                               {"csv", csv_export, false, false, true},
                               {"markdown", nullptr, false, false, false},
                               {"gmon", nullptr, true, false, false, true},
                               {"llvm", nullptr, false, false, false, true}};

struct Arguments {
  std::vector<std::string> files;
  std::string format;
  std::string output;
  bool no_lines = false;
  std::string names;
  std::optional<size_t> limit;
  std::string object;
  std::string debuginfod;
};

std::string is_format(const std::string& text) {
  if (text == "svg" || text == "html" || text == "flamegraph")
    return text + ": the report writes it: pctally report --flamegraph FILE.svg, or --html FILE.html";
  if (text == "json") return "json: the report writes it: pctally report --json";
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return one_of(names)(text);
}

/// An option that the format does not know; null: none is given.
const char* idle_option(const Arguments& arguments) {
  const std::string& format = arguments.format;
  const bool of_object = format == "gmon" || format == "llvm";
  if (arguments.limit && format != "markdown") return "--limit";
  if (!arguments.object.empty() && !of_object) return "--object";
  if (!arguments.names.empty() && of_object) return "--names";
  if (!arguments.debuginfod.empty() && of_object) return "--debuginfod";
  return arguments.no_lines && (of_object || format == "markdown" || format == "perf") ? "--no-lines"
                                                                                       : nullptr;
}

std::optional<int> parse(int argc, char** argv, Arguments* arguments) {
  OptionParser app("pctally export");
  app.help_page(kHelp);
  app.add_option("FILE", arguments->files);
  app.add_option("--format", arguments->format)->check(is_format);
  app.add_option("-o,--output", arguments->output);
  app.add_option("--names", arguments->names)->check(one_of({"full", "short", "linkage"}));
  app.add_flag("--no-lines", arguments->no_lines);
  app.add_option("--limit", arguments->limit)->check(number_of_rows);
  app.add_option("--object", arguments->object);
  add_debuginfod_option(app, arguments->debuginfod);
  app.add_option("--sample-index", wanted_values());
  const CommandLineHints hints{.surplus = {}, .unknown = foreign_options("export"), .missing = {}};
  if (std::optional<int> code = app.parse(argc, argv, hints)) return code;
  if (!arguments->files.empty() && !arguments->format.empty()) {
    const char* idle = idle_option(*arguments);
    if (idle == nullptr) return std::nullopt;
    complain("{} changes nothing with --format {}; leave it out", idle, arguments->format);
    return kExitUsage;
  }
  complain("{}; write pctally export --format FORMAT FILE",
           arguments->format.empty() ? "no format is named" : "no profile is named");
  return kExitUsage;
}

/// The file with ticks that is called `name`; without a name that of program_file(), or else the one with
/// most ticks.
std::optional<uint32_t> find_object(const Profile& profile, const std::string& name) {
  std::map<uint32_t, uint64_t> ticks;
  for (const WeightedPosition& position : profile.positions) ticks[position.executable] += position.ticks;
  if (const auto program = program_file(profile); name.empty() && program && ticks.contains(*program))
    return program;
  std::optional<uint32_t> named, largest;
  for (const auto& [index, sum] : ticks) {
    const Executable& executable = profile.executables[index];
    if (executable.kind != ExecutableKind::kFile) continue;
    if (!largest || sum > ticks[*largest]) largest = index;
    const bool is_it = executable.path == name || base_name(executable.path) == name;
    if (is_it && (!named || sum > ticks[*named])) named = index;
  }
  return named || !name.empty() ? named : largest;
}

Result<uint32_t> chosen_object(const Profile& profile, const Arguments& arguments) {
  if (const std::optional<uint32_t> object = find_object(profile, arguments.object)) return *object;
  return fail(ENOENT, "no file%s%s has ticks; pctally report --by object lists them",
              arguments.object.empty() ? "" : " called ", arguments.object.c_str());
}

void inform_of(uint64_t written, const Profile& profile, uint32_t object) {
  inform("{}, those of {}; --object NAME writes another's",
         part_of_ticks(profile, written, profile.ledger.ticks()), profile.executables[object].path);
}

Result<std::string> write_gmon(const Profile& profile, uint32_t object) {
  Result<std::string> bytes = gmon_export(profile, object);
  if (!bytes) return bytes;
  uint64_t ticks = 0;
  for (const WeightedPosition& position : profile.positions)
    if (position.executable == object) ticks += position.ticks;
  inform_of(ticks, profile, object);
  return bytes;
}

Result<std::string> write_llvm(const Profile& profile, uint32_t object) {
  Result<LlvmProfile> made = llvm_export(profile, object, &open_symbolizer);
  if (!made) return std::unexpected(made.error());
  inform_of(made->placed, profile, object);
  return std::move(made->text);
}

Samples samples_for(const Profile& profile, const Format& format, const Arguments& arguments) {
  const bool stacks = format.stacks && profile.paths.has_scopes();
  const NameStyle names = name_style_of(arguments.names.empty() ? "full" : arguments.names);
  return (stacks ? stacks_of : samples_of)(profile, &open_symbolizer, format.lines && !arguments.no_lines,
                                           names, &is_imported);
}

Result<std::string> write(const Profile& profile, const Format& format, const Arguments& arguments) {
  if (format.addresses && has_imported(profile))
    return fail(EINVAL, "%s needs addresses, and a profile of another tool has names; write pprof or folded",
                format.name);
  if (format.write != nullptr) return format.write(profile, samples_for(profile, format, arguments));
  const std::string name = format.name;
  if (name == "gmon" || name == "llvm") {
    const Result<uint32_t> object = chosen_object(profile, arguments);
    if (!object) return std::unexpected(object.error());
    return name == "gmon" ? write_gmon(profile, *object) : write_llvm(profile, *object);
  }
  const Report report =
      make_report(profile, &open_symbolizer, {.limit = arguments.limit.value_or(kUsualLimit)});
  return markdown_export(profile, report, name_style_of(arguments.names.empty() ? "short" : arguments.names));
}

/// The share of all ticks that are in some executables.
template <class IsOne>
double share_of_ticks(const Profile& profile, IsOne&& is_one) {
  uint64_t ticks = 0;
  for (const WeightedPosition& position : profile.positions)
    if (is_one(profile.executables[position.executable])) ticks += position.ticks;
  return static_cast<double>(ticks) / static_cast<double>(std::max<uint64_t>(1, profile.ledger.ticks()));
}

/// perf looks names up in files, and code made at run time has none. Names of the kernel's addresses are
/// those of the kernel that runs where perf is started.
void warn_of_names_that_perf_lacks(const Profile& profile) {
  const double jit =
      share_of_ticks(profile, [](const Executable& code) { return code.kind == ExecutableKind::kPrivate; });
  if (jit >= kWorthAWord)
    warn(
        "perf cannot name {:.1f} % of the ticks: JIT code; --format pprof, folded and firefox have its names",
        100 * jit);
  const double kernel = share_of_ticks(profile, [&](const Executable& code) {
    return code.kind == ExecutableKind::kKernel && !is_this_boot(identity_of(profile, code).boot_id);
  });
  if (kernel >= kWorthAWord)
    warn("perf misnames {:.1f} % of the ticks: kernel code of another boot; --format pprof has its names",
         100 * kernel);
}

/// Formats of other tools have no place for it.
void warn_of_what_is_missing(const Profile& profile) {
  for (const Warning& warning : warnings_of(profile))
    if (is_of_a_part(warning)) warn("{}", warning.text);
}

}  // namespace

int run_export(int argc, char** argv) {
  let_writes_fail();
  Arguments arguments;
  if (std::optional<int> code = parse(argc, argv, &arguments)) return *code;
  if (arguments.output == "-") arguments.output.clear();
  const Format* format = kFormats;
  while (arguments.format != format->name) ++format;
  if (format->binary && arguments.output.empty() && isatty(STDOUT_FILENO) != 0) {
    complain("{} is not for a terminal: name a file with -o", format->name);
    return kExitUsage;
  }
  const ProgressLine progress;
  if (std::optional<int> code = use_debuginfod(arguments.debuginfod)) return *code;
  const Result<Profile> profile = load_as_one(arguments.files);
  if (profile && arguments.files.size() == 1) name_damage(*profile, arguments.files.front());
  const Result<std::string> bytes =
      profile ? write(*profile, *format, arguments) : std::unexpected(profile.error());
  if (!bytes) {
    complain("{}", bytes.error().text);
    return kExitInput;
  }
  warn_of_debuginfod_failure();
  warn_of_what_is_missing(*profile);
  if (arguments.format == "perf") warn_of_names_that_perf_lacks(*profile);
  const int code = arguments.output.empty() ? write_out(*bytes) : write_file(arguments.output, *bytes);
  return exit_code_of(*profile, code);
}

}  // namespace pctally
