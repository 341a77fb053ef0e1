#include "recorder/watchdog.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/errno_kept.h"
#include "base/time_ns.h"
#include "recorder/exit_status.h"
#include "recorder/signals.h"

namespace pctally {
namespace {

constexpr itimerspec kLastPatience{{1, 0}, {1, 0}};
constexpr char kLine[] =
    "pctally: the recorder hung and was stopped; the profile holds what was counted until now\n";

timer_t g_timer;
bool g_started = false;
pid_t g_child = 0;
itimerspec g_patience{};
volatile sig_atomic_t g_suspects = 0;

/// A recorder that was stopped (Ctrl-Z, a frozen container) finds the timer run out and the signal there when
/// it goes on: it has a second to read that. Async-signal-safe.
void on_patience_over(int) {
  const ErrnoKept kept;
  const int signal = waiting_ending_signal();
  if (signal != 0 && g_suspects != 0) {
    if (g_child > 0) kill(g_child, signal);
    (void)!write(STDERR_FILENO, kLine, sizeof kLine - 1);
    _exit(kExitFailed);
  }
  g_suspects = signal != 0;
  timer_settime(g_timer, 0, signal != 0 ? &kLastPatience : &g_patience, nullptr);
}

}  // namespace

void Watchdog::start(pid_t child, unsigned patience_ms) noexcept {
  const int number = watchdog_signal();
  struct sigaction action {};
  action.sa_handler = on_patience_over;
  action.sa_flags = SA_RESTART;
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = number;
  if (g_started || sigaction(number, &action, nullptr) != 0 ||
      timer_create(CLOCK_MONOTONIC, &event, &g_timer) != 0)
    return;
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, number);
  sigprocmask(SIG_UNBLOCK, &own, nullptr);
  g_child = child;
  const timespec patience = to_timespec(uint64_t{patience_ms} * 1000000);
  g_patience = {patience, patience};  // again and again: the signal to end may come later than the hang
  g_started = true;
  feed();
}

void Watchdog::feed() noexcept {
  if (g_started) timer_settime(g_timer, 0, &g_patience, nullptr);
  g_suspects = 0;
}

}  // namespace pctally
