#include "tool/record/cannot_run.h"

#include <errno.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <string_view>

#include "recorder/engine/program_file.h"
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

/// The file is there. What the kernel needs to run it is not.
std::string without_interpreter(const std::string& name, const std::string& interpreter) {
  if (interpreter.ends_with('\r'))
    return fmt::format("cannot run '{}': its lines end as in DOS, so that {} is not found; dos2unix it", name,
                       interpreter.substr(0, interpreter.size() - 1));
  return fmt::format("cannot run '{}': it needs {}, which does not exist", name, interpreter);
}

std::string not_found(const std::vector<std::string>& command) {
  const std::string& name = command[0];
  if (const std::string program = find_program(name); !program.empty())
    if (const std::string missing = missing_interpreter(program); !missing.empty())
      return without_interpreter(name, missing);
  if (name.empty()) return "cannot run '': it is an empty word; write the program after --";
  if (is_shell_word(name))
    return fmt::format("cannot run '{}': it is part of the shell; use: pctally record -- sh -c '{}'", name,
                       fmt::join(command, " "));
  if (name.find_first_of(" \t\n") != std::string::npos) {
    const bool for_a_shell = name.find_first_of(";|&<>$`*(") != std::string::npos;
    if (for_a_shell && name.find('\'') == std::string::npos)
      return fmt::format("cannot run '{0}': not found; a shell runs it: record -- sh -c '{0}'", name);
    return fmt::format(
        "cannot run '{0}': not found; do not quote a command with its arguments: record -- {0}", name);
  }
  if (is_number(name))
    return fmt::format("cannot run '{0}': not found in PATH; to record process {0}: pctally record -p {0}",
                       name);
  bool path = name.find('/') != std::string::npos;
  return fmt::format("cannot run '{}': not found{}", name, path ? "" : " in PATH");
}

bool is_on_noexec(const std::string& file) {
  struct statvfs status;
  return statvfs(file.c_str(), &status) == 0 && (status.f_flag & ST_NOEXEC) != 0;
}

std::string not_executable(const std::string& word) {
  std::string name = word;  // a file of PATH may be meant
  if (const std::string program = find_program(word, &name); !program.empty())
    return fmt::format("cannot run {}: {}", program, strerror(EACCES));
  struct stat status;
  const bool reached = stat(name.c_str(), &status) == 0;
  if (!reached) return fmt::format("cannot run {}: this user may not search its directory", name);
  if (S_ISDIR(status.st_mode)) return fmt::format("cannot run {}: it is a directory", name);
  if ((status.st_mode & 0111) != 0 && is_on_noexec(name))
    return fmt::format("cannot run {}: its file system is mounted noexec; copy it to another", name);
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
