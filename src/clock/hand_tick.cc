#include "clock/hand_tick.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "clock/thread_hook.h"
#include "fault/fault_guard.h"
#include "fault/front_handler.h"
#include "fault/sent_fault.h"

namespace pctally {
namespace {

constexpr size_t kKernelSigsetBytes = _NSIG / 8;

bool blocks_guarded(const sigset_t& mask) noexcept {
  for (const int signal : {SIGSEGV, SIGBUS})
    if (has_front(signal) && sigismember(&mask, signal) == 1) return true;
  return false;
}

}  // namespace

HandTick::HandTick() noexcept : blocked_(!has_seccomp_filter()) {
  if (!blocked_) return;
  sigset_t all;
  block_all_but_guarded(&all);
  hide_ticks(&all);
  sigdelset(&all, SIGSYS);  // a filter that we have not seen may send it for our own calls
  sigemptyset(&before_);
  blocked_ = syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before_, kKernelSigsetBytes) == 0;
  if (!blocked_) return;
  begin_own_handler();
  if (blocks_guarded(before_)) admit_faults();  // one that waits in the mask comes now, and is kept
}

HandTick::~HandTick() {
  if (!blocked_) return;
  end_own_handler();
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, kKernelSigsetBytes);
}

}  // namespace pctally
