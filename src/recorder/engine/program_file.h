// Finds out from a program's file, before the start, whether a library can be injected into it.
#pragma once
#include <string>

#include "histfile/layout.h"

namespace pctally {

/// kNone if LD_PRELOAD will reach the program at `path` (scripts: their interpreter); otherwise what stands
/// in the way. A file that cannot be read counts as reachable: exec will tell.
ProcessNote injection_obstacle(const std::string& path);

/// By its name. It is linked statically; executed as a program it maps another one, which the library may
/// enter.
bool is_dynamic_linker(const std::string& program);

/// The file that execvp(3) would run for `command`; empty if there is none, with errno ENOENT, or EACCES
/// if the file is none to be executed or a directory of its path may not be searched. `refused`: null, or
/// gets the first file of that name that is none to be executed.
std::string find_program(const std::string& command, std::string* refused = nullptr);

/// What the kernel does not find to run the program at `path`: the interpreter of its "#!" line, or of the
/// interpreter's, or the loader of an ELF file. Empty if nothing is missing, or the file cannot be read.
std::string missing_interpreter(const std::string& path);

}  // namespace pctally
