// The C library's own functions under names that this library exports too (clock/thread_hook.h,
// clock/signal_hook.cc): code of ours that wants the kernel's answer, and not what the program is to
// see, calls these.
#pragma once
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

namespace pctally {

/// The next definition of `name` after ours, kept in *kept; null if there is none. The first call for a name
/// is not async-signal-safe.
template <typename Function>
Function* next_function(const char* name, Function** kept) noexcept {
  Function* function = __atomic_load_n(kept, __ATOMIC_RELAXED);
  if (function != nullptr) return function;
  function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  __atomic_store_n(kept, function, __ATOMIC_RELAXED);
  return function;
}

int next_sigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept;
int next_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept;

}  // namespace pctally
