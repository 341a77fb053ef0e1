#include "base/fork_hook.h"

#include <pthread.h>

#include "base/call_lock.h"

namespace pctally {
namespace {

struct Hook {
  Mutex* lock;
  void (*in_child)();
};

constinit Hook g_hooks[ForkHook::kRanks] = {};
constinit bool g_registered = false;
sigset_t g_waiting;  ///< signals, while this process forks; guarded by the locks

// Not analysed: what one function takes another gives back.
void before() NO_THREAD_SAFETY_ANALYSIS {
  const sigset_t waiting = SignalsWait::begin();
  for (const Hook& hook : g_hooks)
    if (hook.lock != nullptr) hook.lock->lock();
  g_waiting = waiting;
}

void in_parent() NO_THREAD_SAFETY_ANALYSIS {
  const sigset_t waiting = g_waiting;
  for (unsigned rank = ForkHook::kRanks; rank-- > 0;)
    if (g_hooks[rank].lock != nullptr) g_hooks[rank].lock->unlock();
  SignalsWait::end(waiting);
}

void in_child() {
  for (unsigned rank = ForkHook::kRanks; rank-- > 0;) {
    if (g_hooks[rank].lock == nullptr) continue;
    g_hooks[rank].lock->reset();
    if (g_hooks[rank].in_child != nullptr) g_hooks[rank].in_child();
  }
  SignalsWait::end(g_waiting);
}

}  // namespace

ForkHook::ForkHook(unsigned rank, Mutex* lock, void (*in_child)()) noexcept {
  g_hooks[rank] = {lock, in_child};
  if (!g_registered) pthread_atfork(before, in_parent, pctally::in_child);
  g_registered = true;
}

}  // namespace pctally
