#include "tool/terminal/progress_line.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file/write_all.h"
#include "base/mutex.h"
#include "base/time_ns.h"
#include "report/print/escape.h"
#include "report/print/figures.h"
#include "tool/terminal/message.h"

namespace pctally {
namespace {

constexpr uint64_t kBetweenNs = kNsPerSecond / 10;  ///< from one line to the next

Mutex g_mutex;
int g_terminal GUARDED_BY(g_mutex) = -1;  ///< -1: there is no line
std::string& text() REQUIRES(g_mutex) {
  static std::string text;
  return text;
}
/// What stands on the terminal.
std::string& painted() REQUIRES(g_mutex) {
  static std::string painted;
  return painted;
}

bool can_rewrite_lines(int terminal) {
  const char* type = getenv("TERM");
  return isatty(terminal) == 1 && type != nullptr && *type != '\0' && strcmp(type, "dumb") != 0;
}

void put_there(const std::string& bytes) REQUIRES(g_mutex) {
  (void)write_all(g_terminal, bytes.data(), bytes.size());
}

void erase() REQUIRES(g_mutex) {
  if (!painted().empty()) put_there("\r\033[K");
  painted().clear();
}

/// Cut to one line of the terminal: what has wrapped cannot be erased.
std::string fitting(const std::string& line) REQUIRES(g_mutex) {
  winsize size{};
  if (ioctl(g_terminal, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return line;
  return elided(line, size.ws_col - 1u);
}

/// False in the background: the terminal is another's. Where that is not known it is ours.
bool is_in_front() REQUIRES(g_mutex) {
  const pid_t group = tcgetpgrp(g_terminal);
  return group < 0 || group == getpgrp();
}

void paint() {
  const MutexLock lock(g_mutex);
  if (text().empty() || text() == painted() || !is_in_front()) return;
  put_there("\r\033[K" + fitting("pctally: " + escaped(text())));
  painted() = text();
}

/// True if the line is to end.
bool wait(int ended, uint64_t ns) {
  pollfd event{ended, POLLIN, 0};
  return poll(&event, 1, to_poll_ms(ns)) > 0;
}

}  // namespace

ProgressLine::ProgressLine() : delay_ns_(kNsPerSecond) {
  if (!is_quiet() && can_rewrite_lines(STDERR_FILENO)) start(STDERR_FILENO);
}

ProgressLine::ProgressLine(int terminal, uint64_t delay_ns) : delay_ns_(delay_ns) { start(terminal); }

ProgressLine::~ProgressLine() {
  if (!ended_.valid()) return;
  const uint64_t one = 1;
  (void)write_all(ended_.get(), &one, sizeof one);
  pthread_join(thread_, nullptr);
  const MutexLock lock(g_mutex);
  erase();
  text().clear();
  g_terminal = -1;
}

void ProgressLine::start(int terminal) {
  UniqueFd ended(eventfd(0, EFD_CLOEXEC));
  if (!ended.valid()) return;
  ended_ = std::move(ended);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);  // signals are the command's
  const bool runs = pthread_create(&thread_, nullptr, &run_thread, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!runs) return ended_.reset();
  const MutexLock lock(g_mutex);
  g_terminal = terminal;
}

void* ProgressLine::run_thread(void* line) {
  static_cast<const ProgressLine*>(line)->run();
  return nullptr;
}

void ProgressLine::run() const {
  for (uint64_t ns = delay_ns_; !wait(ended_.get(), ns); ns = kBetweenNs) paint();
}

bool ProgressLine::exists() {
  const MutexLock lock(g_mutex);
  return g_terminal >= 0;
}

void ProgressLine::show(const std::string& said) {
  const MutexLock lock(g_mutex);
  if (g_terminal < 0) return;
  text() = said;
  if (said.empty()) erase();
}

void ProgressLine::show_now(const std::string& said) {
  if (is_quiet() || !can_rewrite_lines(STDERR_FILENO)) return;
  {
    const MutexLock lock(g_mutex);
    if (said.empty()) erase();
    text() = said;
    g_terminal = said.empty() ? -1 : STDERR_FILENO;
  }
  paint();
}

void ProgressLine::give_way(const std::function<void()>& write) {
  const MutexLock lock(g_mutex);
  erase();
  write();
}

std::string progress_text(const std::string& what, uint64_t done, uint64_t all, const char* units) {
  if (done > all) return what + ": " + grouped(done) + " " + units;
  return what + ": " + grouped(done) + " of " + grouped(all) + " " + units;
}

}  // namespace pctally
