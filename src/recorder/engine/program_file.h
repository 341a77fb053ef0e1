// Can a library be injected into this program? Looked up in its file before the start.
#pragma once
#include <string>

#include "histfile/layout.h"

namespace pctally {

/// kNone if LD_PRELOAD will reach the program at `path` (scripts: their interpreter); otherwise what stands
/// in the way. A file that cannot be read counts as reachable: exec will tell.
ProcessNote injection_obstacle(const std::string& path);

/// The file that execvp(3) would run for `command`; empty if there is none, with errno ENOENT, or EACCES
/// if the file is none to be executed or a directory of its path may not be searched.
std::string find_program(const std::string& command);

}  // namespace pctally
