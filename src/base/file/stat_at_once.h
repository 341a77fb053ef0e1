// What the kernel has remembered of a file: its file system, which may not answer, is not asked.
#pragma once
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "base/unique_fd.h"

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

namespace pctally {

/// A name for the file (O_PATH), as the kernel finds it without asking a file system. Errors: errno, EINVAL
/// before Linux 5.12.
inline UniqueFd find_in_cache(const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_CACHED;
  return UniqueFd(static_cast<int>(syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
}

/// stat(2) of `path` below `directory`, or of the file that `directory` is if it is "". The way to the file
/// is looked up as ever. False: errno says why.
inline bool stat_at_once(int directory, const char* path, struct statx* status) noexcept {
  return statx(directory, path, AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, status) == 0;
}

inline uint64_t device_number(const struct statx& status) noexcept {
  return uint64_t{status.stx_dev_major} << 32 | status.stx_dev_minor;
}

}  // namespace pctally
