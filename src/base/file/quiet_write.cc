#include "base/file/quiet_write.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file/write_all.h"
#include "base/next_call.h"

namespace pctally {
namespace {

/// Removes a signal that the kernel has sent to this thread, which has it blocked.
void discard(int signal) noexcept {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, signal);
#ifdef SYS_rt_sigtimedwait
  constexpr long kTake = SYS_rt_sigtimedwait;
#else
  constexpr long kTake = SYS_rt_sigtimedwait_time64;
#endif
  const long long no_time[2] = {0, 0};
  syscall(kTake, &signals, nullptr, no_time, _NSIG / 8);
}

}  // namespace

bool write_quietly(int fd, const void* bytes, size_t count) noexcept {
  sigset_t signals, before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGXFSZ);
  sigaddset(&signals, SIGPIPE);
  next_sigmask(SIG_BLOCK, &signals, &before);
  sigset_t own;  // what the program has blocked and waits for
  sigemptyset(&own);
  syscall(SYS_rt_sigpending, &own, _NSIG / 8);
  const bool written = write_all(fd, bytes, count);
  const int error = errno;
  const int sent = written ? 0 : error == EFBIG ? SIGXFSZ : error == EPIPE ? SIGPIPE : 0;
  if (sent != 0 && sigismember(&own, sent) == 0) discard(sent);
  next_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

}  // namespace pctally
