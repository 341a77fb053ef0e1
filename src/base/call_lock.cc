#include "base/call_lock.h"

#include "base/next_call.h"

namespace pctally {
namespace {

/// Those that another process, a timer or a terminal sends. SIGSYS stays: where it is blocked, a seccomp
/// filter that sends it ends the program. Real-time signals stay: a clock that starts takes one that is not
/// blocked.
constexpr int kSentSignals[] = {
    SIGHUP,    SIGINT,  SIGQUIT, SIGABRT, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM,   SIGTERM, SIGCHLD, SIGCONT,
    SIGTSTP,   SIGTTIN, SIGTTOU, SIGURG,  SIGXCPU, SIGXFSZ, SIGPROF, SIGVTALRM, SIGIO,   SIGPWR,  SIGWINCH,
#ifdef SIGSTKFLT
    SIGSTKFLT,
#endif
};

}  // namespace

sigset_t SignalsWait::begin() noexcept {
  sigset_t before, waiting;
  sigemptyset(&waiting);
  for (int signal : kSentSignals) sigaddset(&waiting, signal);
  next_sigmask(SIG_BLOCK, &waiting, &before);
  for (int signal : kSentSignals)
    if (sigismember(&before, signal) == 1) sigdelset(&waiting, signal);
  return waiting;
}

/// The mask of before would take back what the call has unblocked.
void SignalsWait::end(const sigset_t& waiting) noexcept { next_sigmask(SIG_UNBLOCK, &waiting, nullptr); }

}  // namespace pctally
