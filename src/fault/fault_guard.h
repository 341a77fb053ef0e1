// Lets a tick survive a store into memory that the program has unmapped or write-protected
// (tick/guarded_cell.h).
//
// A handler of SIGSEGV and SIGBUS in front of the program's own: faults of guarded cells end at their
// landing, all others go to the handler that was there before, with its mask and flags, as if this
// one were not.
#pragma once
#include "base/status.h"
#include "fault/front_handler.h"

namespace pctally {

/// Puts the handlers in front unless they are there. To be called again from time to time: a program
/// that installs a handler of its own later, and does not pass on what is not its own, has taken the
/// guard away until then. One caller at a time; not from a signal handler. Does nothing on machines
/// without guarded cells.
Status install_fault_guard() noexcept;

/// Who cannot do without the guard, also where the program ignores these signals. When nobody is left they
/// are the kernel's to ignore, which a program that is executed inherits. Not from a signal handler.
enum class GuardUser : unsigned char { kProfile = 1, kPaths = 2 };
void need_fault_guard(GuardUser user, bool needed) noexcept;

/// As above for SIGSEGV or SIGBUS alone, on every machine.
Status install_fault_guard(int signal) noexcept;

/// As above, but not where the signal is ignored: a program that is executed shall inherit that. For callers
/// that can do without the guard.
Status install_fault_guard_unless_ignored(int signal) noexcept;

/// Has `claim` asked before all else about each SIGSEGV and SIGBUS. One claim, for good.
void claim_faults_first(Claim claim) noexcept;

/// Calls `work`, of a signal handler of ours, with the guard installed for both signals; false if a
/// fault ended it half-way: what it has done up to there is done. Without the guard a fault is the
/// program's. Not nested.
[[nodiscard]] bool run_guarded(void (*work)(void*) noexcept, void* argument) noexcept;

/// Opens the calling thread's mask for the guard, where it is in front: another signal that was sent would
/// find the program's handler or its default. Async-signal-safe: in a handler it lasts until the handler
/// returns, elsewhere until the caller sets the mask. A fault while its signal is blocked ends the process.
void admit_faults() noexcept;

/// True if the interrupted thread blocks a signal the guard needs, so that admit_faults() has to
/// be called first.
[[nodiscard]] bool blocks_faults(const void* context) noexcept;

}  // namespace pctally
