#include "base/next_call.h"

#include <dlfcn.h>
#if __has_include(<gnu/lib-names.h>)
#include <gnu/lib-names.h>
#endif

namespace pctally {
namespace {

constinit NextCall g_sigaction("sigaction", sigaction);
constinit NextCall<decltype(sigaction)> g_kernel_sigaction("__sigaction");
constinit NextCall g_sigmask("pthread_sigmask", pthread_sigmask);

__attribute__((constructor)) void find_calls() noexcept {
  find_all(g_sigaction, g_kernel_sigaction, g_sigmask);
}

/// Where only a library of the program's is linked with ours, the C library comes before ours, and RTLD_NEXT
/// finds nothing. Not by dlopen(3): a program may define that name for something else.
void* find_in_c_library(const char* name) noexcept {
#ifdef LIBC_SO
  auto* open = reinterpret_cast<decltype(&dlmopen)>(dlsym(RTLD_DEFAULT, "dlmopen"));
  void* library = open == nullptr ? nullptr : open(LM_ID_BASE, LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
  if (library != nullptr) return dlsym(library, name);
#endif
  return nullptr;
}

}  // namespace

void* find_next(const char* name) noexcept {
  void* function = dlsym(RTLD_NEXT, name);
  if (function == nullptr) function = find_in_c_library(name);
  if (function == nullptr) (void)dlerror();
  return function;
}

int next_sigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  return g_sigaction.get()(signal, action, before);
}

int kernel_sigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  auto* function = g_kernel_sigaction.get();
  return (function == nullptr ? g_sigaction.get() : function)(signal, action, before);
}

int next_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return g_sigmask.get()(how, set, before);
}

void next_sigmask(int how, int signal) noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  next_sigmask(how, &set, nullptr);
}

}  // namespace pctally
