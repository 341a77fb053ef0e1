// Bytes of a file mapped into memory, unmapped at the end of their owner's life.
#pragma once
#include <stddef.h>

#include "base/result.h"

namespace pctally {

class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  /// Maps `bytes` from the start of `fd`, shared; writable if asked. The mapping may reach beyond the file's
  /// end: such memory must not be touched before the file has grown. The descriptor may be closed afterwards.
  static Result<MappedFile> map(int fd, size_t bytes, bool writable);

  /// Opens and maps a whole regular file read-only. An empty file gives an empty mapping. Refuses everything
  /// that is not a regular file, without ever blocking on it.
  static Result<MappedFile> open(const char* path);

  [[nodiscard]] unsigned char* data() const noexcept { return data_; }
  [[nodiscard]] size_t size() const noexcept { return size_; }

 private:
  unsigned char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace pctally
