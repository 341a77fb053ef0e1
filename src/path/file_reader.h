// How unwind tables come to the bytes of files. This one asks the file systems itself, and waits for them.
#pragma once
#include <sys/stat.h>

#include <string>

#include "base/file/process_root.h"
#include "base/file/read_all.h"
#include "base/unique_fd.h"

namespace pctally {

class FileReader {
 public:
  virtual ~FileReader() = default;

  /// The regular file at `path`, to be read. Invalid: it cannot be opened.
  virtual UniqueFd open(const std::string& path) {
    struct stat status;
    auto opened = open_regular_file(path.c_str(), &status);
    return opened ? std::move(*opened) : UniqueFd();
  }

  /// As read_all_at().
  virtual ssize_t read(int fd, uint64_t offset, void* to, size_t bytes) {
    return read_all_at(fd, offset, to, bytes);
  }
};

}  // namespace pctally
