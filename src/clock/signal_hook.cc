// The calls by which a program waits for signals, blocks them or asks which it blocks, in front of the C
// library's: the signals our ticks come with are not among them. A program never receives one of ours, and no
// code of it goes unobserved because it blocks "all signals".
//
// While no clock runs each costs one load more.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>

#include "base/next_call.h"
#include "clock/thread_hook.h"

namespace pctally {
namespace {

void remove_hidden(sigset_t* set, unsigned long long hidden) noexcept {
  for (; hidden != 0; hidden &= hidden - 1) sigdelset(set, __builtin_ctzll(hidden) + 1);
}

/// A set as the program gave it, without ours.
class Visible {
 public:
  explicit Visible(const sigset_t* given) noexcept : set_(given) {
    const unsigned long long hidden = hidden_signals();
    if (given == nullptr || hidden == 0) return;
    copy_ = *given;
    remove_hidden(&copy_, hidden);
    set_ = &copy_;
  }
  [[nodiscard]] const sigset_t* get() const noexcept { return set_; }

 private:
  const sigset_t* set_;
  sigset_t copy_;
};

int change_mask(decltype(pthread_sigmask)* next, int how, const sigset_t* set, sigset_t* before) noexcept {
  look_first();
  const Visible visible(how == SIG_UNBLOCK ? nullptr : set);
  const int result = next(how, how == SIG_UNBLOCK ? set : visible.get(), before);
  if (result == 0 && before != nullptr) remove_hidden(before, hidden_signals());
  return result;
}

template <typename Function>
Function* next_or_fail(const char* name, Function** kept) noexcept {
  Function* function = next_function(name, kept);
  if (function == nullptr) errno = ENOSYS;
  return function;
}

}  // namespace

void bring_signal_hooks() noexcept {}

}  // namespace pctally

using namespace pctally;

#define PCTALLY_HOOK extern "C" __attribute__((visibility("default")))

PCTALLY_HOOK int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  static decltype(pthread_sigmask)* next;
  return change_mask(next_function("pthread_sigmask", &next), how, set, before);
}

PCTALLY_HOOK int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  static decltype(pthread_sigmask)* next;
  return change_mask(next_function("sigprocmask", &next), how, set, before);
}

PCTALLY_HOOK int sigwait(const sigset_t* set, int* signal) {
  static decltype(sigwait)* next;
  return next_function("sigwait", &next)(Visible(set).get(), signal);
}

PCTALLY_HOOK int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  static decltype(sigwaitinfo)* next;
  return next_function("sigwaitinfo", &next)(Visible(set).get(), info);
}

PCTALLY_HOOK int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  static decltype(sigtimedwait)* next;
  return next_function("sigtimedwait", &next)(Visible(set).get(), info, timeout);
}

PCTALLY_HOOK int sigsuspend(const sigset_t* set) {
  static decltype(sigsuspend)* next;
  return next_function("sigsuspend", &next)(Visible(set).get());
}

PCTALLY_HOOK int signalfd(int fd, const sigset_t* set, int flags) noexcept {
  static int (*next)(int, const sigset_t*, int);
  return next_function("signalfd", &next)(fd, Visible(set).get(), flags);
}

PCTALLY_HOOK int ppoll(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* set) {
  static int (*next)(pollfd*, nfds_t, const timespec*, const sigset_t*);
  return next_function("ppoll", &next)(fds, count, timeout, Visible(set).get());
}

/// What ppoll(2) is called by programs built with _FORTIFY_SOURCE.
PCTALLY_HOOK int __ppoll_chk(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* set,
                             size_t bytes) {
  static int (*next)(pollfd*, nfds_t, const timespec*, const sigset_t*, size_t);
  auto* function = next_or_fail("__ppoll_chk", &next);
  return function == nullptr ? -1 : function(fds, count, timeout, Visible(set).get(), bytes);
}

PCTALLY_HOOK int pselect(int count, fd_set* read, fd_set* write, fd_set* error, const timespec* timeout,
                         const sigset_t* set) {
  static int (*next)(int, fd_set*, fd_set*, fd_set*, const timespec*, const sigset_t*);
  return next_function("pselect", &next)(count, read, write, error, timeout, Visible(set).get());
}

PCTALLY_HOOK int epoll_pwait(int fd, epoll_event* events, int most, int timeout, const sigset_t* set) {
  static int (*next)(int, epoll_event*, int, int, const sigset_t*);
  return next_function("epoll_pwait", &next)(fd, events, most, timeout, Visible(set).get());
}

PCTALLY_HOOK int epoll_pwait2(int fd, epoll_event* events, int most, const timespec* timeout,
                              const sigset_t* set) {
  static int (*next)(int, epoll_event*, int, const timespec*, const sigset_t*);
  auto* function = next_or_fail("epoll_pwait2", &next);
  return function == nullptr ? -1 : function(fd, events, most, timeout, Visible(set).get());
}
