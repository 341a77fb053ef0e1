// Tells the reader's own source files from those of libraries and compilers.
#pragma once
#include <string>
#include <string_view>

namespace pctally {

/// The path without "." and "..", by its letters alone: where a directory is a link it may name another file,
/// so it is for rows and not for opening.
std::string normal_path(std::string_view path);

/// Where systems and package managers put files: the start of such a path, as "/usr/", or the part that tells
/// it, as "/.cargo/registry/". Empty of any other. REQUIRES: `path` is normal.
std::string_view system_place(std::string_view path);

class OwnFiles {
 public:
  /// Those below `directory`; of an empty one those outside the places of systems and package managers: /usr,
  /// /lib, /opt/rh, /build, /rustc, a registry of cargo, node_modules. Relative paths are one's own, too, but
  /// for those of an object that lies in such a place; below `directory` if they are so from the current one.
  explicit OwnFiles(const std::string& directory = "");

  /// `object`: the path of what was compiled from the file.
  [[nodiscard]] bool contains(std::string_view path, std::string_view object) const;

 private:
  std::string directory_;  ///< absolute, with a slash at the end; or empty
};

}  // namespace pctally
