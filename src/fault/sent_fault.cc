#include "fault/sent_fault.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/next_call.h"
#include "tick/context.h"

namespace pctally {

__thread OwnHandler t_own_handler;

namespace {

constexpr unsigned kMostHandlers = 4;
SignalHandler g_handlers[kMostHandlers] = {};

bool is_entry(uint64_t pc) noexcept {
  for (const SignalHandler& handler : g_handlers)
    if (const auto entry = reinterpret_cast<uintptr_t>(__atomic_load_n(&handler, __ATOMIC_RELAXED));
        entry != 0 && entry == pc)
      return true;
  return false;
}

/// To this thread, as whoever sent it first.
void send_again(const SentFault& fault) noexcept {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_signo = fault.signal;
  info.si_code = fault.code;
  info.si_pid = fault.pid;
  info.si_uid = fault.uid;
  info.si_value.sival_ptr = fault.value;
  next_sigmask(SIG_BLOCK, fault.signal);
  syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), fault.signal, &info);
}

}  // namespace

void send_kept_faults() noexcept {
  const int error = errno;
  for (SentFault& kept : t_own_handler.kept) {
    const SentFault fault = kept;
    kept.signal = 0;
    if (fault.signal != 0) send_again(fault);
  }
  errno = error;
}

void know_own_handler(SignalHandler handler) noexcept {
  for (SignalHandler& known : g_handlers) {
    SignalHandler none = nullptr;
    if (__atomic_load_n(&known, __ATOMIC_RELAXED) == handler) return;
    if (__atomic_compare_exchange_n(&known, &none, handler, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return;
  }
}

bool keep_sent_fault(int signal, const siginfo_t* info, const void* context) noexcept {
  if (signal != SIGSEGV && signal != SIGBUS) return false;
  if (t_own_handler.running == 0 && !is_entry(interrupted_pc(context))) return false;
  // As one that is pending: a second of the same number is no further signal.
  t_own_handler.kept[signal == SIGSEGV ? 0 : 1] = {signal, info->si_code, info->si_pid, info->si_uid,
                                                   info->si_value.sival_ptr};
  return true;
}

/// What our first instruction itself may write to is the stack.
bool precedes_own_handler(const siginfo_t* info, const void* context) noexcept {
  constexpr uint64_t kNear = 4096;
  const UnwindRegisters registers = interrupted_registers(context);
  if (!is_entry(registers.pc) || registers.stack == 0) return false;
  return reinterpret_cast<uintptr_t>(info->si_addr) - (registers.stack - kNear) >= 2 * kNear;
}

}  // namespace pctally
