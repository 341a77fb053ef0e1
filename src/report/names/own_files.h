// Tells the reader's own source files from those of libraries and compilers.
#pragma once
#include <string>
#include <string_view>

namespace pctally {

class OwnFiles {
 public:
  /// Those below `directory`; of an empty one those outside the places of systems and package managers: /usr,
  /// /lib, /opt/rh, /build, /rustc, a registry of cargo, node_modules, relative paths.
  explicit OwnFiles(const std::string& directory = "");

  [[nodiscard]] bool contains(std::string_view path) const;

 private:
  std::string directory_;  ///< absolute, with a slash at the end; or empty
};

}  // namespace pctally
