#include "monfile/write/mon_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file/quiet_write.h"

namespace pctally {
namespace {

bool fits(int length) noexcept { return length >= 0 && length < PATH_MAX; }

/// The name the program was started by, without its directories.
const char* program_name() noexcept {
  const char* name = program_invocation_short_name;
  return name != nullptr && *name != '\0' ? name : "a.out";
}

bool is_ours(int fd) noexcept {
  struct stat found {};
  return fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && found.st_nlink == 1 && found.st_uid == geteuid();
}

}  // namespace

Result<MonPath> mon_path(MonNaming naming, const char* usual) noexcept {
  MonPath path;
  path.variable = naming == MonNaming::kProfdir ? "PROFDIR" : "GMON_OUT_PREFIX";
  const char* where = secure_getenv(path.variable);
  int pid = static_cast<int>(getpid()), length = 0;
  if (naming == MonNaming::kGmonPrefix && where != nullptr && *where != '\0')
    length = snprintf(path.text, sizeof path.text, "%s.%d", where, pid);
  else if (naming == MonNaming::kGmonPrefix || where == nullptr)
    length = snprintf(path.text, sizeof path.text, "%s", usual);
  else if (*where != '\0')
    length = snprintf(path.text, sizeof path.text, "%s/%d.%s", where, pid, program_name());
  if (!fits(length)) return fail(ENAMETOOLONG, "no profile written: %s is too long", path.variable);
  return path;
}

Result<MonFile> MonFile::create(const MonPath& path) noexcept {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  MonFile file;
  file.path_ = path;
  file.fd_.reset(open(path.text, kFlags, 0600));
  if (!file.fd_.valid()) return fail(errno, "cannot create %s: %s", path.text, strerror(errno));
  if (!is_ours(file.fd_.get()))
    return fail(EPERM, "%s is not a plain file of this user: remove it", path.text);
  if (fchmod(file.fd_.get(), 0600) != 0 || ftruncate(file.fd_.get(), 0) != 0)
    return fail(errno, "cannot write %s: %s", path.text, strerror(errno));
  return file;
}

void MonFile::append(const void* bytes, size_t count) noexcept {
  const auto* from = static_cast<const unsigned char*>(bytes);
  while (count > 0 && error_ == 0) {
    size_t part = sizeof buffer_ - used_ < count ? sizeof buffer_ - used_ : count;
    memcpy(buffer_ + used_, from, part);
    used_ += part, from += part, count -= part;
    if (used_ == sizeof buffer_) flush();
  }
}

void MonFile::flush() noexcept {
  if (error_ == 0 && !write_quietly(fd_.get(), buffer_, used_)) error_ = errno;
  used_ = 0;
}

Result<void> MonFile::close() noexcept {
  flush();
  if (error_ == 0 && ::close(fd_.release()) == 0) return {};
  int error = error_ != 0 ? error_ : errno;
  if (fd_.valid()) (void)!ftruncate(fd_.get(), 0);
  unlink(path_.text);
  if (error == EFBIG) return fail(error, "cannot write %s: %s; raise ulimit -f", path_.text, strerror(error));
  if (error != ENOSPC && error != EDQUOT)
    return fail(error, "cannot write %s: %s", path_.text, strerror(error));
  return fail(error, "cannot write %s: %s; set %s to a place with room", path_.text, strerror(error),
              path_.variable);
}

}  // namespace pctally
