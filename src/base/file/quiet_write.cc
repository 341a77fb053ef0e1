#include "base/file/quiet_write.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file/write_all.h"
#include "base/next_call.h"

namespace pctally {
namespace {

/// Of this thread, which has them blocked: the kernel sends them to the thread that writes.
void discard(const sigset_t& signals) noexcept {
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
  const bool written = write_all(fd, bytes, count);
  const int error = errno;
  if (!written && (error == EFBIG || error == EPIPE)) discard(signals);
  next_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

}  // namespace pctally
