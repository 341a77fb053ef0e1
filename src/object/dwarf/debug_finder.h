// Finds the file that holds the debug information separated from an object. Only regular files on this
// machine, only where distributions put them, and none of another user; a file that does not prove to belong
// to the object is not taken.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "object/elf/elf_file.h"

namespace pctally {

class DebugFinder {
 public:
  /// `fetched`: a file that is tried last.
  explicit DebugFinder(std::string root = "/usr/lib/debug", Trust trust = Trust::kRootOrOurselves,
                       std::string fetched = "")
      : root_(std::move(root)), trust_(trust), fetched_(std::move(fetched)) {}

  /// The debug file of an object opened from a path: by build id, else by .gnu_debuglink. Null if there is
  /// none. The proof of belonging is the build id if both have one, else the link's checksum.
  [[nodiscard]] std::unique_ptr<ElfFile> find(const ElfFile& object) const;

  /// The debug file of a build id alone.
  [[nodiscard]] std::unique_ptr<ElfFile> find(BuildId id) const;

 private:
  [[nodiscard]] std::unique_ptr<ElfFile> open_if_of(const std::string& path, BuildId id) const;
  [[nodiscard]] std::unique_ptr<ElfFile> find_by_link(const ElfFile& object) const;
  [[nodiscard]] std::vector<std::string> directories(const std::string& object_path) const;

  std::string root_;
  Trust trust_;
  std::string fetched_;
};

}  // namespace pctally
