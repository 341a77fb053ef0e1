// Paths and names without directories, for archives that are given away.
#pragma once
#include <map>
#include <string>

namespace pctally {

/// "a/b" and "/a/b" are "b". What is no path of a file stays, and so does a path that every system has: it
/// tells nothing of its user.
std::string without_directories(const std::string& path);

/// The name of code that was made at run time: "JS:*f /home/me/n.js:1" as "JS:*f n.js:1". All from the start
/// of a path to the last slash goes, for a directory may have a blank in its name.
std::string jit_name_without_directories(std::string name);

/// Names files without their directories. Two files that share a name get different ones: "util.c",
/// "2/util.c". Files of systems and package managers can be distinguished from one's own: "/build/malloc.c".
class DistinctFiles {
 public:
  /// The same path has the same name each time.
  const std::string& name(const std::string& path);

 private:
  std::map<std::string, std::string> names_;  ///< by path
  std::map<std::string, size_t> used_;        ///< files of that name
};

}  // namespace pctally
