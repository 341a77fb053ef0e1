// Distinguishes the reader's own source files from those of libraries and compilers.
#pragma once
#include <string>
#include <string_view>

namespace pctally {

/// The path without "." and "..", by its letters alone: where a directory is a link it may name another file,
/// so it is for rows and not for opening.
std::string normal_path(std::string_view path);

/// The part of `path` that shows that a system or a package manager put the file there: its start, as
/// "/usr/", or a part within, as "/.cargo/registry/". Empty for any other path. REQUIRES: `path` is normal.
std::string_view system_place(std::string_view path);

class OwnFiles {
 public:
  /// Own files are those below `directory`; if it is empty, those outside the places of systems and package
  /// managers: /usr, /lib, /opt/rh, /build, /rustc, a registry of cargo, node_modules. A relative path is own
  /// unless its object lies in such a place; with `directory` it starts at the current directory.
  explicit OwnFiles(const std::string& directory = "");

  /// `object`: the path of what was compiled from the file.
  [[nodiscard]] bool contains(std::string_view path, std::string_view object) const;

 private:
  std::string directory_;  ///< absolute, with a slash at the end; or empty
};

}  // namespace pctally
