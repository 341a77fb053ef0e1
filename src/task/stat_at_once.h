// What the kernel has remembered of a file: its file system, which may not answer, is not asked.
#pragma once
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/time_ns.h"
#include "task/file_helper.h"

namespace pctally {

/// stat(2) of `path` below `directory`, or of the file that `directory` is if it is "". The way to the file
/// is looked up as ever. False: errno says why.
inline bool stat_at_once(int directory, const char* path, struct statx* status) noexcept {
  return statx(directory, path, AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, status) == 0;
}

inline uint64_t device_number(const struct statx& status) noexcept {
  return uint64_t{status.stx_dev_major} << 32 | status.stx_dev_minor;
}

inline FileFacts facts_in(const struct statx& status) noexcept {
  return {device_number(status), status.stx_ino, status.stx_size,
          static_cast<uint64_t>(status.stx_mtime.tv_sec) * kNsPerSecond + status.stx_mtime.tv_nsec};
}

}  // namespace pctally
