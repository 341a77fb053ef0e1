// pctally snapshot: a copy of a recording that goes on, as a profile file of its own.
#include <string.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "base/base_name.h"
#include "histread/names_bytes.h"
#include "histread/snapshot.h"
#include "profile/command.h"
#include "profile/load.h"
#include "report/print/figures.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/load_profiles.h"
#include "tool/snapshot.h"
#include "tool/terminal/message.h"

namespace pctally {
namespace {

struct Arguments {
  std::string file, out;
  bool overwrite = false;
  bool quiet = false;
};

constexpr char kHelp[] =
    R"(Copy a recording that is still running into a profile of its own, exact to the tick.

  pctally snapshot work.pct             work.1.pct: what was counted so far

          -o, --output OUT     the copy; default: FILE's name with a number, here
          -f, --force          replace OUT
          -q, --quiet          say nothing but errors

Exit: 0; 2 usage; 4 FILE cannot be read; 125 OUT cannot be written.
)";

int snapshot(const Arguments& arguments) {
  auto give_up = [](int code, const std::string& text) {
    complain("{}", text);
    return code;
  };
  Result<LiveFile> file = LiveFile::open(arguments.file.c_str());
  if (!file) return give_up(kExitInput, file.error().text);
  Result<FileCopy> copy = file->copy();
  if (!copy) return give_up(kExitInput, fmt::format("{}: {}", arguments.file, copy.error().text));
  std::string out = arguments.out.empty() ? snapshot_name(arguments.file) : arguments.out;
  close_copy(&*copy);
  const auto names = copy_names(*file, &*copy);
  if (auto written = write_snapshot(*copy, *file, out.c_str(), arguments.overwrite); !written)
    return give_up(kExitFailed, written.error().text);
  const FileHeader& header = copy->contents.header;
  const Ledger& ledger = header.ledger;
  if (header.state == FileState::kClosed && header.snapshot == 0)
    inform("{} has ended: this is a plain copy", arguments.file);
  if (header.state != FileState::kClosed)
    inform("the recorder of {} was killed; the copy says so too", arguments.file);
  uint64_t ticks = ledger.counted + ledger.outside + ledger.full + ledger.lost;
  inform("{}; next: pctally report {}", counted(ticks, "tick"), file_word(out));
  const Profile profile = load_profile(std::move(*copy));
  if (!profile.damage.empty())
    complain("{} is damaged: {}; so is the copy", arguments.file, profile.damage.front());
  if (!names)
    complain("{} is damaged: {}; the copy has no names", arguments.file, damaged_names(names.error()));
  return exit_code_of(!names || !profile.damage.empty(), 0);
}

}  // namespace

Result<void> copy_names(const LiveFile& source, FileCopy* copy) {
  const auto names = read_names_bytes(source.fd());
  if (!names) return std::unexpected(names.error());
  if (!names->empty())
    (void)append_names_bytes(*names, &copy->bytes);  // of a damaged file the copy is as damaged
  return {};
}

std::string snapshot_name(const std::string& file) {
  std::string stem(base_name(file));
  if (stem.ends_with(".pct")) stem.resize(stem.size() - 4);
  for (unsigned number = 1;; ++number) {
    std::string name = fmt::format("{}.{}.pct", stem, number);
    if (access(name.c_str(), F_OK) != 0) return name;
  }
}

int run_snapshot(int argc, char** argv) {
  let_writes_fail();
  OptionParser app("pctally snapshot");
  Arguments arguments;
  app.help_page(kHelp);
  app.add_option("FILE", arguments.file);
  app.add_option("-o,--output", arguments.out)->check(profile_to_write);
  app.add_flag("-f,--force", arguments.overwrite);
  app.add_flag("-q,--quiet", arguments.quiet);
  CommandLineHints hints{.surplus = "the copy's name goes with -o: -o {}", .unknown = {}, .missing = {}};
  if (auto code = app.parse(argc, argv, hints)) return *code;
  if (arguments.file.empty()) {
    complain("no recording named; write pctally snapshot FILE");
    return kExitUsage;
  }
  if (arguments.quiet) be_quiet();
  return snapshot(arguments);
}

}  // namespace pctally
