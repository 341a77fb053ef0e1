// The calls by which a program waits for signals, blocks them or asks which it blocks or which wait, in front
// of the C library's: the signals our ticks come with are not among them. A program never receives one of
// ours, and no code of it goes unobserved because it blocks "all signals".
//
// sigaltstack(2) and munmap(2) are in front of the C library's, too: where the kernel has no room for a
// handler's frame, or finds no memory, a tick would kill the program, which may never use that stack. Such a
// thread has its ticks blocked. And where a tick may find no room beside a handler of the program's, that
// handler has them blocked.
//
// While no clock runs each costs one load more.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/hidden_signals.h"
#include "base/next_call.h"
#include "clock/own_process.h"
#include "clock/thread_hook.h"
#include "clock/tick_signal.h"
#include "tick/context.h"

extern "C" char __libc_single_threaded __attribute__((weak));  // of glibc from 2.32 on

namespace pctally {
namespace {

/// Adds our signals to a set, or removes them: `change` is sigaddset(3) or sigdelset(3).
void change_hidden(sigset_t* set, decltype(sigaddset)* change) noexcept {
  for (unsigned long long hidden = hidden_signals(); hidden != 0; hidden &= hidden - 1)
    change(set, __builtin_ctzll(hidden) + 1);
}

/// Who reads a set first without us: the C library, which dies of a bad address, or the kernel.
enum class ReadBy : bool { kLibrary, kKernel };

/// A set as the program gave it, without ours.
class Visible {
 public:
  explicit Visible(const sigset_t* given, ReadBy by = ReadBy::kKernel) noexcept : set_(given) {
    if (given == nullptr || hidden_signals() == 0) return;
    if (by == ReadBy::kKernel && !can_read_mask(given)) return;
    copy_ = *given;
    change_hidden(&copy_, sigdelset);
    set_ = &copy_;
  }
  [[nodiscard]] const sigset_t* get() const noexcept { return set_; }

 private:
  const sigset_t* set_;
  sigset_t copy_;
};

bool runs_on_alternate_stack(const struct sigaction& action) noexcept {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN && (action.sa_flags & SA_ONSTACK) != 0;
}

/// Why a thread has its ticks blocked, by the bits of NoTicks; 0: it does not.
__thread uint8_t t_no_ticks;
/// The next tick has waited for a handler of the program's to end.
__thread bool t_tick_waited;
/// The alternate stack that the thread has given the kernel; without bytes: none.
__thread stack_t t_alternate;

bool holds_alternate_stack(const void* memory, size_t bytes) noexcept {
  const auto start = reinterpret_cast<uintptr_t>(memory);
  const auto stack = reinterpret_cast<uintptr_t>(t_alternate.ss_sp);
  return t_alternate.ss_size != 0 && start < stack + t_alternate.ss_size && stack < start + bytes;
}

/// A mask as the program gave it, without ours; or with them, where the thread has to keep them blocked.
class Mask {
 public:
  explicit Mask(const sigset_t* given) noexcept : visible_(given, ReadBy::kLibrary), set_(visible_.get()) {
    if (given == nullptr || t_no_ticks == 0) return;
    copy_ = *given;
    change_hidden(&copy_, sigaddset);
    set_ = &copy_;
  }
  [[nodiscard]] const sigset_t* get() const noexcept { return set_; }

 private:
  Visible visible_;
  const sigset_t* set_;
  sigset_t copy_;
};

/// The thread waits in a call that sets a mask.
__thread bool t_waits;

/// Such a call, with the mask as the program gave it and the timers' signal in it: see
/// clock/interrupted_call.h. While a handler of the program's runs out of the call that signal waits, too; it
/// belongs to no place then. Those of the trap come in user mode alone and need not wait.
class Wait {
 public:
  explicit Wait(const sigset_t* given) noexcept : set_(given), outer_(t_waits) {
    if (given == nullptr || hidden_signals() == 0 || !can_read_mask(given)) return;
    copy_ = *given;
    change_hidden(&copy_, t_no_ticks != 0 ? sigaddset : sigdelset);
    set_ = &copy_;
    const int signal = TickSlot::signal_number();
    if (signal == 0) return;
    sigaddset(&copy_, signal);
    t_waits = true;
  }
  ~Wait() { t_waits = outer_; }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;
  [[nodiscard]] const sigset_t* mask() const noexcept { return set_; }

