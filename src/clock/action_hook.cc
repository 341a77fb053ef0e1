// sigaction(2) and signal(3) in front of the C library's, for the signals a handler of ours stands in front
// of: the program sees, and sets, what lies behind it. So it cannot take our ticks away by accident, and its
// own handler of SIGTRAP, SIGSEGV or SIGBUS works as it does without us.
//
// And the two calls that bring a seccomp filter, behind which our code makes no system call. syscall(2) may
// make a child, change the root directory, or set an action, too: browsers reset all of them so in a child
// that is to execute a program, and would have no handler at its next tick.
#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <span>

#include "base/hidden_signals.h"
#include "base/kernel/seccomp_filter.h"
#include "base/next_call.h"
#include "clock/own_process.h"
#include "clock/thread_hook.h"
#include "clock/tick_signal.h"
#include "fault/displaced_action.h"
#include "fault/front_handler.h"

namespace pctally {

void bring_action_hooks() noexcept {}

}  // namespace pctally

using namespace pctally;

#define PCTALLY_HOOK extern "C" __attribute__((visibility("default")))

namespace {

/// False if no handler of ours is in front.
bool exchange_kept(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  return exchange_program_action(signal, action, before) || exchange_behind(signal, action, before);
}

/// The program sees what is behind ours, also where the kernel is to have the new action: if a signal is to
/// be ignored, and in a child of vfork(2), which has no ticks.
bool exchange(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  enter_once();
  struct sigaction kept {};
  if (!exchange_kept(signal, nullptr, &kept)) return false;
  const bool lent = runs_in_lent_memory();
  if (lent && signal == TickSlot::signal_number() && TickSlot::stolen()) return false;  // set by the child
  const struct sigaction wanted = action == nullptr ? kept : *action;                   // they may be one
  if (before != nullptr) *before = kept;
  if (action == nullptr) return true;
  if (!lent && exchange_kept(signal, &wanted, nullptr)) return true;
  return next_sigaction(signal, &wanted, nullptr) == 0;
}

/// What actions have of our ticks' signals in their masks, by bit (signal - 1). The kernel does not get them.
unsigned long long g_hidden_in_mask[_NSIG];

/// An action as the program gave it, or null; for the kernel without our ticks in its mask, so that a handler
/// is sampled as other code is. What the program finds is as it was set.
class Sampled {
 public:
  Sampled(int signal, const struct sigaction* given) noexcept : signal_(signal), action_(given) {
    if (given == nullptr) return;
    for (unsigned long long all = hidden_signals(); all != 0; all &= all - 1)
      if (sigismember(&given->sa_mask, __builtin_ctzll(all) + 1) == 1) hidden_ |= all & -all;
    if (hidden_ == 0 || runs_in_lent_memory()) return;  // a child of vfork(2) has no ticks
    copy_ = *given;
    hide_ticks(&copy_.sa_mask);
    action_ = &copy_;
  }
  Sampled(const Sampled&) = delete;
  Sampled& operator=(const Sampled&) = delete;

  [[nodiscard]] const struct sigaction* action() const noexcept { return action_; }

  /// It has been set, or there was none to set; `before`, the mask of what was there, may be null.
  void end(sigset_t* before) const noexcept {
    unsigned long long& kept = g_hidden_in_mask[signal_];
    for (unsigned long long bits = before == nullptr ? 0 : kept; bits != 0; bits &= bits - 1)
      sigaddset(before, __builtin_ctzll(bits) + 1);
    if (action_ != nullptr && kept != hidden_ && !runs_in_lent_memory()) kept = hidden_;
  }

