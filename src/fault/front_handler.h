// Handlers of ours that stand in front of the program's own: what they do not claim goes to the handler that
// was there before, with its mask and flags, or to the default action, as if they were not.
#pragma once
#include <signal.h>

#include "base/result.h"

namespace pctally {

/// Says whether a signal is ours, and deals with it if so. Runs in the signal handler.
using Claim = bool (*)(siginfo_t* info, void* context);

enum class WhileClaiming : bool {
  kBlockAsBefore,  ///< the mask of the handler displaced
  kBlockAll        ///< everything but SIGSEGV and SIGBUS, so that nothing can leave the claim by a long jump
};

/// Puts a handler of `signal` (SIGSEGV, SIGBUS or SIGTRAP) in front unless it is there. To be called again
/// from time to time: a program that installs a handler of its own later, and does not pass on what is not
/// its own, has taken ours away until then. One caller per signal at a time; not from a signal handler.
/// Errors: EAGAIN (the program replaced ours more often than there are levels).
Result<void> put_in_front(int signal, Claim claim, WhileClaiming masking) noexcept;

/// True while a handler of ours is the one the kernel calls.
[[nodiscard]] bool in_front(int signal) noexcept;

}  // namespace pctally
