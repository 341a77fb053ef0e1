#include "preload/exec_hook.h"

#include <unistd.h>

#include "base/next_call.h"

namespace pctally {
namespace {

void (*g_at_exec)(bool begins) = nullptr;
constinit NextCall g_execve("execve", execve);
constinit NextCall g_execv("execv", execv);
constinit NextCall g_execvp("execvp", execvp);
constinit NextCall g_execvpe("execvpe", execvpe);

__attribute__((constructor)) void find_calls() { find_all(g_execve, g_execv, g_execvp, g_execvpe); }

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
  auto* next = g_execve.get();
  return execute([&] { return next(path, arguments, environment); });
}

PCTALLY_HOOK int execv(const char* path, char* const arguments[]) noexcept {
  auto* next = g_execv.get();
  return execute([&] { return next(path, arguments); });
}

PCTALLY_HOOK int execvp(const char* file, char* const arguments[]) noexcept {
  auto* next = g_execvp.get();
  return execute([&] { return next(file, arguments); });
}

PCTALLY_HOOK int execvpe(const char* file, char* const arguments[], char* const environment[]) noexcept {
  auto* next = g_execvpe.get();
  return execute([&] { return next(file, arguments, environment); });
}
