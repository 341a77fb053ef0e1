// Lists the executable memory of a process from /proc. Reads; never touches another process.
#pragma once
#include <stdint.h>
#include <sys/types.h>

#include <utility>

#include "base/file/mapped_array.h"
#include "base/unique_fd.h"
#include "histfile/histogram.h"
#include "process/build_id.h"

namespace pctally {

/// True if the kernel gives that name to memory no file holds: a JIT may have written code there. Shared
/// anonymous memory has a name like a file's, and so has what .NET maps twice. Other memfds are files:
/// programs run from them.
bool is_anonymous(std::string_view path) noexcept;

/// Puts size, time of last change and stat(2)'s device into *object, if it has no build id and the file at
/// object->path has the inode that is mapped. They distinguish the file from one that takes its place later.
void stamp_file(ObjectIdentity* object) noexcept;

/// One executable mapping. A value; the path is held by the ProcMaps that produced it.
struct ExecutableMapping {
  uint64_t start = 0;
  uint64_t end = 0;  ///< first byte after it
  uint64_t file_offset = 0;
  ObjectIdentity object;
  uint64_t header = 0;  ///< where the object's first bytes lie in memory; 0: that is not known
  uint8_t build_id[kBuildIdBytes] = {};
  bool header_read = false;  ///< the object's first bytes were read in memory: it has no other build id
};

/// Reads one process's mappings, as often as asked. Not for signal handlers. No heap.
class ProcMaps {
 public:
  /// Whether build ids are read, in the process's memory. A page that is not there comes from the file, and
  /// its file system may never answer.
  enum class BuildIds : unsigned char { kRead, kLeaveOut };

  /// pid 0: the calling process.
  explicit ProcMaps(pid_t pid, BuildIds build_ids = BuildIds::kRead) noexcept
      : pid_(pid), build_ids_(build_ids) {}
  /// `maps`: /proc/PID/maps, opened by somebody who may.
  ProcMaps(pid_t pid, UniqueFd maps, BuildIds build_ids = BuildIds::kRead) noexcept
      : pid_(pid), build_ids_(build_ids), given_(std::move(maps)) {}

  /// Calls `visit(const ExecutableMapping&)` for each executable mapping, ascending. False if /proc cannot be
  /// read (the process is gone, or belongs to somebody else).
  template <class Visit>
  bool visit(Visit&& visit) noexcept {
    if (!read_maps()) return false;
    size_t position = 0;
    ExecutableMapping mapping;
    while (next(&position, &mapping)) visit(static_cast<const ExecutableMapping&>(mapping));
    return true;
  }

 private:
  bool read_maps() noexcept;
  [[nodiscard]] UniqueFd open_file(const char* name) const noexcept;
  bool read_text(const UniqueFd& fd) noexcept;
  bool read_maps_of_a_thread() noexcept;
  bool next(size_t* position, ExecutableMapping* mapping) noexcept;
  void read_build_id(ExecutableMapping* mapping) noexcept;
  ssize_t read_memory(uint64_t address, void* to, size_t bytes) noexcept;

  pid_t pid_;  ///< or a thread of it, once its main thread is found to have ended
  BuildIds build_ids_;
  bool by_this_thread_ = false;  ///< so is the calling process's
  UniqueFd given_;
  MappedArray<char> text_;
  UniqueFd memory_;
  uint64_t header_address_ = 0;  ///< where the object last seen has its ELF header in memory
  uint64_t header_inode_ = 0;
};

}  // namespace pctally
