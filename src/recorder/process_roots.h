// Where the recorder finds the files of processes whose root is not its own: those of containers and chroots.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace pctally {

/// Not thread-safe. What it has found it remembers.
class ProcessRoots {
 public:
  /// Empty if the process sees the recorder's files; else "/proc/N/root", N being its farthest ancestor that
  /// sees the same as it does: a container's first process. Nothing if the process is gone or not ours to
  /// ask.
  std::optional<std::string> root_of(pid_t pid);

  /// The path under which the recorder reads what processes of that root call `path`. That may be `path`
  /// itself: if both are one file, or if there is nothing under the root.
  std::string find(const std::string& root, std::string_view path);

 private:
  std::unordered_map<std::string, std::string> found_;
};

}  // namespace pctally
