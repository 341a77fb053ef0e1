#include "tool/record/cannot_run.h"

#include <errno.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>

#include "tool/command_line.h"

namespace pctally {
namespace {

/// What sh runs itself and no PATH has.
constexpr std::string_view kShellWords[] = {
    ".",      "alias",  "bg",     "case",  "cd",    "declare", "dirs", "eval",  "exec",
    "export", "fg",     "for",    "hash",  "if",    "jobs",    "let",  "local", "popd",
    "pushd",  "read",   "select", "set",   "shift", "source",  "time", "times", "trap",
    "type",   "ulimit", "umask",  "unset", "until", "wait",    "while"};

bool is_shell_word(const std::string& word) {
  return std::find(std::begin(kShellWords), std::end(kShellWords), word) != std::end(kShellWords);
}

std::string not_found(const std::vector<std::string>& command) {
  const std::string& name = command[0];
  if (name.empty()) return "cannot run '': it is an empty word; write the program after --";
  if (is_shell_word(name))
    return fmt::format("cannot run '{}': it is part of the shell; use: pctally record -- sh -c '{}'", name,
                       fmt::join(command, " "));
  if (name.find_first_of(" \t\n") != std::string::npos)
    return fmt::format(
        "cannot run '{0}': not found; do not quote a command with its arguments: record -- {0}", name);
  if (is_number(name))
    return fmt::format("cannot run '{0}': not found in PATH; to record process {0}: pctally record -p {0}",
                       name);
  bool path = name.find('/') != std::string::npos;
  return fmt::format("cannot run '{}': not found{}", name, path ? "" : " in PATH");
}

std::string not_executable(const std::string& name) {
  struct stat status;
  const bool reached = stat(name.c_str(), &status) == 0;
  if (!reached) return fmt::format("cannot run {}: this user may not search its directory", name);
  if (S_ISDIR(status.st_mode)) return fmt::format("cannot run {}: it is a directory", name);
  if (name.ends_with(".sh"))
    return fmt::format("cannot run {0}: not executable; chmod +x {0}, or record -- sh {0}", name);
  return fmt::format("cannot run {0}: not executable; if it is a program: chmod +x {0}", name);
}

}  // namespace

std::string explain_cannot_run(const std::vector<std::string>& command, int error) {
  if (error == ENOENT) return not_found(command);
  if (error == EACCES) return not_executable(command[0]);
  return fmt::format("cannot run {}: {}", command[0], strerror(error));
}

}  // namespace pctally
