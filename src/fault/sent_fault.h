// Defers a SIGSEGV or SIGBUS sent (kill(2), raise(3)) while our handler runs, so that the program's handler
// never sees our code. It is kept, and sent again when our handler ends: it arrives where the program was.
//
// That is not rare. If two signals are pending, the kernel first starts the handler of the thread's own (our
// tick), and then, at that handler's first instruction, the handler of the one sent to the process.
#pragma once
#include <signal.h>

namespace pctally {

/// What a thread keeps of a signal that was sent.
struct SentFault {
  int signal;  ///< 0: none
  int code;
  pid_t pid;
  uid_t uid;
  void* value;
};

struct OwnHandler {
  unsigned running;   ///< how many, one in another
  SentFault kept[2];  ///< SIGSEGV, SIGBUS
};
extern __thread OwnHandler t_own_handler;

/// Sends what was kept to the calling thread, blocked until the handler returns. Async-signal-safe.
void send_kept_faults() noexcept;

/// First in a handler of ours that blocks all other signals, or all but ticks. Async-signal-safe.
inline void begin_own_handler() noexcept {
  t_own_handler.running = t_own_handler.running + 1;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/// Last in it. What came meanwhile is sent at the end of the outermost. Async-signal-safe.
inline void end_own_handler() noexcept {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  const unsigned outer = t_own_handler.running - (t_own_handler.running != 0 ? 1 : 0);
  t_own_handler.running = outer;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (__builtin_expect(outer == 0 && (t_own_handler.kept[0].signal != 0 || t_own_handler.kept[1].signal != 0),
                       0))
    send_kept_faults();
}

/// Before a handler of ours calls the program.
inline void end_all_own_handlers() noexcept {
  t_own_handler.running = 0;
  end_own_handler();
}

using SignalHandler = void (*)(int, siginfo_t*, void*);

/// A handler that begins as above, so that one that has not got so far is known. Before it is installed.
void know_own_handler(SignalHandler handler) noexcept;

/// Keeps a signal that was sent if it interrupted a handler of ours. In the handler of SIGSEGV and SIGBUS.
bool keep_sent_fault(int signal, const siginfo_t* info, const void* context) noexcept;

/// True of a fault of the program that the kernel delivered at the first instruction of a handler of ours: a
/// SIGTRAP of perf that is pending goes first then, even where it is blocked. Once our handlers have returned
/// the program faults again. In the handler of SIGSEGV and SIGBUS.
bool precedes_own_handler(const siginfo_t* info, const void* context) noexcept;

}  // namespace pctally
