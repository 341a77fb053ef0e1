#include "tool/command_line.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/write_all.h"
#include "tool/command.h"
#include "tool/message.h"

namespace pctally {

std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return write_out(app.help());
  } catch (const CLI::ParseError& error) {
    complain("{}; see {} --help", error.what(), app.get_name());
    return kExitUsage;
  }
  return std::nullopt;
}

void let_writes_fail() {
  for (int writing : {SIGPIPE, SIGXFSZ}) signal(writing, SIG_IGN);
}

void let_writes_kill() {
  for (int writing : {SIGPIPE, SIGXFSZ}) signal(writing, SIG_DFL);
}

bool wants_color(const std::string& when) {
  if (when != "auto") return when == "always";
  auto is_set = [](const char* name) { return getenv(name) != nullptr && *getenv(name) != 0; };
  if (is_set("NO_COLOR")) return false;
  if (is_set("CLICOLOR_FORCE") && strcmp(getenv("CLICOLOR_FORCE"), "0") != 0) return true;
  return isatty(STDOUT_FILENO) != 0 && is_set("TERM") && strcmp(getenv("TERM"), "dumb") != 0;
}

size_t terminal_width() {
  struct winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int write_out(std::string_view text) {
  if (write_all(STDOUT_FILENO, text.data(), text.size())) return 0;
  complain("cannot write to standard output: {}", strerror(errno));
  return kExitFailed;
}

}  // namespace pctally