 private:
  const sigset_t* set_;
  const bool outer_;
  sigset_t copy_;
};

/// What AT_MINSIGSTKSZ counts for the tiles of AMX, on a machine that has them. A frame has none until the
/// process asks for them (arch_prctl(2)); then the kernel takes no alternate stack without room for them, and
/// refuses them while there is one. Not by CPUID: a hypervisor takes microseconds for it, and where the
/// program has turned it off (arch_prctl(2), ARCH_SET_CPUID) it is a SIGSEGV.
unsigned long bytes_of_tiles() noexcept {
#ifdef __x86_64__
  constexpr unsigned kUserStates = 0, kTiles = 18;
  constexpr unsigned long kBytes = 8192;
  constexpr unsigned long kLeastWithTiles = 10240;  // no machine without XGETBV has such frames
  if (getauxval(AT_MINSIGSTKSZ) < kLeastWithTiles) return 0;
  unsigned states = 0, rest = 0;
  __asm__("xgetbv" : "=a"(states), "=d"(rest) : "c"(kUserStates));
  return (states >> kTiles & 1) != 0 ? kBytes : 0;
#else
  return 0;
#endif
}

/// The size of a handler's frame: AT_MINSIGSTKSZ without tiles, or what it was before there was one.
unsigned long bytes_of_a_handler() noexcept {
  constexpr unsigned long kLeastBefore = 2048;
  const unsigned long least = getauxval(AT_MINSIGSTKSZ);
  return least == 0 ? kLeastBefore : least - bytes_of_tiles();
}

bool has_room_for_a_handler(const stack_t& stack) noexcept {
  return (stack.ss_flags & SS_DISABLE) != 0 || stack.ss_size >= bytes_of_a_handler();
}

/// SIGSTKSZ (8,192 bytes) has none: with AVX-512 a handler there has 4.7 KiB, and 1.4 if a tick comes. Tiles
/// of AMX take room twice, of the handler's frame and the tick's.
bool has_room_for_a_tick_in_a_handler(const stack_t& stack) noexcept {
  constexpr unsigned long kRoomy = 16384;
  const unsigned long frames = 4 * bytes_of_a_handler();
  return (stack.ss_flags & SS_DISABLE) != 0 ||
         stack.ss_size >= (frames > kRoomy ? frames : kRoomy) + 2 * bytes_of_tiles();
}

/// Some thread has, or had, an alternate stack without room for a tick in a handler. A word: not every
/// machine exchanges bytes.
unsigned g_small_alternate;

/// Sets the program's handlers again, as they are: sigaction() adds ours to their masks. While there is one
/// thread alone nobody changes them meanwhile; with more, or behind a seccomp filter, they stay as they are.
void note_small_alternate() noexcept {
  if (__atomic_exchange_n(&g_small_alternate, 1u, __ATOMIC_RELAXED) != 0) return;
  if (may_have_several_threads() || has_seccomp_filter()) return;
  sigset_t all, before;
  sigfillset(&all);
  next_sigmask(SIG_SETMASK, &all, &before);
  for (int signal = 1; signal < _NSIG; ++signal) {
    struct sigaction action;
    if (sigaction(signal, nullptr, &action) == 0 && runs_on_alternate_stack(action))
      sigaction(signal, &action, nullptr);
  }
  next_sigmask(SIG_SETMASK, &before, nullptr);
}

constinit NextCall g_sigpending("sigpending", sigpending);  // a tick's handler asks it, too

void change_ticks(int how) noexcept {
  sigset_t ours;
  sigemptyset(&ours);
  change_hidden(&ours, sigaddset);
  next_sigmask(how, &ours, nullptr);
}

/// See has_blocked_ticks(). A word, as above.
unsigned g_has_blocked_ticks;

void note_blocked(const sigset_t& set) noexcept {
  const int signal = TickSlot::signal_number();
  if (signal != 0 && sigismember(&set, signal) == 1)
    __atomic_store_n(&g_has_blocked_ticks, 1u, __ATOMIC_RELAXED);
}

int change_mask(decltype(pthread_sigmask)* next, int how, const sigset_t* set, sigset_t* before) noexcept {
  enter_once();
  const Visible visible(set, ReadBy::kLibrary);
  const Mask mask(set);
  if (set != nullptr && how != SIG_UNBLOCK) note_blocked(*set);
  const bool as_given = how == SIG_UNBLOCK && t_no_ticks == 0;
  const int result = next(how, as_given ? set : how == SIG_SETMASK ? mask.get() : visible.get(), before);
  if (result == 0 && before != nullptr) change_hidden(before, sigdelset);
  return result;
}

/// False if it is no memory, which is the kernel's to answer (EFAULT).
bool can_read_stack(const stack_t* stack) noexcept {
  return can_read_mask(stack) && can_read_mask(reinterpret_cast<const char*>(stack + 1) - _NSIG / 8);
}

/// For calls younger than some C libraries.
template <typename Function>
Function* or_fail(Function* function) noexcept {
  if (function == nullptr) errno = ENOSYS;
  return function;
}

}  // namespace

void bring_signal_hooks() noexcept {}

void keep_ticks_blocked(NoTicks why, bool blocked) noexcept {
  const uint8_t bit = static_cast<uint8_t>(why), before = t_no_ticks;
  if (!blocked && has_seccomp_filter()) return;
  const auto after = static_cast<uint8_t>(blocked ? before | bit : before & ~bit);
  if ((before == 0) != (after == 0)) change_ticks(blocked ? SIG_BLOCK : SIG_UNBLOCK);
  t_no_ticks = after;  // now: a tick that waited came in the call, and was blocked until then
}

bool can_read_mask(const void* mask) noexcept {
  asm("" : "+r"(mask));  // <signal.h> says of some that they are not null, and the question would be left out
  return mask != nullptr && (has_seccomp_filter() || kernel_can_read_mask(mask));
}

bool kernel_can_read_mask(const void* mask) noexcept {
  constexpr int kNoChange = -1;  // the kernel reads the mask first, and then refuses
  const int before = errno;
  const bool read = syscall(SYS_rt_sigprocmask, kNoChange, mask, nullptr, _NSIG / 8) == 0 || errno != EFAULT;
  errno = before;
  return read;
}

bool has_blocked_ticks() noexcept { return __atomic_load_n(&g_has_blocked_ticks, __ATOMIC_RELAXED) != 0; }

bool keeps_ticks_blocked() noexcept { return t_no_ticks != 0; }
bool keeps_ticks_blocked(NoTicks why) noexcept { return (t_no_ticks & static_cast<uint8_t>(why)) != 0; }

bool has_no_stack_for_ticks() noexcept {
  return keeps_ticks_blocked(NoTicks::kAlternateStack) || keeps_ticks_blocked(NoTicks::kSmallStack);
}

bool has_no_room_for_ticks(const struct sigaction& action) noexcept {
  return __atomic_load_n(&g_small_alternate, __ATOMIC_RELAXED) != 0 && runs_on_alternate_stack(action);
}

void block_ticks_in(sigset_t* mask) noexcept { change_hidden(mask, sigaddset); }

void hide_ticks(sigset_t* mask) noexcept { change_hidden(mask, sigdelset); }

void note_waiting_tick(const void* context) noexcept {
  unsigned long long interrupted = 0, waiting = 0;
  memcpy(&interrupted, interrupted_mask(context), _NSIG / 8);
  if ((interrupted & hidden_signals()) != 0 || t_no_ticks != 0 || has_seccomp_filter()) return;
  sigset_t pending;  // not by syscall(2), which is ours and takes more of the stack
  sigemptyset(&pending);
  g_sigpending.get()(&pending);
  memcpy(&waiting, &pending, _NSIG / 8);
  if ((waiting & hidden_signals()) != 0) t_tick_waited = true;
}

bool may_have_several_threads() noexcept {
  return &__libc_single_threaded == nullptr || __libc_single_threaded == 0;
}

bool waits_with_a_mask() noexcept { return t_waits; }

bool takes_waiting_tick() noexcept {
  const bool waited = t_tick_waited;
  t_tick_waited = false;
  return waited;
}

}  // namespace pctally