 private:
  const int signal_;
  const struct sigaction* action_;
  unsigned long long hidden_ = 0;
  struct sigaction copy_;
};

/// Handlers of the program's that run with our ticks blocked.
DisplacedAction g_roomless[_NSIG];

/// As the kernel calls a handler, whatever its flags.
void on_roomless(int signal, siginfo_t* info, void* context) {
  g_roomless[signal].action().sa_sigaction(signal, info, context);
  note_waiting_tick(context);
}

/// The program's action, where the kernel has `found`.
struct sigaction as_set(int signal, const struct sigaction& found) noexcept {
  return found.sa_sigaction == on_roomless ? g_roomless[signal].action() : found;
}

#if defined(__x86_64__) || defined(__aarch64__)
/// An action as rt_sigaction(2) has it.
struct KernelAction {
  void (*handler)(int);
  unsigned long flags;
  void* restorer;
  uint64_t mask;
};
constexpr unsigned long kHasRestorer = 0x04000000;

struct sigaction from_kernel(const KernelAction& given) noexcept {
  struct sigaction action {};
  action.sa_handler = given.handler;
  action.sa_flags = static_cast<int>(given.flags & ~kHasRestorer);
  memcpy(&action.sa_mask, &given.mask, sizeof given.mask);
  return action;
}

/// `real`: what the kernel has, whose restorer goes with any handler.
KernelAction to_kernel(const struct sigaction& action, const KernelAction& real) noexcept {
  KernelAction result = real;
  result.handler = action.sa_handler;
  result.flags = (static_cast<unsigned>(action.sa_flags) & ~kHasRestorer) | (real.flags & kHasRestorer);
  memcpy(&result.mask, &action.sa_mask, sizeof result.mask);
  return result;
}

using NextSyscall = long(long, ...);

/// For an action that the kernel has itself.
long set_in_kernel(NextSyscall* next, const Sampled& sampled, int signal, KernelAction* wanted,
                   KernelAction* earlier) noexcept {
  if (wanted != nullptr) memcpy(&wanted->mask, &sampled.action()->sa_mask, sizeof wanted->mask);
  const long result = next(SYS_rt_sigaction, signal, wanted, earlier, sizeof wanted->mask);
  if (result != 0) {
    if (errno == EFAULT) sampled.end(nullptr);  // it is set: there is no memory for the one before
    return result;
  }
  sigset_t mask;
  sigemptyset(&mask);
  if (earlier != nullptr) *earlier = to_kernel(as_set(signal, from_kernel(*earlier)), *earlier);
  if (earlier != nullptr) memcpy(&mask, &earlier->mask, sizeof earlier->mask);
  sampled.end(&mask);
  if (earlier != nullptr) memcpy(&earlier->mask, &mask, sizeof earlier->mask);
  return 0;
}

/// rt_sigaction(2) by its number, its answer in *result; false: the kernel's to answer.
bool exchange_raw(NextSyscall* next, const long (&arguments)[6], long* result) noexcept {
  const auto signal = static_cast<int>(arguments[0]);
  const auto* given = reinterpret_cast<const KernelAction*>(arguments[1]);
  auto* earlier = reinterpret_cast<KernelAction*>(arguments[2]);
  KernelAction real{}, wanted{};
  if (arguments[3] != sizeof real.mask ||
      next(SYS_rt_sigaction, signal, nullptr, &real, sizeof real.mask) != 0 ||
      (given != nullptr && !(can_read_mask(given) && can_read_mask(&given->mask))))
    return false;
  struct sigaction action {
  }, before{};
  if (given != nullptr) action = from_kernel(wanted = *given);
  const Sampled sampled(signal, given == nullptr ? nullptr : &action);
  if (exchange(signal, sampled.action(), &before)) {
    sampled.end(&before.sa_mask);
    // The kernel says first whether there is memory.
    *result = earlier == nullptr ? 0 : next(SYS_rt_sigaction, signal, nullptr, earlier, sizeof real.mask);
    if (earlier != nullptr && *result == 0) *earlier = to_kernel(before, real);
  } else {
    *result = set_in_kernel(next, sampled, signal, given == nullptr ? nullptr : &wanted, earlier);
  }
  return true;
}
#else
bool exchange_raw(long (*)(long, ...), const long (&)[6], long*) noexcept { return false; }
#endif

/// SIGSEGV, SIGBUS and SIGTRAP have a handler of ours in front as it is: with ticks in its mask.
int set_roomless(int signal, const struct sigaction& action, struct sigaction* before) noexcept {
  struct sigaction adapted = action, displaced{};
  block_ticks_in(&adapted.sa_mask);
  if (exchange(signal, &adapted, before)) {
    if (before != nullptr) hide_ticks(&before->sa_mask);
    return 0;
  }
  if (next_sigaction(signal, nullptr, &displaced) != 0) return -1;
  displaced = as_set(signal, displaced);
  g_roomless[signal].set(action);
  adapted.sa_sigaction = on_roomless;
  adapted.sa_flags |= SA_SIGINFO;
  const int result = next_sigaction(signal, &adapted, nullptr);
  if (result == 0 && before != nullptr) *before = displaced;
  return result;
}

using SignalFunction = sighandler_t(int, sighandler_t);

constinit NextCall<SignalFunction> g_signal("signal");
constinit NextCall<SignalFunction> g_sysv_signal("__sysv_signal");
constinit NextCall<int(int, ...)> g_prctl("prctl");
constinit NextCall<long(long, ...)> g_syscall("syscall");

__attribute__((constructor)) void find_calls() noexcept {
  find_all(g_signal, g_sysv_signal, g_prctl, g_syscall);
}

sighandler_t set_handler(SignalFunction* next, int signal, sighandler_t handler, int flags) noexcept {
  struct sigaction action {
  }, before{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  if ((flags & SA_NODEFER) == 0) sigaddset(&action.sa_mask, signal);
  const bool kept = exchange(signal, handler == SIG_ERR ? nullptr : &action, &before);
  if (!kept) before.sa_handler = next(signal, handler);
  if (handler != SIG_ERR && before.sa_handler != SIG_ERR) Sampled(signal, &action).end(nullptr);
  return kept ? before.sa_handler : as_set(signal, before).sa_handler;
}

/// For an action that leaves room for a tick.
int set_roomy(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  if (exchange(signal, action, before)) return 0;
  const int result = next_sigaction(signal, action, before);
  if (result == 0 && before != nullptr) *before = as_set(signal, *before);
  return result;
}

#ifndef SECCOMP_FILTER_FLAG_NEW_LISTENER
#define SECCOMP_FILTER_FLAG_NEW_LISTENER (1UL << 3)
#endif

/// A call that may bring a seccomp filter. Made before the filter is there: where no handler could return
/// behind it, the thread gets no tick from then on.
class Filtering {
 public:
  static Filtering by_prctl(unsigned long option, unsigned long mode, unsigned long filter) noexcept {
    const bool installs = option == PR_SET_SECCOMP;
    return {installs, false, installs && mode == SECCOMP_MODE_FILTER ? filter : 0};
  }
  static Filtering by_seccomp(unsigned long operation, unsigned long flags, unsigned long filter) noexcept {
    const bool filters = operation == SECCOMP_SET_MODE_FILTER;
    return {filters || operation == SECCOMP_SET_MODE_STRICT, (flags & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0,
            filters ? filter : 0};
  }
  static Filtering by_number(long number, const long (&arguments)[6]) noexcept {
    const auto first = static_cast<unsigned long>(arguments[0]),
               second = static_cast<unsigned long>(arguments[1]),
               third = static_cast<unsigned long>(arguments[2]);
    if (number == SYS_prctl) return by_prctl(first, second, third);
    if (number == SYS_seccomp) return by_seccomp(first, second, third);
    return {false, false, 0};
  }
  /// A listener's descriptor is a success; else a number above 0 is a thread that could not be synchronised.
  void end(long result) const noexcept {
    const bool installed = asked_ && (result == 0 || (listens_ && result > 0));
    if (installed) note_seccomp_filter(allows_masks_);
    if (ends_ticks_ && installed) note_filter_cost(FilterCost::kTick);
    if (ends_ticks_ && !installed) keep_ticks_blocked(NoTicks::kFilter, false);
  }

 private:
  Filtering(bool asked, bool listens, unsigned long filter) noexcept
      : asked_(asked && !runs_in_lent_memory()), listens_(listens) {
    if (!asked_ || filter == 0 || !may_change_masks()) return;
    const std::span<const sock_filter> instructions = read(reinterpret_cast<const sock_fprog*>(filter));
    if (instructions.empty()) return;
    allows_masks_ = allows(instructions, SYS_rt_sigprocmask);
    ends_ticks_ = hidden_signals() != 0 && !allows(instructions, SYS_rt_sigreturn);
    if (ends_ticks_) keep_ticks_blocked(NoTicks::kFilter, true);
  }

  /// Empty if it cannot be read, which the kernel is to answer.
  static std::span<const sock_filter> read(const sock_fprog* program) noexcept {
    if (!can_read(program, sizeof *program)) return {};
    const sock_fprog copy = *program;
    if (!can_read(copy.filter, copy.len * sizeof *copy.filter)) return {};
    return {copy.filter, copy.len};
  }

  static bool can_read(const void* memory, size_t bytes) noexcept {
    constexpr size_t kAtATime = 8, kPage = 4096;
    const char* const first = static_cast<const char*>(memory);
    if (first == nullptr || bytes < kAtATime) return false;
    for (size_t at = 0; at < bytes - kAtATime; at += kPage)
      if (!kernel_can_read_mask(first + at)) return false;
    return kernel_can_read_mask(first + bytes - kAtATime);
  }

  const bool asked_, listens_;
  bool ends_ticks_ = false, allows_masks_ = false;
};

/// prctl(2) that turns syscall user dispatch on or off: while it is on, code of the thread may make no system
/// call, the return of a handler neither (Wine runs Windows programs so). Its ticks wait, and are of no place
/// then.
class Dispatching {
 public:
  /// Blocks them before the call turns it on.
  Dispatching(bool is_prctl, unsigned long option, unsigned long mode) noexcept
      : asked_(is_prctl && option == kOption && !runs_in_lent_memory()), on_(mode != 0) {
    if (asked_ && on_ && hidden_signals() != 0) keep_ticks_blocked(NoTicks::kDispatch, true);
  }
  void end(long result) const noexcept {
    if (asked_ && on_ == (result != 0)) keep_ticks_blocked(NoTicks::kDispatch, false);
  }

 private:
  static constexpr unsigned long kOption = 59;  // PR_SET_SYSCALL_USER_DISPATCH, of Linux 5.11
  const bool asked_, on_;
};

}  // namespace

PCTALLY_HOOK int sigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  const Sampled sampled(signal, action);
  const bool roomless = action != nullptr && has_no_room_for_ticks(*action) && !runs_in_lent_memory();
  const int result =
      roomless ? set_roomless(signal, *action, before) : set_roomy(signal, sampled.action(), before);
  if (result == 0) sampled.end(before == nullptr ? nullptr : &before->sa_mask);
  return result;
}

PCTALLY_HOOK sighandler_t signal(int number, sighandler_t handler) noexcept {
  return set_handler(g_signal.get(), number, handler, SA_RESTART);
}

/// What signal(3) is called by programs built for System V.
PCTALLY_HOOK sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept {
  return set_handler(g_sysv_signal.get(), number, handler, static_cast<int>(SA_RESETHAND) | SA_NODEFER);
}

PCTALLY_HOOK int prctl(int option, ...) noexcept {
  enter_once();
  va_list list;
  va_start(list, option);
  unsigned long arguments[4];
  for (unsigned long& argument : arguments) argument = va_arg(list, unsigned long);
  va_end(list);
  const auto filtering = Filtering::by_prctl(static_cast<unsigned long>(option), arguments[0], arguments[1]);
  const Dispatching dispatching(true, static_cast<unsigned long>(option), arguments[0]);
  const int result = g_prctl.get()(option, arguments[0], arguments[1], arguments[2], arguments[3]);
  filtering.end(result);
  dispatching.end(result);
  return result;
}

PCTALLY_HOOK long syscall(long number, ...) noexcept {
  enter_once();
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  auto* next = g_syscall.get();
  long answer = 0;
  if (number == SYS_rt_sigaction && exchange_raw(next, arguments, &answer)) return answer;
  const auto filtering = Filtering::by_number(number, arguments);
  const Dispatching dispatching(number == SYS_prctl, static_cast<unsigned long>(arguments[0]),
                                static_cast<unsigned long>(arguments[1]));
  const long result =
      next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
  if (number == SYS_clone && result == 0) enter_once();  // in a child
  if (number == SYS_pivot_root && result == 0) check_root();
  filtering.end(result);
  dispatching.end(result);
  return result;
}
