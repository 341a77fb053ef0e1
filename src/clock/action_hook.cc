// sigaction(2) and signal(3) in front of the C library's, for the signals a handler of ours stands in front
// of: the program sees, and sets, what lies behind it. So it cannot take our ticks away by accident, and its
// own handler of SIGTRAP, SIGSEGV or SIGBUS works as it does without us.
//
// And the two calls that bring a seccomp filter, behind which our code makes no system call. syscall(2) may
// make a child, or change the root directory, too.
#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/next_call.h"
#include "clock/thread_hook.h"
#include "clock/tick_signal.h"
#include "fault/front_handler.h"

namespace pctally {

void bring_action_hooks() noexcept {}

}  // namespace pctally

using namespace pctally;

#define PCTALLY_HOOK extern "C" __attribute__((visibility("default")))

namespace {

bool exchange(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  enter_once();
  return exchange_program_action(signal, action, before) || exchange_behind(signal, action, before);
}

using SignalFunction = sighandler_t(int, sighandler_t);

sighandler_t set_handler(SignalFunction* next, int signal, sighandler_t handler, int flags) noexcept {
  struct sigaction action {
  }, before{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  if ((flags & SA_NODEFER) == 0) sigaddset(&action.sa_mask, signal);
  if (!exchange(signal, handler == SIG_ERR ? nullptr : &action, &before)) return next(signal, handler);
  return before.sa_handler;
}

}  // namespace

PCTALLY_HOOK int sigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  if (exchange(signal, action, before)) return 0;
  return next_sigaction(signal, action, before);
}

PCTALLY_HOOK sighandler_t signal(int number, sighandler_t handler) noexcept {
  static SignalFunction* next;
  return set_handler(next_function("signal", &next), number, handler, SA_RESTART);
}

/// What signal(3) is called by programs built for System V.
PCTALLY_HOOK sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept {
  static SignalFunction* next;
  return set_handler(next_function("__sysv_signal", &next), number, handler,
                     static_cast<int>(SA_RESETHAND) | SA_NODEFER);
}

PCTALLY_HOOK int prctl(int option, ...) noexcept {
  enter_once();
  static int (*next)(int, ...);
  va_list list;
  va_start(list, option);
  unsigned long arguments[4];
  for (unsigned long& argument : arguments) argument = va_arg(list, unsigned long);
  va_end(list);
  const int result =
      next_function("prctl", &next)(option, arguments[0], arguments[1], arguments[2], arguments[3]);
  if (option == PR_SET_SECCOMP && result == 0) note_seccomp_filter();
  return result;
}

PCTALLY_HOOK long syscall(long number, ...) noexcept {
  enter_once();
  static long (*next)(long, ...);
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  const long result = next_function("syscall", &next)(number, arguments[0], arguments[1], arguments[2],
                                                      arguments[3], arguments[4], arguments[5]);
  if (number == SYS_clone && result == 0) enter_once();  // in a child
  if (number == SYS_pivot_root && result == 0) check_root();
  if (number == SYS_seccomp && result == 0 && arguments[0] != SECCOMP_GET_ACTION_AVAIL) note_seccomp_filter();
  return result;
}
