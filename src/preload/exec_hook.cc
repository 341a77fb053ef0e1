#include "preload/exec_hook.h"

#include <unistd.h>

#include "base/next_call.h"

namespace pctally {
namespace {

void (*g_at_exec)(bool begins) = nullptr;
decltype(execve)* g_execve = nullptr;
decltype(execv)* g_execv = nullptr;
decltype(execvp)* g_execvp = nullptr;
decltype(execvpe)* g_execvpe = nullptr;

/// Before any fork(2): the first look at a name is not async-signal-safe.
__attribute__((constructor)) void find_next() {
  (void)next_function("execve", &g_execve);
  (void)next_function("execv", &g_execv);
  (void)next_function("execvp", &g_execvp);
  (void)next_function("execvpe", &g_execvpe);
}

template <typename Execute>
int execute(Execute&& next) noexcept {
  if (g_at_exec != nullptr) g_at_exec(true);
  const int failed = next();
  if (g_at_exec != nullptr) g_at_exec(false);
  return failed;
}

}  // namespace

void set_exec_hook(void (*at_exec)(bool begins)) noexcept { g_at_exec = at_exec; }

}  // namespace pctally

using namespace pctally;

#define PCTALLY_HOOK extern "C" __attribute__((visibility("default")))

PCTALLY_HOOK int execve(const char* path, char* const arguments[], char* const environment[]) noexcept {
  auto* next = next_function("execve", &g_execve);
  return execute([&] { return next(path, arguments, environment); });
}

PCTALLY_HOOK int execv(const char* path, char* const arguments[]) noexcept {
  auto* next = next_function("execv", &g_execv);
  return execute([&] { return next(path, arguments); });
}

PCTALLY_HOOK int execvp(const char* file, char* const arguments[]) noexcept {
  auto* next = next_function("execvp", &g_execvp);
  return execute([&] { return next(file, arguments); });
}

PCTALLY_HOOK int execvpe(const char* file, char* const arguments[], char* const environment[]) noexcept {
  auto* next = next_function("execvpe", &g_execvpe);
  return execute([&] { return next(file, arguments, environment); });
}
