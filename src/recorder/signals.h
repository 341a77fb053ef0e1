// The signals of the recorder: which it reads between two turns of its work, and what becomes of one.
#pragma once
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/time.h>

#include "base/result.h"
#include "base/unique_fd.h"

namespace pctally {

/// The one that the watchdog's timer sends.
int watchdog_signal() noexcept;

/// Gives SIGCHLD its default action. It may have been inherited as ignored, and the kernel would then not
/// report the ends of children. Once, before there are threads or children.
void await_children() noexcept;

/// SIGCHLD as await_children() found it, for a program to be executed. Async-signal-safe.
void restore_child_signal() noexcept;

/// SIGINT, SIGTERM, SIGHUP and SIGQUIT, which end a recording. Without SIGHUP where it is ignored, as under
/// nohup(1): signalfd(2) would deliver it all the same.
sigset_t ending_signals() noexcept;

/// One of ending_signals() that waits to be read; 0: none does. Async-signal-safe.
int waiting_ending_signal() noexcept;

/// All signals that would act on a command in the recorder's place, and SIGCHLD. Without those that stop and
/// continue it, and without faults, which are a process's own.
sigset_t signals_for_command() noexcept;

/// A descriptor that these are read from without waiting. Errors: those of signalfd(2).
Result<UniqueFd> open_signals(const sigset_t& signals);

/// Whether a signal that the recorder got is passed on to the command. False for the recorder's own signals,
/// and for those that a terminal sends: the whole group has got them.
bool is_for_command(const signalfd_siginfo& info) noexcept;

/// The timers of setitimer(2) that were set before our exec. Taken, they are off in this process; set() sets
/// them in the calling one, the command's, which may set them anew. set() is async-signal-safe.
class InheritedTimers {
 public:
  static InheritedTimers take() noexcept;
  void set() const noexcept;

 private:
  itimerval left_[3] = {};
};

}  // namespace pctally
