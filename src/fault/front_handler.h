// Handlers of ours that stand in front of the program's own: what they do not claim goes to the handler that
// was there before, with its mask and flags, or to the default action, as if they were not.
#pragma once
#include <signal.h>

#include "base/status.h"

namespace pctally {

/// Says whether a signal is ours, and deals with it if so. Runs in the signal handler.
using Claim = bool (*)(siginfo_t* info, void* context);

enum class WhileClaiming : bool {
  kBlockAsBefore,  ///< the mask of the handler displaced
  kBlockAll        ///< see block_all_but_guarded(): nothing can leave the claim by a long jump
};

/// Puts a handler of `signal` (SIGSEGV, SIGBUS or SIGTRAP) in front unless it is there. To be called again
/// from time to time: a program that installs a handler of its own later, and does not pass on what is not
/// its own, has taken ours away until then. One caller per signal at a time; not from a signal handler.
/// Errors: EAGAIN (the program replaced ours more often than there are levels).
Status put_in_front(int signal, Claim claim, WhileClaiming masking) noexcept;

/// True while a handler of ours is the one the kernel calls.
[[nodiscard]] bool in_front(int signal) noexcept;

/// True if one of ours has been put in front. Async-signal-safe, without a system call.
[[nodiscard]] bool has_front(int signal) noexcept;

/// The mask of a handler of ours. SIGSEGV and SIGBUS stay open where our guard has been put in front:
/// blocked, a fault would be the end of the process. Where it was not, one that is sent waits for the
/// handler's end.
void block_all_but_guarded(sigset_t* mask) noexcept;

/// What the program's sigaction(2) does while a handler of ours is in front: sets and tells the action
/// behind it. False if none of ours is, or if the signal is to be ignored and we can do without it. Both
/// may be null.
bool exchange_behind(int signal, const struct sigaction* action, struct sigaction* before) noexcept;

/// From now on we cannot do without the handler of SIGSEGV or SIGBUS, or can again. An action "ignore" behind
/// ours is then the kernel's.
void need_front(int signal, bool needed) noexcept;

/// The default action of a signal that was sent: it is sent again, with ours gone. Where that is refused, it
/// would come to us for ever: the process ends with the status a shell has for the signal. From a handler of
/// ours that blocks it.
void end_by_sending(int signal) noexcept;

/// Calls a handler of the program's under the mask the kernel would give it. From a handler of ours
/// that blocks everything.
void call_with_its_mask(const struct sigaction& action, int signal, siginfo_t* info, void* context) noexcept;

}  // namespace pctally
