// Writes all bytes, however often the kernel takes a part.
#pragma once
#include <errno.h>
#include <stddef.h>
#include <unistd.h>

namespace pctally {

/// True if all `count` bytes are written; else false with errno of write(2), or EIO if nothing more is taken.
/// A signal does not end it. Async-signal-safe.
inline bool write_all(int fd, const void* bytes, size_t count) noexcept {
  for (size_t at = 0; at < count;) {
    ssize_t written = write(fd, static_cast<const char*>(bytes) + at, count - at);
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = EIO;
    if (written <= 0) return false;
    at += static_cast<size_t>(written);
  }
  return true;
}

}  // namespace pctally
