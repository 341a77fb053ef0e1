#include "base/call_lock.h"

#include "base/hidden_signals.h"
#include "base/next_call.h"

namespace pctally {
namespace {

/// Those that another process, a timer or a terminal sends, and real-time signals. SIGSYS stays: where it is
/// blocked, a seccomp filter that sends it ends the program.
constexpr int kSentSignals[] = {
    SIGHUP,    SIGINT,  SIGQUIT, SIGABRT, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM,   SIGTERM, SIGCHLD, SIGCONT,
    SIGTSTP,   SIGTTIN, SIGTTOU, SIGURG,  SIGXCPU, SIGXFSZ, SIGPROF, SIGVTALRM, SIGIO,   SIGPWR,  SIGWINCH,
#ifdef SIGSTKFLT
    SIGSTKFLT,
#endif
};

/// What the thread has blocked by this and not by the program, by bit (signal - 1).
__thread unsigned long long t_waiting = 0;

unsigned long long bit(int signal) noexcept { return 1ull << (signal - 1); }

/// Without the first real-time signals, which are the C library's own: it leaves them out of SIGRTMIN.
unsigned long long sent_signals() noexcept {
  unsigned long long all = 0;
  for (const int signal : kSentSignals) all |= bit(signal);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) all |= bit(signal);
  return all & ~hidden_signals();
}

template <typename Change>
void for_each(unsigned long long signals, Change change) noexcept {
  for (; signals != 0; signals &= signals - 1) change(__builtin_ctzll(signals) + 1);
}

}  // namespace

sigset_t SignalsWait::begin() noexcept {
  sigset_t before, waiting;
  const unsigned long long sent = sent_signals();
  sigemptyset(&waiting);
  for_each(sent, [&waiting](int signal) { sigaddset(&waiting, signal); });
  next_sigmask(SIG_BLOCK, &waiting, &before);
  for_each(sent, [&](int signal) {
    if (sigismember(&before, signal) == 1)
      sigdelset(&waiting, signal);
    else
      t_waiting |= bit(signal);
  });
  return waiting;
}

/// The mask of before would take back what the call has unblocked.
void SignalsWait::end(const sigset_t& waiting) noexcept {
  for_each(t_waiting, [&waiting](int signal) {
    if (sigismember(&waiting, signal) == 1) t_waiting &= ~bit(signal);
  });
  next_sigmask(SIG_UNBLOCK, &waiting, nullptr);
}

void SignalsWait::leave_out_waiting(sigset_t* mask) noexcept {
  for_each(t_waiting, [mask](int signal) { sigdelset(mask, signal); });
}

}  // namespace pctally
