#include "fault/front_handler.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/next_call.h"
#include "fault/displaced_action.h"
#include "fault/sent_fault.h"
#include "tick/context.h"

namespace pctally {
namespace {

/// How often ours can get back in front. Each level is a handler of its own: the program's handler may pass
/// signals on to the level below it, and must not meet itself again there.
constexpr unsigned kLevels = 3;
constexpr unsigned kSignals = 3;

struct Front {
  Claim claim;
  WhileClaiming masking;
  unsigned levels;  ///< in use
  bool needed;      ///< also where the signal is to be ignored
  DisplacedAction previous[kLevels];
};
Front g_fronts[kSignals] = {};

Front& front_of(int signal) noexcept { return g_fronts[signal == SIGSEGV ? 0 : signal == SIGBUS ? 1 : 2]; }

bool is_default(const struct sigaction& action) noexcept {
  return action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN;
}

/// A fault comes again when the handler returns. Where its signal is blocked then, the kernel ends the
/// process by it. No system call, which a seccomp filter could refuse.
void end_by_fault(int signal, void* context) noexcept {
  sigaddset(&static_cast<ucontext_t*>(context)->uc_sigmask, signal);
}

/// What the kernel would have done. A breakpoint is behind us already, and would not come again.
void default_action(int signal, const siginfo_t* info, void* context) noexcept {
  if (info->si_code > 0 && signal != SIGTRAP)
    end_by_fault(signal, context);
  else
    end_by_sending(signal);
}

/// The mask the displaced handler would have got from the kernel.
void mask_as_before(const struct sigaction& to, int signal, const void* context) noexcept {
  sigset_t interrupted, mask;
  sigemptyset(&interrupted);
  memcpy(&interrupted, interrupted_mask(context), _NSIG / 8);  // as much as the kernel knows of
  sigorset(&mask, &interrupted, &to.sa_mask);
  if ((to.sa_flags & SA_NODEFER) == 0) sigaddset(&mask, signal);
  next_sigmask(SIG_SETMASK, &mask, nullptr);
}

/// Not inlined, as what it needs of the stack is not for signals that are claimed: an alternate stack may be
/// nearly used up.
[[gnu::noinline]] void pass_on(unsigned level, int signal, siginfo_t* info, void* context) noexcept {
  Front& front = front_of(signal);
  end_all_own_handlers();  // what came before the claim began waits no longer
  struct sigaction& previous = front.previous[level].action();
  struct sigaction to = previous;
  bool sent = info->si_code <= 0;
  if (to.sa_handler == SIG_IGN && sent) return;
  if (is_default(to)) return default_action(signal, info, context);
  if ((to.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) previous.sa_handler = SIG_DFL;
  if (front.masking == WhileClaiming::kBlockAll) mask_as_before(to, signal, context);
  to.sa_sigaction(signal, info, context);  // whatever the flags, as the kernel
}

template <unsigned kLevel>
void on_signal(int signal, siginfo_t* info, void* context) {
  const bool sent = info->si_code <= 0;
  if (sent ? keep_sent_fault(signal, info, context) : front_of(signal).claim(info, context)) return;
  if (!sent && signal != SIGTRAP && precedes_own_handler(info, context)) return;
  pass_on(kLevel, signal, info, context);
}

using Handler = void (*)(int, siginfo_t*, void*);
constexpr Handler kHandlers[] = {on_signal<0>, on_signal<1>, on_signal<2>};
static_assert(sizeof kHandlers / sizeof kHandlers[0] == kLevels,
              "a level without a handler would be SIG_DFL");

/// kLevels if it is none of ours.
unsigned level_of(const struct sigaction& action) noexcept {
  if ((action.sa_flags & SA_SIGINFO) == 0) return kLevels;
  for (unsigned level = 0; level < kLevels; ++level)
    if (action.sa_sigaction == kHandlers[level]) return level;
  return kLevels;
}

bool is_ours(const struct sigaction& action) noexcept { return level_of(action) != kLevels; }

/// A level that ends in the default can be used again: whoever still passes signals on to it
/// comes no further.
unsigned level_for(Front& front, const struct sigaction& before) noexcept {
  for (unsigned level = 0; is_default(before) && level < front.levels; ++level)
    if (front.previous[level].action().sa_handler == before.sa_handler) return level;
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
  block_all_but_guarded(&action.sa_mask);
  return action;
}

/// The guard of another signal may have come since.
Status open_for_guard(int signal, struct sigaction action) noexcept {
  if (front_of(signal).masking == WhileClaiming::kBlockAsBefore) return {};
  block_all_but_guarded(&action.sa_mask);
  return kernel_sigaction(signal, &action, nullptr) == 0 ? Status() : Status{errno, "sigaction:"};
}

}  // namespace

Status put_in_front(int signal, Claim claim, WhileClaiming masking) noexcept {
  Front& front = front_of(signal);
  struct sigaction before;
  if (kernel_sigaction(signal, nullptr, &before) != 0) return {errno, "sigaction:"};
  if (is_ours(before)) return open_for_guard(signal, before);
  const unsigned level = level_for(front, before);
  if (level == kLevels)
    return {EAGAIN, "the program replaced our signal handler too often while it was profiled"};
  front.claim = claim;
  front.masking = masking;
  front.previous[level].set(before);
  struct sigaction action = action_in_front_of(before, masking);
  action.sa_sigaction = kHandlers[level];
  if (masking == WhileClaiming::kBlockAll) know_own_handler(kHandlers[level]);
  if (kernel_sigaction(signal, &action, nullptr) != 0) return {errno, "sigaction:"};
  if (level == front.levels) ++front.levels;
  return {};
}

bool in_front(int signal) noexcept {
  struct sigaction action;
  return kernel_sigaction(signal, nullptr, &action) == 0 && is_ours(action);
}

bool exchange_behind(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  if (signal != SIGSEGV && signal != SIGBUS && signal != SIGTRAP) return false;
  struct sigaction ours;
  if (kernel_sigaction(signal, nullptr, &ours) != 0) return false;
  const unsigned level = level_of(ours);
  if (level == kLevels) return false;
  Front& front = front_of(signal);
  const bool ignored = action != nullptr && action->sa_handler == SIG_IGN;
  if (ignored && signal != SIGTRAP && !front.needed)
    return false;  // a program it executes shall inherit that
  if (before != nullptr) *before = front.previous[level].action();
  if (action == nullptr) return true;
  front.previous[level].set(*action);
  struct sigaction adapted = action_in_front_of(*action, front.masking);
  adapted.sa_sigaction = kHandlers[level];
  kernel_sigaction(signal, &adapted, nullptr);
  return true;
}

void need_front(int signal, bool needed) noexcept {
  Front& front = front_of(signal);
  struct sigaction ours;
  front.needed = needed;
  if (needed || kernel_sigaction(signal, nullptr, &ours) != 0) return;
  const unsigned level = level_of(ours);
  if (level == kLevels || front.previous[level].action().sa_handler != SIG_IGN) return;
  kernel_sigaction(signal, &front.previous[level].action(), nullptr);
}

bool has_front(int signal) noexcept { return front_of(signal).levels != 0; }

namespace {

/// The C library's own, which its sigfillset(3) leaves out: one cancels the thread.
void add_signals_of_libc(sigset_t* mask) noexcept {
  constexpr unsigned kBits = 8 * sizeof(unsigned long);
  auto* words = reinterpret_cast<unsigned long*>(mask);
  for (const unsigned signal : {32u, 33u, 34u}) words[(signal - 1) / kBits] |= 1ul << (signal - 1) % kBits;
}

}  // namespace

void block_all_but_guarded(sigset_t* mask) noexcept {
  sigfillset(mask);
  add_signals_of_libc(mask);
  for (const int signal : {SIGSEGV, SIGBUS})
    if (has_front(signal)) sigdelset(mask, signal);
}

void end_by_sending(int signal) noexcept {
  constexpr int kBySignal = 128;
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  if (kernel_sigaction(signal, &action, nullptr) != 0 ||
      syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal) != 0)
    syscall(SYS_exit_group, kBySignal + signal);
}

void call_with_its_mask(const struct sigaction& action, int signal, siginfo_t* info, void* context) noexcept {
  mask_as_before(action, signal, context);
  action.sa_sigaction(signal, info, context);
}

}  // namespace pctally
