#include "base/next_call.h"

#include <dlfcn.h>

namespace pctally {
namespace {

constinit NextCall g_sigaction("sigaction", sigaction);
constinit NextCall g_sigmask("pthread_sigmask", pthread_sigmask);

__attribute__((constructor)) void find_calls() noexcept { find_all(g_sigaction, g_sigmask); }

}  // namespace

void* find_next(const char* name) noexcept {
  void* function = dlsym(RTLD_NEXT, name);
  if (function == nullptr) (void)dlerror();
  return function;
}

int next_sigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  return g_sigaction.get()(signal, action, before);
}

int next_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return g_sigmask.get()(how, set, before);
}

}  // namespace pctally
