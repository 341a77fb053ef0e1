#include "fault/front_handler.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tick/context.h"

namespace pctally {
namespace {

/// How often ours can get back in front. Each level is a handler of its own: the program's handler may pass
/// signals on to the level below it, and must not meet itself again there.
constexpr unsigned kLevels = 8;
constexpr unsigned kSignals = 3;

struct Front {
  Claim claim;
  WhileClaiming masking;
  unsigned levels;  ///< in use
  struct sigaction previous[kLevels];
};
Front g_fronts[kSignals] = {};

Front& front_of(int signal) noexcept { return g_fronts[signal == SIGSEGV ? 0 : signal == SIGBUS ? 1 : 2]; }

bool is_default(const struct sigaction& action) noexcept {
  return action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN;
}

/// What the kernel would have done: a fault comes again on return and finds the default; a signal that was
/// sent, and a breakpoint, which is behind us already, have to be sent again.
void default_action(int signal, const siginfo_t* info) noexcept {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  if (info->si_code <= 0 || signal == SIGTRAP) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
}

/// The mask the displaced handler would have got from the kernel.
void mask_as_before(const struct sigaction& to, int signal, const void* context) noexcept {
  sigset_t interrupted, mask;
  sigemptyset(&interrupted);
  memcpy(&interrupted, interrupted_mask(context), _NSIG / 8);  // as much as the kernel knows of
  sigorset(&mask, &interrupted, &to.sa_mask);
  if ((to.sa_flags & SA_NODEFER) == 0) sigaddset(&mask, signal);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

void pass_on(Front& front, unsigned level, int signal, siginfo_t* info, void* context) noexcept {
  struct sigaction& previous = front.previous[level];
  struct sigaction to = previous;
  bool sent = info->si_code <= 0;
  if (to.sa_handler == SIG_IGN && sent) return;
  if (is_default(to)) return default_action(signal, info);
  if ((to.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) previous.sa_handler = SIG_DFL;
  if (front.masking == WhileClaiming::kBlockAll) mask_as_before(to, signal, context);
  if ((to.sa_flags & SA_SIGINFO) != 0) return to.sa_sigaction(signal, info, context);
  to.sa_handler(signal);
}

template <unsigned kLevel>
void on_signal(int signal, siginfo_t* info, void* context) {
  Front& front = front_of(signal);
  if (info->si_code > 0 && front.claim(info, context)) return;
  pass_on(front, kLevel, signal, info, context);
}

using Handler = void (*)(int, siginfo_t*, void*);
constexpr Handler kHandlers[] = {on_signal<0>, on_signal<1>, on_signal<2>, on_signal<3>,
                                 on_signal<4>, on_signal<5>, on_signal<6>, on_signal<7>};
static_assert(sizeof kHandlers / sizeof kHandlers[0] == kLevels,
              "a level without a handler would be SIG_DFL");

bool is_ours(const struct sigaction& action) noexcept {
  if ((action.sa_flags & SA_SIGINFO) == 0) return false;
  for (Handler handler : kHandlers)
    if (action.sa_sigaction == handler) return true;
  return false;
}

/// A level that ends in the default can be used again: whoever still passes signals on to it comes no
/// further.
unsigned level_for(const Front& front, const struct sigaction& before) noexcept {
  for (unsigned level = 0; is_default(before) && level < front.levels; ++level)
    if (front.previous[level].sa_handler == before.sa_handler) return level;
  return front.levels;
}

struct sigaction action_in_front_of(const struct sigaction& before, WhileClaiming masking) noexcept {
  struct sigaction action {};
  bool alone = is_default(before);
  action.sa_mask = before.sa_mask;
  action.sa_flags = SA_SIGINFO | (alone ? SA_ONSTACK : before.sa_flags & (SA_ONSTACK | SA_RESTART));
  if ((before.sa_flags & SA_NODEFER) != 0) action.sa_flags |= SA_NODEFER;
  if (masking == WhileClaiming::kBlockAsBefore) return action;
  action.sa_flags |= SA_ONSTACK | (alone ? SA_RESTART : 0);
  sigfillset(&action.sa_mask);
  sigdelset(&action.sa_mask, SIGSEGV);  // the fault guard's: blocked, a fault would be the end of the process
  sigdelset(&action.sa_mask, SIGBUS);
  return action;
}

}  // namespace

Result<void> put_in_front(int signal, Claim claim, WhileClaiming masking) noexcept {
  Front& front = front_of(signal);
  struct sigaction before;
  if (sigaction(signal, nullptr, &before) != 0) return fail(errno, "sigaction: %s", strerror(errno));
  if (is_ours(before)) return {};
  const unsigned level = level_for(front, before);
  if (level == kLevels)
    return fail(EAGAIN, "the program replaced its %s handler more than %u times while profiled",
                sigabbrev_np(signal), kLevels);
  front.claim = claim;
  front.masking = masking;
  front.previous[level] = before;
  struct sigaction action = action_in_front_of(before, masking);
  action.sa_sigaction = kHandlers[level];
  if (sigaction(signal, &action, nullptr) != 0) return fail(errno, "sigaction: %s", strerror(errno));
  if (level == front.levels) ++front.levels;
  return {};
}

bool in_front(int signal) noexcept {
  struct sigaction action;
  return sigaction(signal, nullptr, &action) == 0 && is_ours(action);
}

}  // namespace pctally
