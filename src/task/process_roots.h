// Finds the files of processes whose root directory is not the recorder's: those of containers and chroots.
#pragma once
#include <sys/types.h>

#include <string>
#include <string_view>
#include <unordered_map>

#include "histfile/histogram.h"
#include "task/process_files.h"

namespace pctally {

/// Not thread-safe. It remembers what it has found, kMostKnown answers at most.
class ProcessRoots {
 public:
  static constexpr size_t kMostKnown = 65536;

  ProcessRoots() = default;
  /// `files`: reads what this process may not, or null. Outlives this.
  explicit ProcessRoots(ProcessFiles* files) : files_(files) {}

  struct Root {
    bool known = false;   ///< false: the process is gone, or
    bool hidden = false;  ///< not ours to ask
    std::string path{};   ///< see below
  };
  /// The path is empty if the process sees the recorder's files; else "/proc/N/root", N being its farthest
  /// ancestor that sees the same as it does: a container's first process.
  Root root_of(pid_t pid);

  /// The path under which the recorder reads what processes of that root call `path`. That is `path` itself
  /// if both are one file, or if nothing lies there in that root and `path` proves to be the file of `mapped`
  /// (as below): chroot(2) came after mmap(2).
  std::string find(const std::string& root, std::string_view path, const ObjectIdentity& mapped);

  /// As find(), of a process that only seems to have that root: what lies there is taken if it proves to be
  /// the file of `mapped` (by build id, else by inode). Otherwise the path is "/proc/PID/root/...", which is
  /// the file's for whoever may read there.
  std::string find_proved(const std::string& root, std::string_view path, pid_t pid,
                          const ObjectIdentity& mapped);

 private:
  [[nodiscard]] Result<FileView> view_of(pid_t pid) const;
  [[nodiscard]] Result<FileFacts> facts_of(const std::string& path) const;
  [[nodiscard]] bool is_mapped_file(const std::string& place, const ObjectIdentity& mapped) const;

  ProcessFiles* files_ = nullptr;
  using Places = std::unordered_map<std::string, std::string>;
  static const std::string& remember(Places* places, std::string key, std::string place);

  Places found_;
  Places hidden_;  ///< path and identity -> where it was seen first
};

}  // namespace pctally
