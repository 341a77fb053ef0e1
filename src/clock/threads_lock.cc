#include "clock/threads_lock.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "base/hidden_signals.h"
#include "clock/thread_hook.h"

namespace pctally {

HandlersBlocked::HandlersBlocked() noexcept : blocked_(!has_seccomp_filter()) {
  if (!blocked_) return;
  constexpr unsigned kBits = 8 * sizeof(unsigned long);
  unsigned long all[kWords];
  for (unsigned i = 0; i < kWords; ++i)
    all[i] = i * kBits < 64 ? ~static_cast<unsigned long>(hidden_signals() >> (i * kBits % 64)) : ~0ul;
  blocked_ = syscall(SYS_rt_sigprocmask, SIG_BLOCK, all, before_, sizeof all) == 0;
}

HandlersBlocked::~HandlersBlocked() {
  if (blocked_) syscall(SYS_rt_sigprocmask, SIG_SETMASK, before_, nullptr, sizeof before_);
}

}  // namespace pctally
