// The processes that -p names: by number, or by name.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace pctally {

struct ProcessList {
  std::vector<pid_t> processes;
  std::vector<pid_t> by_number;  ///< of these, given so
  std::string unknown;           ///< a name that no running process has
  std::string near;              ///< "python3.11 (14012), ...": some whose names begin so
};

/// "101,102", "101 102" (as pidof(8) prints them), "nginx" or "101,nginx". A name stands for every process
/// that is called so (its comm or the last part of its first argument); unless root asks, for this user's own
/// if there are any. Never this process.
ProcessList find_processes(const std::string& list);

}  // namespace pctally