using namespace pctally;

#define PCTALLY_HOOK extern "C" __attribute__((visibility("default")))

namespace {

constinit NextCall g_pthread_sigmask("pthread_sigmask", pthread_sigmask);
constinit NextCall g_sigprocmask("sigprocmask", sigprocmask);
constinit NextCall g_sigwait("sigwait", sigwait);
constinit NextCall g_sigwaitinfo("sigwaitinfo", sigwaitinfo);
constinit NextCall g_sigtimedwait("sigtimedwait", sigtimedwait);
constinit NextCall g_sigsuspend("sigsuspend", sigsuspend);
constinit NextCall<int(int, const sigset_t*, int)> g_signalfd("signalfd");
constinit NextCall<int(pollfd*, nfds_t, const timespec*, const sigset_t*)> g_ppoll("ppoll");
constinit NextCall<int(pollfd*, nfds_t, const timespec*, const sigset_t*, size_t)> g_ppoll_chk("__ppoll_chk");
constinit NextCall<int(int, fd_set*, fd_set*, fd_set*, const timespec*, const sigset_t*)> g_pselect(
    "pselect");
constinit NextCall<int(int, epoll_event*, int, int, const sigset_t*)> g_epoll_pwait("epoll_pwait");
constinit NextCall<int(int, epoll_event*, int, const timespec*, const sigset_t*)> g_epoll_pwait2(
    "epoll_pwait2");
constinit NextCall g_sigaltstack("sigaltstack", sigaltstack);
constinit NextCall g_munmap("munmap", munmap);

__attribute__((constructor)) void find_calls() noexcept {
  find_all(g_pthread_sigmask, g_sigprocmask, g_sigwait, g_sigwaitinfo, g_sigtimedwait, g_sigsuspend,
           g_signalfd, g_ppoll, g_ppoll_chk, g_pselect, g_epoll_pwait, g_epoll_pwait2, g_sigaltstack,
           g_munmap, g_sigpending);
}

/// Behind a seccomp filter that may kill for a change of the mask, where a tick finds no stack: it stays.
int unmap_around_stack(void* memory, size_t bytes) noexcept {
  const uintptr_t page = getauxval(AT_PAGESZ);
  const auto start = reinterpret_cast<uintptr_t>(memory), end = start + bytes;
  const auto stack = reinterpret_cast<uintptr_t>(t_alternate.ss_sp) & ~(page - 1);
  const auto behind =
      (reinterpret_cast<uintptr_t>(t_alternate.ss_sp) + t_alternate.ss_size + page - 1) & ~(page - 1);
  if (bytes == 0 || start % page != 0) return g_munmap.get()(memory, bytes);
  if (start < stack && g_munmap.get()(memory, stack - start) != 0) return -1;
  return behind < end ? g_munmap.get()(reinterpret_cast<void*>(behind), end - behind) : 0;
}

}  // namespace

