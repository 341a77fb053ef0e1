// Keeps a tick from changing how an interrupted system call ends.
//
//  1. The kernel checks a thread's CPU timers when the thread is about to leave the kernel. So a tick does
//     not wake a thread, but it may come together with a signal of the program's that did, and it is handled
//     first. Then the tick's action decides how the call ends, and not the program's. The tick has
//     SA_RESTART: a call that this flag continues (read(2), wait4(2): signal(7) lists them) would start
//     again, though the program's handler lacks the flag and waits for EINTR. leave_interrupted_call() ends
//     the call. On x86-64.
//  2. Calls that wait with a mask of their own (sigsuspend(2), ppoll(2) ...) get the timers' signal added to
//     it. Else the tick's frame would have the mask from before the call, and the program's signal, blocked
//     in that, would go on waiting. On all machines.
#pragma once

namespace pctally {

/// Call it in a handler of ticks that has all signals blocked, before anything else. An ordinary tick costs a
/// few comparisons. An interrupted call costs system calls; behind a seccomp filter it is left as it is.
/// Async-signal-safe.
void leave_interrupted_call(void* context) noexcept;

/// Whether the context is that of a call that has just ended with EINTR. False where it is not known.
[[nodiscard]] bool follows_interrupted_call(const void* context) noexcept;

}  // namespace pctally
