// A tick must not change how a system call of the program ends that a signal of the program's interrupts.
//
// The kernel looks at a thread's CPU timers when the thread is about to leave the kernel. So a tick does not
// wake a thread, but it may come together with a signal that did, and it is handled first. Then the tick's
// action decides how the call ends, and not the program's:
//
// - read(2), wait4(2) and others that SA_RESTART continues: the tick has that flag, so the call would start
// again,
//   though the program's handler lacks it and waits for EINTR (signal(7)).
// - sigsuspend(2), ppoll(2), pselect(2) and epoll_pwait(2) end with EINTR. The tick's frame has the mask from
// before the call,
//   and the program's signal, blocked there, would wait: a call that ended without a handler.
//
// On x86-64; elsewhere nothing is done.
#pragma once
#include <signal.h>
#include <stdint.h>

namespace pctally {

/// At the end of a tick's handler that ran with all signals blocked. In an ordinary tick a few comparisons;
/// where a call was interrupted, system calls, unless the program has a seccomp filter: then nothing is done.
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