PCTALLY_HOOK int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return change_mask(g_pthread_sigmask.get(), how, set, before);
}

PCTALLY_HOOK int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return change_mask(g_sigprocmask.get(), how, set, before);
}

PCTALLY_HOOK int sigwait(const sigset_t* set, int* signal) {
  return g_sigwait.get()(Visible(set).get(), signal);
}

PCTALLY_HOOK int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  return g_sigwaitinfo.get()(Visible(set).get(), info);
}

PCTALLY_HOOK int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  return g_sigtimedwait.get()(Visible(set).get(), info, timeout);
}

PCTALLY_HOOK int sigsuspend(const sigset_t* set) {
  const Wait wait(set);
  return g_sigsuspend.get()(wait.mask());
}

/// A tick that waits, for we block it, is not the program's to see.
PCTALLY_HOOK int sigpending(sigset_t* set) noexcept {
  const int result = g_sigpending.get()(set);
  if (result == 0) hide_ticks(set);
  return result;
}

PCTALLY_HOOK int signalfd(int fd, const sigset_t* set, int flags) noexcept {
  return g_signalfd.get()(fd, Visible(set).get(), flags);
}

PCTALLY_HOOK int ppoll(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* set) {
  const Wait wait(set);
  return g_ppoll.get()(fds, count, timeout, wait.mask());
}

