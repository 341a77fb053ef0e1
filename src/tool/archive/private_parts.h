// Removes private parts from the bytes of a profile file before it is shared.
#pragma once
#include <vector>

namespace pctally {

/// Both for the bytes of a whole file without names, whose references are checked as they are followed.

/// The command line, of all runs.
void remove_command(std::vector<unsigned char>* bytes);

/// The directories in the paths of executables and programs; control groups keep their names.
void remove_directories(std::vector<unsigned char>* bytes);

}  // namespace pctally
