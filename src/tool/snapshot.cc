// pctally snapshot: a copy of a recording that goes on, as a profile file of its own.
#include <string.h>
#include <unistd.h>

#include <string>

#include "histread/snapshot.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/message.h"
#include "tool/snapshot.h"

namespace pctally {
namespace {

struct Arguments {
  std::string file, out;
  bool overwrite = false;
  bool quiet = false;
};

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
  if (auto written = write_snapshot(*copy, *file, out.c_str(), arguments.overwrite); !written)
    return give_up(kExitFailed, written.error().text);
  const FileHeader& header = copy->contents.header;
  const Ledger& ledger = header.ledger;
  if (header.state == FileState::kClosed && header.snapshot == 0)
    inform("{} is closed: this is a plain copy", arguments.file);
  if (header.state != FileState::kClosed)
    inform("{} was left by its recorder: the copy says so too", arguments.file);
  inform("{} ticks; to read them: pctally report {}",
         ledger.counted + ledger.outside + ledger.full + ledger.lost, out);
  return 0;
}

}  // namespace

std::string snapshot_name(const std::string& file) {
  std::string stem = file.substr(file.rfind('/') + 1);
  if (stem.ends_with(".pct")) stem.resize(stem.size() - 4);
  for (unsigned number = 1;; ++number) {
    std::string name = fmt::format("{}.{}.pct", stem, number);
    if (access(name.c_str(), F_OK) != 0) return name;
  }
}

int run_snapshot(int argc, char** argv) {
  let_writes_fail();
  CLI::App app("Copies a recording that goes on into a profile file of its own, exact to the tick.",
               "pctally snapshot");
  Arguments arguments;
  app.add_option("FILE", arguments.file, "Profile being recorded")->required()->option_text(" ");
  app.add_option("-o,--output", arguments.out, "The copy (default: FILE's name with a number, here)")
      ->option_text("OUT");
  app.add_flag("-f,--force", arguments.overwrite, "Overwrite an existing OUT");
  app.add_flag("-q,--quiet", arguments.quiet, "Say nothing but errors");
  app.footer("Exit status: 0; 2 wrong usage; 4 FILE cannot be read; 125 OUT cannot be written.");
  if (auto code = parse_command_line(app, argc, argv)) return *code;
  if (arguments.quiet) be_quiet();
  return snapshot(arguments);
}

}  // namespace pctally
