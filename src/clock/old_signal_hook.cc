// The calls of BSD and System V for signals, older than sigaction(2), in front of the C library's: theirs
// would go round ours to the kernel. Each does what the C library's does, by the calls of action_hook.cc and
// signal_hook.cc.
#include <errno.h>
#include <signal.h>

#include "clock/thread_hook.h"

namespace pctally {

void bring_old_signal_hooks() noexcept {}

namespace {

constexpr int kBitsOfMask = 32;  ///< of the masks of BSD: signals 1 to 32

sigset_t from_bits(unsigned bits) noexcept {
  sigset_t set;
  sigemptyset(&set);
  for (; bits != 0; bits &= bits - 1) sigaddset(&set, __builtin_ctz(bits) + 1);
  return set;
}

int to_bits(const sigset_t& set) noexcept {
  unsigned bits = 0;
  for (int signal = 1; signal <= kBitsOfMask; ++signal)
    if (sigismember(&set, signal) == 1) bits |= 1u << (signal - 1);
  return static_cast<int>(bits);
}

/// The mask before, or -1.
int change_bits(int how, int mask) noexcept {
  const sigset_t set = from_bits(static_cast<unsigned>(mask));
  sigset_t before;
  return sigprocmask(how, &set, &before) == 0 ? to_bits(before) : -1;
}

/// Errors: EINVAL (no such signal).
int change_one(int how, int signal, sigset_t* before) noexcept {
  sigset_t set;
  sigemptyset(&set);
  return sigaddset(&set, signal) == 0 ? sigprocmask(how, &set, before) : -1;
}

/// sigpause(3) of System V: waits with the thread's mask, without `signal`.
int pause_without(int signal) {
  sigset_t mask;
  sigprocmask(SIG_BLOCK, nullptr, &mask);
  return sigdelset(&mask, signal) == 0 ? sigsuspend(&mask) : -1;
}

/// And that of BSD: with signals 1 to 32 as the bits of `blocked` have them, and none of the others.
int pause_with(unsigned blocked) {
  const sigset_t mask = from_bits(blocked);
  return sigsuspend(&mask);
}

}  // namespace
}  // namespace pctally

using namespace pctally;

/// <signal.h> gives the name of some to others, or has them no more.
#define PCTALLY_OLD_CALL(result, function, name, parameters)                                  \
  extern "C" __attribute__((visibility("default"))) result function parameters __asm__(name); \
  extern "C" __attribute__((visibility("default"))) result function parameters

PCTALLY_OLD_CALL(sighandler_t, bsd_signal_of_ours, "bsd_signal",
                 (int number, sighandler_t handler) noexcept) {
  return signal(number, handler);
}
PCTALLY_OLD_CALL(sighandler_t, ssignal_of_ours, "ssignal", (int number, sighandler_t handler) noexcept) {
  return signal(number, handler);
}
PCTALLY_OLD_CALL(sighandler_t, sysv_signal_of_ours, "sysv_signal",
                 (int number, sighandler_t handler) noexcept) {
  return __sysv_signal(number, handler);
}

PCTALLY_OLD_CALL(int, sigblock_of_ours, "sigblock", (int mask) noexcept) {
  return change_bits(SIG_BLOCK, mask);
}
PCTALLY_OLD_CALL(int, sigsetmask_of_ours, "sigsetmask", (int mask) noexcept) {
  return change_bits(SIG_SETMASK, mask);
}

PCTALLY_OLD_CALL(int, sighold_of_ours, "sighold", (int number) noexcept) {
  return change_one(SIG_BLOCK, number, nullptr);
}
PCTALLY_OLD_CALL(int, sigrelse_of_ours, "sigrelse", (int number) noexcept) {
  return change_one(SIG_UNBLOCK, number, nullptr);
}
PCTALLY_OLD_CALL(int, sigignore_of_ours, "sigignore", (int number) noexcept) {
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  return sigaction(number, &action, nullptr);
}

/// X/Open: the signal's action, or with SIG_HOLD its place in the mask. What it was before.
PCTALLY_OLD_CALL(sighandler_t, sigset_of_ours, "sigset", (int number, sighandler_t handler) noexcept) {
  const sighandler_t held = SIG_HOLD;
  const bool hold = handler == held;
  struct sigaction action {
  }, before{};
  sigset_t mask;
  action.sa_handler = handler;
  if (handler == SIG_ERR) return errno = EINVAL, SIG_ERR;
  if (sigaction(number, hold ? nullptr : &action, &before) != 0 ||
      change_one(hold ? SIG_BLOCK : SIG_UNBLOCK, number, &mask) != 0)
    return SIG_ERR;
  return sigismember(&mask, number) == 1 ? held : before.sa_handler;
}

/// Points where a thread may be cancelled, by an exception: not noexcept.
PCTALLY_OLD_CALL(int, sigpause_of_xopen, "__xpg_sigpause", (int number)) { return pause_without(number); }
PCTALLY_OLD_CALL(int, sigpause_of_bsd, "sigpause", (int mask)) {
  return pause_with(static_cast<unsigned>(mask));
}
PCTALLY_OLD_CALL(int, sigpause_of_either, "__sigpause", (int given, int is_signal)) {
  return is_signal != 0 ? pause_without(given) : pause_with(static_cast<unsigned>(given));
}