/// What ppoll(2) is called by programs built with _FORTIFY_SOURCE.
PCTALLY_HOOK int __ppoll_chk(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* set,
                             size_t bytes) {
  const Wait wait(set);
  auto* function = or_fail(g_ppoll_chk.get());
  return function == nullptr ? -1 : function(fds, count, timeout, wait.mask(), bytes);
}

PCTALLY_HOOK int pselect(int count, fd_set* read, fd_set* write, fd_set* error, const timespec* timeout,
                         const sigset_t* set) {
  const Wait wait(set);
  return g_pselect.get()(count, read, write, error, timeout, wait.mask());
}

PCTALLY_HOOK int epoll_pwait(int fd, epoll_event* events, int most, int timeout, const sigset_t* set) {
  const Wait wait(set);
  return g_epoll_pwait.get()(fd, events, most, timeout, wait.mask());
}

PCTALLY_HOOK int epoll_pwait2(int fd, epoll_event* events, int most, const timespec* timeout,
                              const sigset_t* set) {
  const Wait wait(set);
  auto* function = or_fail(g_epoll_pwait2.get());
  return function == nullptr ? -1 : function(fd, events, most, timeout, wait.mask());
}

/// Blocked before the kernel knows the stack, and let through after it has another.
PCTALLY_HOOK int sigaltstack(const stack_t* stack, stack_t* before) noexcept {
  auto* function = g_sigaltstack.get();
  if (stack != nullptr && runs_in_lent_memory()) return function(stack, before);
  const bool watched = hidden_signals() != 0 && can_read_stack(stack);
  const bool blocked = keeps_ticks_blocked(NoTicks::kAlternateStack);
  const bool block = watched && !has_room_for_a_handler(*stack);
  if (block) keep_ticks_blocked(NoTicks::kAlternateStack, true);
  const int result = function(stack, before);
  if (watched && result == 0 && !has_room_for_a_tick_in_a_handler(*stack)) note_small_alternate();
  if (stack != nullptr && result == 0) t_alternate = (stack->ss_flags & SS_DISABLE) != 0 ? stack_t{} : *stack;
  if (watched) keep_ticks_blocked(NoTicks::kAlternateStack, result == 0 ? block : blocked);
  return result;
}

/// A program may unmap its alternate stack and leave it to the kernel. Blocked before, as by sigaltstack().
PCTALLY_HOOK int munmap(void* memory, size_t bytes) noexcept {
  if (!holds_alternate_stack(memory, bytes) || hidden_signals() == 0) return g_munmap.get()(memory, bytes);
  if (has_seccomp_filter() && !keeps_ticks_blocked()) return unmap_around_stack(memory, bytes);
  keep_ticks_blocked(NoTicks::kAlternateStack, true);
  return g_munmap.get()(memory, bytes);
}
