#include "base/fork_hook.h"

#include <pthread.h>

namespace pctally {
namespace {

struct Handlers {
  void (*before)();
  void (*in_parent)();
  void (*in_child)();
};

constinit Handlers g_handlers[ForkHook::kRanks] = {};
constinit bool g_registered = false;

void before() {
  for (const Handlers& handlers : g_handlers)
    if (handlers.before != nullptr) handlers.before();
}

void in_parent() {
  for (unsigned rank = ForkHook::kRanks; rank-- > 0;)
    if (g_handlers[rank].in_parent != nullptr) g_handlers[rank].in_parent();
}

void in_child() {
  for (unsigned rank = ForkHook::kRanks; rank-- > 0;)
    if (g_handlers[rank].in_child != nullptr) g_handlers[rank].in_child();
}

}  // namespace

ForkHook::ForkHook(unsigned rank, void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept {
  g_handlers[rank] = {before, in_parent, in_child};
  if (!g_registered) pthread_atfork(pctally::before, pctally::in_parent, pctally::in_child);
  g_registered = true;
}

}  // namespace pctally
