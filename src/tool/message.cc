#include "tool/message.h"

#include <unistd.h>

#include "base/write_all.h"
#include "recorder/notices.h"
#include "report/escape.h"

namespace pctally {
namespace {

bool g_quiet = false;
bool g_progress_shown = false;

void put(const std::string& bytes) { (void)write_all(STDERR_FILENO, bytes.data(), bytes.size()); }

class TerminalNotices : public Notices {
 public:
  void line(const std::string& text, bool error) override { say_line(text, error); }
  void progress(const std::string& text) override { show_progress(text); }
};

}  // namespace

void be_quiet() { g_quiet = true; }

void say_line(const std::string& text, bool error) {
  if (g_quiet && !error) return;
  put((g_progress_shown ? "\r\033[Kpctally: " : "pctally: ") + escaped(text) + "\n");
  g_progress_shown = false;
}

void show_progress(const std::string& text) {
  static const bool wanted = isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) == 0;
  if (!wanted || g_quiet) return;
  put("\r\033[Kpctally: " + escaped(text));
  g_progress_shown = true;
}

Notices& recorder_notices() {
  static TerminalNotices notices;
  return notices;
}

}  // namespace pctally
