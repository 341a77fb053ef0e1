// Files as a process of another root sees them, opened so that neither links nor devices can mislead or hold
// up the reader.
#pragma once
#include <sys/stat.h>

#include "base/result.h"
#include "base/unique_fd.h"

namespace pctally {

/// A descriptor that names what is at `path` without opening it (O_PATH). "/proc/N/root/rest" is `rest` in
/// that root: its links lead nowhere else. `flags`: 0 or O_NOFOLLOW. Invalid: errno says why.
UniqueFd find_place(const char* path, int flags = 0) noexcept;

/// Opens for reading what find_place() found. Never blocks.
UniqueFd open_place(int place) noexcept;

/// Both, of a regular file (or one of /proc) alone: what else it is, is found before it is opened. `status`:
/// what fstat(2) says of it. Errors name the path; ENOTSUP: it is no regular file.
Result<UniqueFd> open_regular_file(const char* path, struct stat* status, int flags = 0) noexcept;

}  // namespace pctally
