// A tick must not change how a system call of the program ends that a signal of the program's interrupts.
//
// The kernel looks at a thread's CPU timers when the thread is about to leave the kernel. So a tick does not
// wake a thread, but it may come together with a signal that did, and it is handled first. Then the tick's
// action decides how the call ends, and not the program's:
//
// - A call that SA_RESTART continues (read(2), wait4(2): signal(7) lists them) would start again, for the
//   tick has that flag, though the program's handler lacks it and waits for EINTR.
// - sigsuspend(2), ppoll(2), pselect(2) and epoll_pwait(2) end with EINTR, but the tick's frame has the
//   mask from before the call. The program's signal, blocked there, would go on waiting: a call that ended
//   without a handler.
//
// On x86-64; elsewhere nothing is done.
#pragma once
#include <signal.h>
#include <stdint.h>

namespace pctally {

/// In a handler of ticks that has all signals blocked, before anything else. In an ordinary tick a few
/// comparisons. Where a call was interrupted, system calls; behind a seccomp filter nothing.
/// Async-signal-safe.
void leave_interrupted_call(void* context) noexcept;

/// What a tick has to know of a call that waits with a mask of its own.
struct WaitingCall {
  const void* mask_pointer;  ///< as the kernel gets it; null: there is no such call
  uint64_t mask;
  uint64_t own;  ///< the thread's, if `changed`
  bool changed;  ///< the thread has `mask` until the call has returned
};

/// While it lives the calling thread waits in a call that sets this mask. At its end the thread has its own
/// again.
class SignalWait {
 public:
  /// `mask`: the pointer that the kernel gets; null: the call sets none.
  explicit SignalWait(const sigset_t* mask) noexcept;
  ~SignalWait();
  SignalWait(const SignalWait&) = delete;
  SignalWait& operator=(const SignalWait&) = delete;
  [[nodiscard]] const sigset_t* mask() const noexcept { return mask_; }

 private:
  const sigset_t* mask_;
  WaitingCall outer_;  ///< that a handler with this one has interrupted
};

}  // namespace pctally
