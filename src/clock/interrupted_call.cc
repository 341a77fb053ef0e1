#include "clock/interrupted_call.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <initializer_list>

#include "base/hidden_signals.h"
#include "clock/thread_hook.h"
#include "tick/context.h"

namespace pctally {

#if defined(__x86_64__) && defined(__LP64__)

namespace {

using KernelMask = uint64_t;

/// Not by syscall(2), which is ours and takes more of the stack.
int64_t call_kernel(long number, uint64_t first, const void* second, void* third, uint64_t fourth) noexcept {
  int64_t result = number;
  register uint64_t last __asm__("r10") = fourth;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(first), "S"(second), "d"(third), "r"(last)
                   : "rcx", "r11", "memory");
  return result;
}

/// The calls that SA_RESTART continues after a handler, and that end with EINTR without it: signal(7).
bool depends_on_restart(uint64_t number, uint64_t second) noexcept {
  switch (number) {
    case SYS_read:
    case SYS_readv:
    case SYS_pread64:
    case SYS_preadv:
    case SYS_preadv2:
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_open:
    case SYS_openat:
    case SYS_openat2:
    case SYS_creat:
    case SYS_ioctl:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendfile:
    case SYS_splice:
    case SYS_tee:
    case SYS_vmsplice:
    case SYS_copy_file_range:
    case SYS_flock:
    case SYS_fcntl:
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive:
    case SYS_getrandom:
    case SYS_open_by_handle_at:
    case 449:  // futex_waitv, which older headers lack,
    case 455:  // and futex_wait
      return true;
    case SYS_futex: {
      const uint64_t what = second & static_cast<uint64_t>(FUTEX_CMD_MASK);
      return what == FUTEX_WAIT || what == FUTEX_WAIT_BITSET;
    }
    default:
      return false;
  }
}

struct KernelAction {
  void (*handler)(int);
  uint64_t flags;
  void (*restorer)();
  KernelMask mask;
};

/// What the program has for a signal.
enum class Handler : uint8_t { kNone, kRestarts, kEndsCalls };

Handler handler_of(int signal) noexcept {
  KernelAction action{};
  if (call_kernel(SYS_rt_sigaction, static_cast<uint64_t>(signal), nullptr, &action, sizeof(KernelMask)) != 0)
    return Handler::kNone;
  if (action.handler == SIG_DFL || action.handler == SIG_IGN) return Handler::kNone;
  return (action.flags & SA_RESTART) != 0 ? Handler::kRestarts : Handler::kEndsCalls;
}

/// Whether a handler of the program's for a signal that is sent, and not raised by code, ends calls.
bool ends_calls_at_all() noexcept {
  constexpr int kCancel = 32, kSetId = 33;  // the C library's
  KernelMask signals = ~hidden_signals();
  for (const int other : {SIGSEGV, SIGBUS, SIGTRAP, SIGFPE, SIGILL, kCancel, kSetId})
    signals &= ~(KernelMask{1} << (other - 1));
  for (; signals != 0; signals &= signals - 1)
    if (handler_of(__builtin_ctzll(signals) + 1) == Handler::kEndsCalls) return true;
  return false;
}

/// The handler that runs when ours has returned, in a thread that then blocks `mask`.
Handler next_handler(KernelMask mask) noexcept {
  KernelMask pending = 0;
  call_kernel(SYS_rt_sigpending, reinterpret_cast<uint64_t>(&pending),
              reinterpret_cast<const void*>(sizeof pending), nullptr, 0);
  for (pending &= ~mask & ~hidden_signals(); pending != 0; pending &= pending - 1) {
    const Handler handler = handler_of(__builtin_ctzll(pending) + 1);
    if (handler != Handler::kNone) return handler;
  }
  return Handler::kNone;
}

/// While our handler blocks all, the kernel gives a signal for the process to another thread if there is one.
/// Where it has taken it already, any handler of the program's may have run: better a call too many that ends
/// with EINTR than one that never ends.
[[gnu::noinline]] bool is_to_end(const void* context) noexcept {
  KernelMask mask = 0;
  memcpy(&mask, interrupted_mask(context), sizeof mask);
  const Handler handler = next_handler(mask);
  if (handler == Handler::kNone && may_have_several_threads()) return ends_calls_at_all();
  return handler == Handler::kEndsCalls;
}

constexpr int64_t kInstructionBytes = 2;  // of the system call

/// After a system call RCX has its end and R11 the flags, also where the kernel has set it back. 0: it has
/// ended; kInstructionBytes: it is to start again; else the context is none of a system call.
int64_t bytes_to_end_of_call(const gregset_t& registers) noexcept {
  return registers[REG_R11] == registers[REG_EFL] ? registers[REG_RCX] - registers[REG_RIP] : -1;
}

}  // namespace

void leave_interrupted_call(void* context) noexcept {
  gregset_t& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (bytes_to_end_of_call(registers) != kInstructionBytes) return;
  if (!depends_on_restart(static_cast<uint64_t>(registers[REG_RAX]),
                          static_cast<uint64_t>(registers[REG_RSI])) ||
      has_seccomp_filter() || !is_to_end(context))
    return;
  registers[REG_RIP] += kInstructionBytes;
  registers[REG_RAX] = -EINTR;
}

bool follows_interrupted_call(const void* context) noexcept {
  const gregset_t& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  return registers[REG_RAX] == -EINTR && bytes_to_end_of_call(registers) == 0;
}

#else

void leave_interrupted_call(void*) noexcept {}
bool follows_interrupted_call(const void*) noexcept { return false; }

#endif

}  // namespace pctally
