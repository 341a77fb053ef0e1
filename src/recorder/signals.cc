#include "recorder/signals.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <initializer_list>
#include <iterator>

#include "perf/descriptor_limit.h"

namespace pctally {
namespace {

struct sigaction g_child_signal {};
bool g_awaits = false;

bool is_ignored(int signal) noexcept {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

constexpr __itimer_which kTimers[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};

}  // namespace

int watchdog_signal() noexcept { return SIGRTMAX - 1; }

void await_children() noexcept {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  g_awaits = sigaction(SIGCHLD, &action, &g_child_signal) == 0;
}

void restore_child_signal() noexcept {
  if (g_awaits) sigaction(SIGCHLD, &g_child_signal, nullptr);
}

sigset_t ending_signals() noexcept {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    if (signal != SIGHUP || !is_ignored(signal)) sigaddset(&set, signal);
  return set;
}

int waiting_ending_signal() noexcept {
  sigset_t waiting;
  const sigset_t ending = ending_signals();
  sigpending(&waiting);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT})
    if (sigismember(&waiting, signal) == 1 && sigismember(&ending, signal) == 1) return signal;
  return 0;
}

sigset_t signals_for_command() noexcept {
  constexpr int kClocks = 4;  // from the top: the watchdog's, and those that the clock's test may take
  sigset_t set;
  sigfillset(&set);
  for (const int signal :
       {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT})
    sigdelset(&set, signal);
  for (int below = 0; below < kClocks; ++below) sigdelset(&set, SIGRTMAX - below);
  return set;
}

Result<UniqueFd> open_signals(const sigset_t& signals) {
  UniqueFd fd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (fd.valid()) return fd;
  return errno == EMFILE ? too_many_files() : fail(errno, "signalfd: %s", strerror(errno));
}

bool is_for_command(const signalfd_siginfo& info) noexcept {
  const auto signal = static_cast<int>(info.ssi_signo);
  if (signal == SIGCHLD || signal == SIGPIPE || signal == SIGXFSZ || signal == SIGXCPU) return false;
  // A terminal sends to a whole group, but a hang-up to the leader of its session alone.
  return info.ssi_code != SI_KERNEL || (signal == SIGHUP && getsid(0) == getpid());
}

InheritedTimers InheritedTimers::take() noexcept {
  InheritedTimers timers;
  const itimerval off{};
  for (size_t i = 0; i < std::size(kTimers); ++i) setitimer(kTimers[i], &off, &timers.left_[i]);
  return timers;
}

void InheritedTimers::set() const noexcept {
  for (size_t i = 0; i < std::size(kTimers); ++i) setitimer(kTimers[i], &left_[i], nullptr);
}

}  // namespace pctally
