#include "base/next_call.h"

namespace pctally {
namespace {

decltype(sigaction)* g_sigaction = nullptr;
decltype(pthread_sigmask)* g_sigmask = nullptr;

}  // namespace

int next_sigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  return next_function("sigaction", &g_sigaction)(signal, action, before);
}

int next_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return next_function("pthread_sigmask", &g_sigmask)(how, set, before);
}

}  // namespace pctally
