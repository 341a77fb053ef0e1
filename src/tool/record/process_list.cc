#include "tool/record/process_list.h"

#include <fmt/format.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/base_name.h"
#include "perf/process_tree.h"
#include "tool/command_line.h"

namespace pctally {
namespace {

std::string first_argument(pid_t pid) {
  std::string arguments = command_line_of(pid);
  return std::string(base_name(arguments.substr(0, arguments.find('\0'))));
}

bool is_own(pid_t pid) {
  struct stat status;
  std::string directory = directory_of(pid);
  return stat(directory.c_str(), &status) == 0 && status.st_uid == geteuid();
}

/// Root means them all: a server's workers belong to other users.
std::vector<pid_t> processes_called(const std::string& name) {
  std::vector<pid_t> all, own;
  for (pid_t pid : all_processes()) {
    if (pid == getpid() || (comm_of(pid) != name && first_argument(pid) != name)) continue;
    all.push_back(pid);
    if (is_own(pid)) own.push_back(pid);
  }
  return own.empty() || geteuid() == 0 ? all : own;
}

/// For "python3": "python3.11 (14012), python3.12 (14020), ..."; a line has no room for more.
std::string processes_beginning(const std::string& name) {
  constexpr size_t kMost = 2;
  std::string text;
  size_t found = 0;
  for (pid_t pid : all_processes()) {
    const std::string comm = comm_of(pid);
    if (pid == getpid() || !comm.starts_with(name)) continue;
    if (++found > kMost) return text + ", ...";
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", comm, pid);
  }
  return text;
}

/// Numbers may be separated by white space too; in a name it is a part of it.
std::string with_commas(std::string list) {
  if (list.find_first_not_of("0123456789, \t\n") != std::string::npos) return list;
  std::replace_if(
      list.begin(), list.end(), [](char c) { return c < '0'; }, ',');
  return list;
}

void add(const std::vector<pid_t>& found, std::vector<pid_t>* processes) {
  for (pid_t pid : found)
    if (std::find(processes->begin(), processes->end(), pid) == processes->end()) processes->push_back(pid);
}

}  // namespace

ProcessList find_processes(const std::string& text) {
  std::string list = with_commas(text);
  ProcessList result;
  for (size_t at = 0; at <= list.size();) {
    size_t end = std::min(list.find(',', at), list.size());
    std::string word = list.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    long number = is_number(word) && word.size() <= 10 ? strtol(word.c_str(), nullptr, 10) : 0;
    std::vector<pid_t> found;
    if (number > 0 && number <= INT_MAX) found = {static_cast<pid_t>(number)};
    add(found, &result.by_number);
    if (number == 0) found = processes_called(word);
    if (found.empty()) {
      result.unknown = word;
      result.near = processes_beginning(word);
    }
    add(found, &result.processes);
  }
  return result;
}

}  // namespace pctally
