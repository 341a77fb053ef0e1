// pthread_create(3) and C11's thrd_create in front of the C library's: the thread that begins makes its own
// timers, takes the signals of its ticks off its mask, and is booked exactly at its end.
//
// While no clock runs the call costs one load more. It takes no memory from the heap, leaves no frame on the
// new thread's stack, and calls the next definition (ASan's, TSan's, the C library's).
#pragma once
#include <signal.h>
#include <stdint.h>

namespace pctally {

/// A clock starts (+1) or stops (-1). May be called under any lock.
void hook_threads(int change) noexcept;

/// The program has installed a seccomp filter, in some thread: threads that begin from now on make no system
/// call of ours.
void note_seccomp_filter(bool allows_masks) noexcept;
[[nodiscard]] bool has_seccomp_filter() noexcept;
/// Whether all of them allow rt_sigprocmask(2).
[[nodiscard]] bool may_change_masks() noexcept;
/// What went unsampled behind it while a clock ran: a thread that began, a tick that no system call could
/// make safe. Async-signal-safe.
enum class FilterCost : uint8_t { kThread, kTick };
void note_filter_cost(FilterCost cost) noexcept;
[[nodiscard]] bool filter_cost(FilterCost cost) noexcept;

/// The calls of this library that stand in front of others run `first` at their start, and `at_root` after
/// the process changed its root directory. Null: nothing.
void set_entry_hooks(void (*first)(), void (*at_root)()) noexcept;
void enter_once() noexcept;
void check_root() noexcept;

/// Also where the C library does not say how many there are.
[[nodiscard]] bool may_have_several_threads() noexcept;

/// Why the calling thread has them blocked by us: its alternate stack, or the stack that it was given, has no
/// room for a handler; or no handler could return, for its system calls are refused (syscall user dispatch, a
/// seccomp filter).
enum class NoTicks : uint8_t { kAlternateStack = 1, kSmallStack = 2, kDispatch = 4, kFilter = 8 };
/// From now on for this reason, or no longer: behind a seccomp filter they are blocked for good.
void keep_ticks_blocked(NoTicks why, bool blocked) noexcept;

/// Whether the calling thread has an alternate stack for its signals.
[[nodiscard]] bool has_alternate_stack() noexcept;

/// Whether the calling thread was begun on a stack of the program's own that has no room for a handler; so is
/// the child that it forks.
[[nodiscard]] bool is_on_small_stack() noexcept;

[[nodiscard]] bool keeps_ticks_blocked() noexcept;
[[nodiscard]] bool keeps_ticks_blocked(NoTicks why) noexcept;
/// True if a stack is why.
[[nodiscard]] bool has_no_stack_for_ticks() noexcept;

/// True for a handler that may run on an alternate stack where a tick finds no room beside it.
[[nodiscard]] bool has_no_room_for_ticks(const struct sigaction& action) noexcept;
/// False if the program gave us an address that cannot be read: the kernel is to answer that (EFAULT). Makes
/// a system call. Behind a seccomp filter it makes none, and is false for null alone.
[[nodiscard]] bool can_read_mask(const void* mask) noexcept;
/// The same behind filters, too. REQUIRES: may_change_masks().
[[nodiscard]] bool kernel_can_read_mask(const void* mask) noexcept;
/// True once the program has blocked the timers' signal, in some thread, as it believes: it may wait for it.
[[nodiscard]] bool has_blocked_ticks() noexcept;
/// Adds those to a mask, or removes them.
void block_ticks_in(sigset_t* mask) noexcept;
void hide_ticks(sigset_t* mask) noexcept;
/// Call it at the end of a handler that had our ticks blocked because its stack has no room for them. A tick
/// that has waited comes when the handler has returned, and belongs to no place then. Does nothing where
/// ticks were blocked before the handler.
void note_waiting_tick(const void* context) noexcept;
/// True in a call that waits with a mask of its own, to which our ticks were added.
[[nodiscard]] bool waits_with_a_mask() noexcept;
/// True once for a tick that note_waiting_tick() has noted.
[[nodiscard]] bool takes_waiting_tick() noexcept;

/// They do nothing. A reference to one makes a static link include the calls of its file.
void bring_signal_hooks() noexcept;
void bring_old_signal_hooks() noexcept;
void bring_action_hooks() noexcept;

}  // namespace pctally
