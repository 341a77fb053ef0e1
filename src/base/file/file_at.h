// Whether a path still names the file that is open: somebody may have renamed or replaced it meanwhile.
#pragma once
#include <sys/stat.h>

namespace pctally {

/// A symbolic link to the file is not the file. False with errno if either cannot be asked.
/// Async-signal-safe.
inline bool is_file_at(int fd, const char* path) noexcept {
  struct stat open_one, named;
  return fstat(fd, &open_one) == 0 && lstat(path, &named) == 0 && open_one.st_dev == named.st_dev &&
         open_one.st_ino == named.st_ino;
}

}  // namespace pctally
