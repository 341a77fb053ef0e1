// A tick must not change how a system call of the program ends that a signal of the program's interrupts.
//
// The kernel looks at a thread's CPU timers when the thread is about to leave the kernel. So a tick does not
// wake a thread, but it may come together with a signal that did, and it is handled first. Then the tick's
// action decides how the call ends, and not the program's: a call that SA_RESTART continues (read(2),
// wait4(2): signal(7) lists them) would start again, for the tick has that flag, though the program's handler
// lacks it and waits for EINTR.
//
// Calls that wait with a mask of their own (sigsuspend(2), ppoll(2) ...) have the timers' signal in it: there
// the tick's frame would have the mask from before the call, and the program's signal, blocked in that, would
// go on waiting.
//
// On x86-64; elsewhere only the second.
#pragma once

namespace pctally {

/// In a handler of ticks that has all signals blocked, before anything else. In an ordinary tick a few
/// comparisons. Where a call was interrupted, system calls; behind a seccomp filter nothing.
/// Async-signal-safe.
void leave_interrupted_call(void* context) noexcept;

/// Whether the context is that of a call that has just ended with EINTR. False where it is not known.
[[nodiscard]] bool follows_interrupted_call(const void* context) noexcept;

}  // namespace pctally
