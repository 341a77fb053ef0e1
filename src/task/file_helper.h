// A helper process that opens other processes' files for the recorder, and reads what may block its reader:
// files, and memory of processes, which may be that of a file. The recorder may have dropped the rights for
// it, and must not block on a hung file system.
//
//  1. The helper keeps three capabilities, if it had them: CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, and
//     CAP_CHECKPOINT_RESTORE (for /proc/PID/map_files). The recorder may keep none.
//  2. It parses nothing and answers eight questions. From it a recorder that was taken over gets executables
//     (ELF, no core dumps; in memory their first page), perf maps, jitdumps, and what processes have mapped.
//     It can write none of these.
//  3. A recorder that gets no answer within two seconds does without the helper from then on.
#pragma once
#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "process/build_id.h"

namespace pctally {

/// What makes two processes see the same files.
struct FileView {
  uint64_t mounts = 0;
  uint64_t root_device = 0;
  uint64_t root = 0;
  bool operator==(const FileView&) const = default;
};

/// A part of what stat(2) returns.
struct FileFacts {
  uint64_t device = 0;  ///< as device_number() has it
  uint64_t inode = 0;
  uint64_t bytes = 0;
  uint64_t changed_unix_ns = 0;
};

struct FileRequest;

/// With this process's own rights. pid 0: this process.
Result<FileView> read_view(pid_t pid);
/// A path below "/proc/N/root" is looked up in that root: its links do not lead out of it.
Result<FileFacts> read_facts(const std::string& path);
/// Whether a process's memory has kTrampoline at `address`; nothing: it cannot be read. May wait for a file
/// system.
std::optional<bool> read_trampoline(pid_t pid, uint64_t address);

/// Not thread-safe. Errors are those of open(2) and stat(2), EPIPE if it is lost.
class FileHelper {
 public:
  FileHelper() = default;
  FileHelper(const FileHelper&) = delete;
  FileHelper& operator=(const FileHelper&) = delete;
  ~FileHelper() { end(); }

  /// Forks it, with the rights of now. REQUIRES: one thread.
  Result<void> start();
  [[nodiscard]] bool runs() const noexcept { return socket_.valid(); }
  /// It was started, and may have been lost since.
  [[nodiscard]] bool was_started() const noexcept { return started_; }
  /// Ends it and waits for that: else process 1 would have to, and in a container nobody may. One that a dead
  /// file system holds in the kernel is left behind.
  void end() noexcept;

  Result<FileView> view_of(pid_t pid);
  Result<FileFacts> facts_of(std::string_view path);

  /// An executable, a perf map or a jitdump, to be read.
  Result<UniqueFd> open_file(std::string_view path);

  /// The bytes of an executable at `offset`, at most kElfPartBytes.
  Result<std::string> read_part(std::string_view path, uint64_t offset);

  /// At most kBlockBytes of an open file at `offset`.
  static constexpr size_t kBlockBytes = 64 << 10;
  Result<std::string> read_file(int fd, uint64_t offset);

  /// The first kElfPartBytes of executables, from where they lie in a process's memory; zeros for what else
  /// is there. REQUIRES: at most kMostImages addresses.
  static constexpr size_t kMostImages = kBlockBytes / kElfPartBytes;
  Result<std::string> read_images(pid_t pid, std::span<const uint64_t> addresses);

  Result<bool> has_trampoline(pid_t pid, uint64_t address);

  /// /proc/PID/maps, to be read.
  Result<UniqueFd> open_maps(pid_t pid);

 private:
  struct Answer;
  Result<Answer> ask(const FileRequest& request, size_t rest_bytes, int fd = -1);
  Result<Answer> ask(int question, pid_t pid, std::string_view path, uint64_t offset = 0);

  bool kill_it() noexcept;

  UniqueFd socket_;
  UniqueFd process_;  ///< its pidfd
  pid_t pid_ = -1;
  bool started_ = false;
};

}  // namespace pctally
