// The C library's own functions under names that this library exports too (clock/thread_hook.h,
// clock/signal_hook.cc): code of ours that wants the kernel's answer, and not what the program is to
// see, calls these.
#pragma once
#include <signal.h>

namespace pctally {

/// The next definition of `name` after ours, or the C library's; null if there is none, and no error by
/// dlerror(3) is left for the program. Not async-signal-safe.
void* find_next(const char* name) noexcept;

/// The next definition of a function that is ours, too: one for each, in static storage. The file has a
/// constructor that calls find_all(), for dlsym(3) waits for the lock of the dynamic linker. Who holds it may
/// wait for the caller: in dlopen(3), a constructor that starts a thread and joins it.
template <typename Function>
class NextCall {
 public:
  constexpr explicit NextCall(const char* name) noexcept : name_(name) {}
  /// With ours, for its type.
  constexpr NextCall(const char* name, Function* /*ours*/) noexcept : name_(name) {}
  NextCall(const NextCall&) = delete;
  NextCall& operator=(const NextCall&) = delete;

  /// Null if there is none.
  Function* get() noexcept {
    Function* function = __atomic_load_n(&function_, __ATOMIC_RELAXED);
    if (__builtin_expect(function != nullptr, 1)) return function;
    function = reinterpret_cast<Function*>(find_next(name_));
    __atomic_store_n(&function_, function, __ATOMIC_RELAXED);
    return function;
  }

 private:
  const char* name_;
  Function* function_ = nullptr;
};

template <typename... Calls>
void find_all(Calls&... calls) noexcept {
  ((void)calls.get(), ...);
}

int next_sigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept;
/// For our handlers, which are nobody else's to call: ThreadSanitizer's sigaction() has a handler wait until
/// the thread makes a call that it knows, and the stack is another one by then.
int kernel_sigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept;
int next_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept;
/// Of one signal alone.
void next_sigmask(int how, int signal) noexcept;

}  // namespace pctally
