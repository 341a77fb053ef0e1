#include "tool/terminal/message.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file/write_all.h"
#include "report/print/escape.h"
#include "tool/terminal/progress_line.h"

namespace pctally {
namespace {

bool g_quiet = false;
bool g_verbose = false;

void put(const std::string& bytes) { (void)write_all(STDERR_FILENO, bytes.data(), bytes.size()); }

class TerminalNotices : public Notices {
 public:
  void line(const std::string& text, Importance importance) override { say_line(text, importance); }
  void progress(const std::string& text) override { ProgressLine::show_now(text); }
};

bool colored() {
  const char* no_color = getenv("NO_COLOR");
  const char* terminal = getenv("TERM");
  bool refused =
      (no_color != nullptr && *no_color != '\0') || terminal == nullptr || strcmp(terminal, "dumb") == 0;
  return !refused && isatty(STDERR_FILENO) == 1;
}

}  // namespace

void be_quiet() { g_quiet = true; }

bool is_quiet() { return g_quiet; }

void be_verbose() { g_verbose = true; }

void say_line(const std::string& text, Importance importance) {
  if (importance == Importance::kDetail && !g_verbose) return;
  if (importance != Importance::kError && g_quiet) return;
  std::string start = "pctally: ";
  if (importance == Importance::kWarning) start += colored() ? "\033[33mwarning:\033[0m " : "warning: ";
  ProgressLine::give_way([&] { put(start + escaped(text) + "\n"); });
}

Notices& recorder_notices() {
  static TerminalNotices notices;
  return notices;
}

}  // namespace pctally
