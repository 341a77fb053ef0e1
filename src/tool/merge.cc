// pctally merge: several profiles as one file.
#include <algorithm>
#include <string>
#include <vector>

#include "histread/names_bytes.h"
#include "histread/snapshot.h"
#include "profile/command.h"
#include "profile/merge.h"
#include "profile/write.h"
#include "report/print/figures.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/load_profiles.h"
#include "tool/profile_names.h"
#include "tool/terminal/message.h"
#include "tool/terminal/progress_line.h"

namespace pctally {
namespace {

constexpr char kHelp[] =
    R"(Add up profiles: any number of runs and machines, in any order, as one file.

  pctally merge -o all.pct a.pct b.pct  all.pct: the sum, and what is known of each run
  pctally merge -f -o all.pct all.pct c.pct

          -o, --output OUT     the file to write
          -f, --force          replace OUT
          --no-paths           leave call paths out
          --memory SIZE        most memory to take (1G); beyond it an error
          -q, --quiet          say nothing but errors

Exit: 0; 2 usage; 4 a FILE cannot be read or added; 125 OUT cannot be written.
)";

struct Arguments {
  std::vector<std::string> files;
  std::string out;
  std::string memory;
  bool overwrite = false;
  bool no_paths = false;
  bool quiet = false;
};

std::string is_size(const std::string& text) {
  return bytes_of(text) != 0 ? "" : text + ": not a size; write 512M or 4G";
}

int merge(const Arguments& arguments) {
  SumOptions options{.remedy = "allow more with --memory, or merge fewer files",
                     .paths = !arguments.no_paths};
  if (!arguments.memory.empty()) options.most_bytes = bytes_of(arguments.memory);
  const Result<Profile> sum = load_sum(arguments.files, options);
  if (!sum) {
    complain("{}", sum.error().text);
    return kExitInput;
  }
  if (!sum->damage.empty()) {
    complain("{} is not written; leave the damaged files out", arguments.out);
    return kExitInput;
  }
  const auto imported = std::find_if(sum->executables.begin(), sum->executables.end(), is_imported);
  if (imported != sum->executables.end()) {
    complain(
        "a profile of another tool has names, and merge writes addresses; pctally report A B adds them up");
    return kExitInput;
  }
  const uint64_t used = memory_of(*sum) + kept_names().memory();
  auto bytes = merged_file(*sum, options.most_bytes - std::min(options.most_bytes, used));
  if (!bytes) {
    complain("{}", bytes.error().text);
    return kExitInput;
  }
  const Result<ProfileNames> names =
      names_of_sum(*sum, &open_symbolizer, kept_names(),
                   options.most_bytes - std::min(options.most_bytes, used + bytes->size()));
  if (!names && names.error().code == ENOMEM) {
    complain("the names of the sum take more than {}; allow more with --memory, or merge fewer files",
             arguments.memory.empty() ? "1G" : arguments.memory);
    return kExitInput;
  }
  if (!names) {
    complain("{}", not_written(arguments.out, names.error()));
    return kExitFailed;
  }
  if (!names->section.empty()) (void)append_names_bytes(names->section, &*bytes);  // our own file
  if (auto written = write_profile(*bytes, arguments.out.c_str(), arguments.overwrite); !written) {
    complain("{}", written.error().text);
    return kExitFailed;
  }
  uint64_t ticks = 0;
  for (const ProfileRun& run : sum->runs) ticks += run.ledger.ticks();
  inform("{} of {}; next: pctally report {}", counted(ticks, "tick"), counted(sum->runs.size(), "run"),
         file_word(arguments.out));
  return 0;
}

}  // namespace

int run_merge(int argc, char** argv) {
  let_writes_fail();
  OptionParser app("pctally merge");
  Arguments arguments;
  app.help_page(kHelp);
  app.add_option("FILE", arguments.files);
  app.add_option("-o,--output", arguments.out)->check(profile_to_write);
  app.add_option("--memory", arguments.memory)->check(is_size);
  app.add_flag("-f,--force", arguments.overwrite);
  app.add_flag("--no-paths", arguments.no_paths);
  app.add_flag("-q,--quiet", arguments.quiet);
  if (auto code = app.parse(argc, argv)) return *code;
  if (arguments.files.empty() || arguments.out.empty()) {
    complain("{}; write pctally merge -o OUT FILE...",
             arguments.out.empty() ? "no file to write is named" : "no profiles are named");
    return kExitUsage;
  }
  if (arguments.quiet) be_quiet();
  const ProgressLine progress;
  return merge(arguments);
}

}  // namespace pctally
