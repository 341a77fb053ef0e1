// pctally export: a profile in the format of another tool.
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "export/formats.h"
#include "object/symbolizer.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/load_profiles.h"
#include "tool/message.h"

namespace pctally {
namespace {

struct Format {
  const char* name;
  std::string (*write)(const Profile& profile, const Samples& samples);
  bool binary;
  bool stacks;  ///< holds callers, if the profile has them
};

constexpr Format kFormats[] = {{"pprof", pprof_export, true, true},
                               {"folded", folded_export, false, true},
                               {"speedscope", speedscope_export, false, true},
                               {"callgrind", callgrind_export, false, false},
                               {"csv", csv_export, false, false}};

struct Arguments {
  std::vector<std::string> files;
  std::string format;
  std::string output;
  bool no_lines = false;
  std::string names = "full";
};

std::optional<int> parse(int argc, char** argv, Arguments* arguments) {
  OptionParser app("pctally export", "Writes a profile in the format of another tool.");
  app.footer(
      "pprof: go tool pprof FILE; folded: flamegraph.pl FILE; speedscope: speedscope.app; callgrind:\n"
      "kcachegrind FILE; csv: a spreadsheet. Exit status: 0; 2 wrong usage; 4 FILE cannot be read;\n"
      "125 the output cannot be written. See pctally-export(1).");
  app.add_option("FILE", arguments->files, "Profile to read; several are added up")
      ->required()
      ->option_text(" ");
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  app.add_option("--format", arguments->format, "pprof, folded, speedscope, callgrind or csv")
      ->required()
      ->check(one_of(names))
      ->option_text("FORMAT");
  app.add_option("-o,--output", arguments->output, "File to write (default: standard output)")
      ->option_text("FILE");
  app.add_option("--names", arguments->names, "How functions are called: full (default), short, or linkage")
      ->check(one_of({"full", "short", "linkage"}))
      ->option_text("STYLE");
  app.add_flag("--no-lines", arguments->no_lines, "Functions alone: does not read debug information");
  return app.parse(argc, argv);
}

}  // namespace

int run_export(int argc, char** argv) {
  let_writes_fail();
  Arguments arguments;
  if (std::optional<int> code = parse(argc, argv, &arguments)) return *code;
  const Format* format = kFormats;
  while (arguments.format != format->name) ++format;
  if (format->binary && arguments.output.empty() && isatty(STDOUT_FILENO) != 0) {
    complain("{} is not for a terminal: name a file with -o", format->name);
    return kExitUsage;
  }
  const Result<Profile> profile = load_as_one(arguments.files);
  if (!profile) {
    complain("{}", profile.error().text);
    return kExitInput;
  }
  const bool stacks = format->stacks && profile->paths.recorded;
  const Samples samples = (stacks ? stacks_of : samples_of)(*profile, &Symbolizer::open, !arguments.no_lines,
                                                            name_style_of(arguments.names));
  std::string bytes = format->write(*profile, samples);
  return arguments.output.empty() ? write_out(bytes) : write_file(arguments.output, bytes);
}

}  // namespace pctally
