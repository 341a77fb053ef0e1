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

/// Appends what is left of a file, pipe or socket to `bytes`, a std::string or a vector of bytes. True if
/// that is all of it; else false with errno of read(2), or EFBIG if there are more than `limit` bytes in all:
/// what was read is there. The size of a file is a hint: those of /proc have none, others grow. A signal does
/// not end it. REQUIRES: bytes->size() <= limit < SIZE_MAX.
template <class Bytes>
bool read_to_end(int fd, size_t limit, Bytes* bytes) {
  constexpr size_t kFirst = 64 << 10;
  size_t at = bytes->size(), room = size_of_file(fd);
  if (room > limit) return errno = EFBIG, false;
  for (room = room < kFirst ? kFirst : room + 1;; room = at) {
    if (at == bytes->size()) bytes->resize(limit - at < room ? limit + 1 : at + room);
    const ssize_t got = read(fd, bytes->data() + at, bytes->size() - at);
    if (got < 0 && errno == EINTR) continue;
    if (got > 0) at += static_cast<size_t>(got);
    if (got > 0 && at <= limit) continue;
    bytes->resize(at);
    if (got > 0) errno = EFBIG;
    return got == 0;
  }
}

}  // namespace pctally
