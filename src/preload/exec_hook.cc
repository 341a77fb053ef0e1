#include "preload/exec_hook.h"

#include <alloca.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/next_call.h"

namespace pctally {
namespace {

void (*g_at_exec)(bool begins) = nullptr;
size_t (*g_unreadable)(char* const* environment) = nullptr;
constinit NextCall g_execve("execve", execve);
constinit NextCall g_execv("execv", execv);
constinit NextCall g_execvp("execvp", execvp);
constinit NextCall g_execvpe("execvpe", execvpe);
constinit NextCall g_fexecve("fexecve", fexecve);
constinit NextCall<int(int, const char*, char* const*, char* const*, int)> g_execveat("execveat");

__attribute__((constructor)) void find_calls() {
  find_all(g_execve, g_execv, g_execvp, g_execvpe, g_fexecve, g_execveat);
}

/// Executes with a copy of the environment, on the stack, in which variable `place` has not its first entry;
/// or without the variable, if it has no other.
template <typename Execute>
int execute_without(char* const* environment, size_t place, Execute&& next) noexcept {
  const char* rest = strchr(environment[place], ':');
  size_t count = 0, kept = 0;
  while (environment[count] != nullptr) ++count;
  auto** copy = static_cast<char**>(alloca((count + 1) * sizeof(char*)));
  for (size_t i = 0; i < count; ++i)
    if (i != place || rest != nullptr) copy[kept++] = environment[i];
  copy[kept] = nullptr;
  if (rest == nullptr) return next(copy);
  const size_t name = strcspn(environment[place], "=") + 1, bytes = strlen(rest + 1) + 1;
  auto* variable = static_cast<char*>(alloca(name + bytes));
  memcpy(variable, environment[place], name);
  memcpy(variable + name, rest + 1, bytes);
  copy[place] = variable;
  return next(copy);
}

template <typename Execute>
int execute(char* const* environment, Execute&& next) noexcept {
  const size_t place = g_unreadable == nullptr ? kNoVariable : g_unreadable(environment);
  if (g_at_exec != nullptr) g_at_exec(true);
  const int failed = place == kNoVariable ? next(environment) : execute_without(environment, place, next);
  if (g_at_exec != nullptr) g_at_exec(false);
  return failed;
}

/// How many arguments there are before a null pointer, `first` among them.
size_t count_arguments(const char* first, va_list rest) noexcept {
  size_t count = 0;
  for (const char* argument = first; argument != nullptr; argument = va_arg(rest, const char*)) ++count;
  return count;
}

/// Fills `arguments`, null pointer included. The argument behind that, of execle(3), if `has_environment`.
char* const* take_arguments(char** arguments, const char* first, va_list rest,
                            bool has_environment) noexcept {
  *arguments = const_cast<char*>(first);
  while (*arguments != nullptr) *++arguments = va_arg(rest, char*);
  return has_environment ? va_arg(rest, char* const*) : nullptr;
}

}  // namespace

void set_exec_hook(void (*at_exec)(bool begins), size_t (*unreadable)(char* const* environment)) noexcept {
  g_at_exec = at_exec;
  g_unreadable = unreadable;
}

}  // namespace pctally

using namespace pctally;

#define PCTALLY_HOOK extern "C" __attribute__((visibility("default")))

PCTALLY_HOOK int execve(const char* path, char* const arguments[], char* const environment[]) noexcept {
  auto* next = g_execve.get();
  return execute(environment, [&](char* const* with) { return next(path, arguments, with); });
}

PCTALLY_HOOK int execv(const char* path, char* const arguments[]) noexcept {
  return execute(__environ, [&](char* const* with) {
    return with == __environ ? g_execv.get()(path, arguments) : g_execve.get()(path, arguments, with);
  });
}

PCTALLY_HOOK int execvp(const char* file, char* const arguments[]) noexcept {
  return execute(__environ, [&](char* const* with) {
    return with == __environ ? g_execvp.get()(file, arguments) : g_execvpe.get()(file, arguments, with);
  });
}

PCTALLY_HOOK int execvpe(const char* file, char* const arguments[], char* const environment[]) noexcept {
  auto* next = g_execvpe.get();
  return execute(environment, [&](char* const* with) { return next(file, arguments, with); });
}

PCTALLY_HOOK int fexecve(int fd, char* const arguments[], char* const environment[]) noexcept {
  auto* next = g_fexecve.get();
  return execute(environment, [&](char* const* with) { return next(fd, arguments, with); });
}

/// Younger than some C libraries.
PCTALLY_HOOK int execveat(int directory, const char* path, char* const arguments[], char* const environment[],
                          int flags) noexcept {
  auto* next = g_execveat.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  return execute(environment,
                 [&](char* const* with) { return next(directory, path, arguments, with, flags); });
}

// The arguments are put on the stack, as by the C library: a child of vfork(2) may be the caller.

#define PCTALLY_TAKE_ARGUMENTS(first, has_environment)                                                \
  va_list list, again;                                                                                \
  va_start(list, first);                                                                              \
  va_copy(again, list);                                                                               \
  auto** arguments = static_cast<char**>(alloca((count_arguments(first, list) + 1) * sizeof(char*))); \
  char* const* environment = take_arguments(arguments, first, again, has_environment);                \
  va_end(again);                                                                                      \
  va_end(list)

PCTALLY_HOOK int execl(const char* path, const char* first, ...) noexcept {
  PCTALLY_TAKE_ARGUMENTS(first, false);
  (void)environment;
  return execv(path, arguments);
}

PCTALLY_HOOK int execlp(const char* file, const char* first, ...) noexcept {
  PCTALLY_TAKE_ARGUMENTS(first, false);
  (void)environment;
  return execvp(file, arguments);
}

PCTALLY_HOOK int execle(const char* path, const char* first, ...) noexcept {
  PCTALLY_TAKE_ARGUMENTS(first, true);
  return execve(path, arguments, environment);
}
