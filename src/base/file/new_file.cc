#include "base/file/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/file/file_at.h"

namespace pctally {
namespace {

constexpr unsigned kMostAttempts = 8;  ///< each but the first means that another maker came or went meanwhile
constexpr unsigned kMostBeside = 1000;  ///< names that are tried where one is taken
constexpr int kWithoutWaiting = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
constexpr int kReadOnly = O_RDONLY | kWithoutWaiting, kReadWrite = O_RDWR | kWithoutWaiting;

/// Whether whatever has the name may be replaced: nothing, an empty file, or one of our kind
/// that nobody writes.
Result<void> check_old(const NewFile::Plan& plan, const char* path) {
  struct stat status;
  if (lstat(path, &status) != 0) return {};
  if (!S_ISREG(status.st_mode)) return fail(EEXIST, "%s is not a regular file", path);
  if (!plan.overwrite) return fail(EEXIST, "%s exists", path);
  UniqueFd fd(open(path, kReadOnly));
  if (!fd.valid()) return fail(errno, "cannot replace %s: %s", path, strerror(errno));
  if (fstat(fd.get(), &status) != 0 || (status.st_size != 0 && !plan.may_replace(fd.get())))
    return fail(EEXIST, "%s is not %s: it is not replaced", path, plan.kind);
  if (flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return fail(EBUSY, "%s is being recorded now; end that recording first", path);
  return {};
}

/// Without a lock this file could not be distinguished from a left-over.
std::unexpected<Error> no_locks(const char* path) {
  return fail(errno, "cannot lock %s: %s", path, strerror(errno));
}

/// Removes what a maker left that was killed. An Error if its maker lives. Opened for writing, which NFS asks
/// of whoever locks.
Result<void> remove_left_over(const char* part) {
  UniqueFd fd(open(part, kReadWrite));
  if (!fd.valid() && errno == ENOENT) return {};
  if (!fd.valid()) return fail(errno, "cannot remove %s: %s", part, strerror(errno));
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return no_locks(part);
    return fail(EBUSY, "%s is being written by another process", part);
  }
  if (is_file_at(fd.get(), part) && unlink(part) != 0)
    return fail(errno, "cannot remove %s: %s", part, strerror(errno));
  return {};
}

/// In a program that has closed its standard streams the file would take the number of one, and whatever the
/// program prints would go into the file.
UniqueFd above_standard_streams(UniqueFd fd) noexcept {
  if (!fd.valid() || fd.get() > STDERR_FILENO) return fd;
  return UniqueFd(fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

/// Whether the fresh file is its maker's alone: before the lock somebody may have taken it for a left-over.
Result<bool> claim(int fd, const char* part, const char* path) {
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return is_file_at(fd, part);
  if (errno == EWOULDBLOCK) return false;
  auto error = no_locks(path);
  unlink(part);
  return error;
}

Result<UniqueFd> open_part(const char* part, const char* path) {
  for (unsigned attempt = 0; attempt < kMostAttempts; ++attempt) {
    UniqueFd fd = above_standard_streams(
        UniqueFd(open(part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)));
    if (fd.valid()) {
      auto claimed = claim(fd.get(), part, path);
      if (!claimed) return std::unexpected(claimed.error());
      if (!*claimed) continue;
      fchmod(fd.get(), 0600);
      return fd;
    }
    if (errno != EEXIST) return fail(errno, "cannot create %s: %s", path, strerror(errno));
    if (auto removed = remove_left_over(part); !removed) return std::unexpected(removed.error());
  }
  return fail(EBUSY, "%s is being written by another process", path);
}

/// As rename(2), but EEXIST where the new name is taken. Some file systems cannot do that in one step.
int rename_to_free_name(const char* from, const char* to) noexcept {
  if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  struct stat taken;
  if (lstat(to, &taken) == 0) return errno = EEXIST, -1;
  return rename(from, to);
}

/// a.1.pct for a.pct; false if it is too long.
bool name_beside(const char* path, unsigned number, char (*name)[PATH_MAX]) noexcept {
  const char* slash = strrchr(path, '/');
  const char* file = slash == nullptr ? path : slash + 1;
  const char* dot = strrchr(file, '.');
  if (dot == nullptr || dot == file) dot = path + strlen(path);
  const int length =
      snprintf(*name, sizeof *name, "%.*s.%u%s", static_cast<int>(dot - path), path, number, dot);
  return length > 0 && static_cast<size_t>(length) < sizeof *name;
}

}  // namespace

bool part_name(const char* path, char (*name)[PATH_MAX]) noexcept {
  constexpr char kEnd[] = ".part";
  const char* slash = strrchr(path, '/');
  const size_t length = strlen(path),
               directory = slash == nullptr ? 0 : static_cast<size_t>(slash + 1 - path);
  if (length + 1 + sizeof kEnd > sizeof *name) return false;
  char* to = *name;
  memcpy(to, path, directory);
  to[directory] = '.';
  memcpy(to + directory + 1, path + directory, length - directory);
  memcpy(to + length + 1, kEnd, sizeof kEnd);
  return true;
}

Result<NewFile> NewFile::create(const Plan& plan) {
  NewFile file;
  char part[PATH_MAX];
  file.plan_ = plan;
  if (!part_name(plan.path, &part))
    return fail(ENAMETOOLONG, "cannot create %s: %s", plan.path, strerror(ENAMETOOLONG));
  memcpy(file.plan_path_, plan.path, strlen(plan.path) + 1);
  if (auto free = check_old(plan, plan.path); !free) return std::unexpected(free.error());
  struct stat old;
  file.replaces_ = lstat(plan.path, &old) == 0;
  auto fd = open_part(part, plan.path);
  if (!fd) return std::unexpected(fd.error());
  struct stat status;
  if (fstat(fd->get(), &status) != 0) {
    auto error = fail(errno, "cannot create %s: %s", plan.path, strerror(errno));
    unlink(part);
    return error;
  }
  file.device_ = status.st_dev;
  file.inode_ = status.st_ino;
  file.fd_ = static_cast<UniqueFd&&>(*fd);
  return file;
}

bool NewFile::owns() const noexcept {
  struct stat status;
  return fd_.valid() && fstat(fd_.get(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

Result<void> NewFile::place() {
  char part[PATH_MAX];
  part_name(plan_path_, &part);
  if (auto free = check_old(plan_, plan_path_); !free) return free;
  const int result = plan_.overwrite ? rename(part, plan_path_) : rename_to_free_name(part, plan_path_);
  if (result != 0) return fail(errno, "cannot create %s: %s", plan_path_, strerror(errno));
  placed_ = true;
  return {};
}

Result<void> NewFile::place_beside() {
  char part[PATH_MAX], beside[PATH_MAX];
  part_name(plan_path_, &part);
  for (unsigned number = 1; number <= kMostBeside; ++number) {
    errno = ENAMETOOLONG;
    if (name_beside(plan_path_, number, &beside) && rename_to_free_name(part, beside) == 0) {
      memcpy(plan_path_, beside, strlen(beside) + 1);
      placed_ = true;
      return {};
    }
    if (errno != EEXIST) break;
  }
  return fail(errno, "cannot create a file beside %s: %s", plan_path_, strerror(errno));
}

void NewFile::discard() noexcept {
  char part[PATH_MAX];
  part_name(plan_path_, &part);
  if (plan_path_[0] != '\0') unlink(placed_ ? plan_path_ : part);
  close();
}

void NewFile::close() noexcept {
  if (!owns()) return leave_open();
  flock(fd_.get(), LOCK_UN);  // a mapping would hold the lock beyond the descriptor
  fd_.reset();
}

/// Not close(): the parent of a fork(2) has the same lock, and goes on.
NewFile::~NewFile() {
  if (fd_.valid() && !owns()) leave_open();
}

const char* new_file_remedy(int error, bool overwrite) noexcept {
  if (error == EEXIST && !overwrite) return "choose another name with -o, or replace it with -f";
  if (error == EEXIST || error == EBUSY) return "choose another name with -o";
  return "name another place with -o";
}

}  // namespace pctally
