// A read that takes everything there is, however many calls it needs. pread(2) alone is allowed to give less.
// And how much there is.
#pragma once
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pctally {

/// Bytes read from `offset` on, fewer than `count` only where the file ends; -1 with errno of pread(2). A
/// signal does not end it. Async-signal-safe.
inline ssize_t read_all_at(int fd, uint64_t offset, void* to, size_t count) noexcept {
  size_t at = 0;
  while (at < count) {
    const ssize_t got = pread(fd, static_cast<char*>(to) + at, count - at, static_cast<off_t>(offset + at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    at += static_cast<size_t>(got);
  }
  return static_cast<ssize_t>(at);
}

/// Bytes of the open file; 0 if that cannot be known. Async-signal-safe.
inline uint64_t size_of_file(int fd) noexcept {
  struct stat status;
  return fstat(fd, &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

}  // namespace pctally
