// pctally archive: a profile with all that it takes to read it elsewhere.
#include <sys/stat.h>

#include <set>
#include <string>
#include <vector>

#include "histread/names_bytes.h"
#include "histread/snapshot.h"
#include "profile/command.h"
#include "report/print/figures.h"
#include "tool/archive/contents.h"
#include "tool/archive/directories.h"
#include "tool/archive/private_parts.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/debuginfod_option.h"
#include "tool/load_profiles.h"
#include "tool/profile_names.h"
#include "tool/terminal/message.h"
#include "tool/terminal/progress_line.h"

namespace pctally {
namespace {

constexpr char kHelp[] =
    R"(Put into a profile what it takes to read it elsewhere, or once its programs have changed:
names, lines, inlined functions, and code and sources of functions from 0.5 % on.

  pctally archive work.pct              work.pct is replaced; prints what was put in
  pctally archive -o share.pct work.pct

          -o, --output OUT     the file to write; default: FILE
          -f, --force          replace OUT
          --no-sources         without the text of source files
          --no-command         without the command line
          --strip-paths        without the directories of programs and sources
          --debuginfod[=URLS]  download missing debug information (DEBUGINFOD_URLS)
          -q, --quiet          say nothing but errors

Exit: 0; 2 usage; 4 FILE cannot be read, or is damaged; 125 OUT cannot be written.
)";

struct Arguments {
  std::string file, out, debuginfod;
  bool overwrite = false;
  bool no_sources = false, no_command = false, strip_paths = false;
  bool quiet = false;
};

int give_up(int code, const std::string& text) {
  complain("{}", text);
  return code;
}

/// The bytes of a recording that has ended, in order or not.
Result<FileCopy> copy_of(const std::string& file) {
  Result<LiveFile> open = LiveFile::open(file.c_str());
  if (!open) return std::unexpected(open.error());
  Result<FileCopy> copy = open->copy();
  if (!copy) return fail(copy.error().code, "%s: %s", file.c_str(), copy.error().text);
  if (copy->recorder_alive && copy->contents.header.state != FileState::kClosed)
    return fail(EBUSY, "%s is still being recorded; take a copy first: pctally snapshot %s", file.c_str(),
                file.c_str());
  close_copy(&*copy);
  return copy;
}

void list(const Profile& profile, const ArchiveContents& contents, const Arguments& arguments) {
  std::set<std::string> lines;
  for (std::vector<std::string> words : commands_of(profile)) {
    if (arguments.no_command) break;
    if (arguments.strip_paths) words[0] = without_directories(words[0]);
    const std::string line = command_line(words);
    if (lines.insert(line).second) inform("command line: {}", line);
  }
  for (const std::string& path : contents.sources()) inform("source: {}", path);
  for (const std::string& why : contents.left_out()) inform("not in it: {}", why);
}

bool is_file_of_another_tool(const std::string& file) {
  const Result<Profile> profile = load_any(file);
  return profile && is_of_another_tool(*profile);
}

int archive(const Arguments& arguments) {
  Result<FileCopy> copy = copy_of(arguments.file);
  if (!copy && is_file_of_another_tool(arguments.file))
    return give_up(kExitInput,
                   arguments.file + " is a profile of another tool; archive needs one of pctally record");
  if (!copy) return give_up(kExitInput, copy.error().text);
  const Result<Profile> profile = load_any(arguments.file);
  if (!profile) return give_up(kExitInput, profile.error().text);
  if (!profile->damage.empty())
    return give_up(kExitInput, fmt::format("{} is damaged: {}; nothing is written", arguments.file,
                                           profile->damage.front()));
  const ArchiveContents contents(*profile,
                                 {.sources = !arguments.no_sources, .strip_paths = arguments.strip_paths});
  if (!contents.section())
    return give_up(kExitFailed, not_written(arguments.out.empty() ? arguments.file : arguments.out,
                                            contents.section().error()));
  std::vector<unsigned char> bytes = std::move(copy->bytes);
  if (arguments.no_command) remove_command(&bytes);
  if (arguments.strip_paths) remove_directories(&bytes);
  if (!contents.section()->empty() && !append_names_bytes(*contents.section(), &bytes))
    return give_up(kExitInput, fmt::format("{}: its header is damaged; nothing was added", arguments.file));
  const std::string& out = arguments.out.empty() ? arguments.file : arguments.out;
  if (auto written = write_profile(bytes, out.c_str(), arguments.overwrite || out == arguments.file);
      !written)
    return give_up(kExitFailed, written.error().text);
  list(*profile, contents, arguments);
  inform("{}, {}; next: pctally report {}", out, counted(contents.sources().size(), "source"),
         file_word(out));
  return 0;
}

}  // namespace

int run_archive(int argc, char** argv) {
  let_writes_fail();
  OptionParser app("pctally archive");
  Arguments arguments;
  app.help_page(kHelp);
  app.add_option("FILE", arguments.file);
  app.add_option("-o,--output", arguments.out)->check(profile_to_write);
  app.add_flag("-f,--force", arguments.overwrite);
  app.add_flag("--no-sources", arguments.no_sources);
  app.add_flag("--no-command", arguments.no_command);
  app.add_flag("--strip-paths", arguments.strip_paths);
  add_debuginfod_option(app, arguments.debuginfod);
  app.add_flag("-q,--quiet", arguments.quiet);
  CommandLineHints hints{
      .surplus = "one profile at a time; {} is one too many", .unknown = {}, .missing = {}};
  if (auto code = app.parse(argc, argv, hints)) return *code;
  if (arguments.file.empty()) {
    complain("no profile named; write pctally archive FILE");
    return kExitUsage;
  }
  if (arguments.quiet) be_quiet();
  const ProgressLine progress;
  if (std::optional<int> code = use_debuginfod(arguments.debuginfod)) return *code;
  const int code = archive(arguments);
  warn_of_debuginfod_failure();
  return code;
}

}  // namespace pctally
