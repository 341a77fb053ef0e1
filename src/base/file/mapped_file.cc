#include "base/file/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/unique_fd.h"

namespace pctally {

MappedFile::MappedFile(MappedFile&& other) noexcept : data_(other.data_), size_(other.size_) {
  other.data_ = nullptr;
  other.size_ = 0;
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this == &other) return *this;
  if (data_ != nullptr) munmap(data_, size_);
  data_ = other.data_;
  size_ = other.size_;
  other.data_ = nullptr;
  other.size_ = 0;
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(data_, size_);
}

Result<MappedFile> MappedFile::map(int fd, size_t bytes, bool writable) {
  MappedFile file;
  if (bytes == 0) return file;
  void* address = mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) return fail(errno, "cannot map %zu bytes: %s", bytes, strerror(errno));
  file.data_ = static_cast<unsigned char*>(address);
  file.size_ = bytes;
  return file;
}

Result<MappedFile> MappedFile::open(const char* path) {
  UniqueFd fd(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) return fail(errno, "cannot open %s: %s", path, strerror(errno));
  struct stat status;
  if (fstat(fd.get(), &status) != 0) return fail(errno, "cannot stat %s: %s", path, strerror(errno));
  if (!S_ISREG(status.st_mode)) return fail(EINVAL, "%s is not a regular file", path);
  return map(fd.get(), static_cast<size_t>(status.st_size), false);
}

}  // namespace pctally
