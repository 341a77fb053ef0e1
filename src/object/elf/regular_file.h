// Opening files that others named: looked at before they are opened, because opening a device, a fifo or a
// tape can do something. Read through a mapping that survives a file that shrinks meanwhile.
#pragma once
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace pctally {

enum class LastLink { kFollow, kRefuse };

/// Whose files are read.
enum class Trust { kAnybody, kRootOrOurselves };

/// A regular file (or one of /proc), open for reading, and what fstat(2) says of it. A path below
/// "/proc/N/root" is looked up in that root: its links do not lead out of it. Errors name the path;
/// ETIMEDOUT: its file system does not answer.
Result<UniqueFd> open_regular(const std::string& path, struct stat* status,
                              LastLink last = LastLink::kFollow);

/// Opens files for this process from now on; what it returns may be no regular file.
using FileOpener = Result<UniqueFd> (*)(const std::string& path, struct stat* status, LastLink last);
void set_file_opener(FileOpener opener) noexcept;

/// open_regular() as it is without set_file_opener().
Result<UniqueFd> open_regular_here(const std::string& path, struct stat* status, LastLink last);

/// Paths below it are those of an opener's: no file system has them.
inline constexpr std::string_view kHeldPlace = "/proc/self/held/";

/// Error code of files that Trust forbids.
inline constexpr int kOtherUsersFile = EPERM;

/// The bytes of a regular file. Those of a file that neither root nor the caller owns are copied first,
/// so that its owner cannot change them under the reader; others are mapped. One thread at a time, in
/// the whole process.
class FileBytes {
 public:
  static Result<FileBytes> open(const std::string& path, Trust trust = Trust::kAnybody);

  [[nodiscard]] std::span<unsigned char> span() noexcept { return bytes_; }
  [[nodiscard]] const struct stat& status() const noexcept { return status_; }
  /// The file was cut while it was read: what lay behind its new end reads as zeros.
  [[nodiscard]] bool shrank() const noexcept;

 private:
  struct Guard;
  struct Release {
    void operator()(Guard* guard) const noexcept;
  };
  std::vector<unsigned char> copy_;
  std::unique_ptr<Guard, Release> guard_;  ///< of a mapping
  std::span<unsigned char> bytes_;
  struct stat status_ {};
};

}  // namespace pctally
