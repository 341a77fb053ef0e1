// An output file under a temporary name that takes its own name only when place() is called.
//
//  1. Whatever goes wrong before place(), a file that has the name already stays as it is.
//  2. The temporary name is that of the file with a dot before and ".part" behind it. Its maker holds a lock
//     (flock) on it as long as it lives: without the lock it is a left-over, which the next maker removes.
//  3. place() takes the name by rename(2): readers see the old file or the new one, never half of one.
//  4. The process may be somebody else's program, which closes descriptors that it does not know, and gets
//     their numbers again. A number that is no longer of this file is left alone.
#pragma once
#include <limits.h>
#include <sys/types.h>

#include "base/result.h"
#include "base/unique_fd.h"

namespace pctally {

class NewFile {
 public:
  struct Plan {
    const char* path = nullptr;
    bool overwrite = false;
    bool (*may_replace)(int fd) = nullptr;  ///< whether a regular file that is not empty is of our kind
    const char* kind = "a file";            ///< what our kind is called
  };

  /// Creates it with mode 0600 whatever the umask, O_EXCL and O_NOFOLLOW, locked. Errors: EEXIST (the name is
  /// taken, by a file that may not be replaced or without `overwrite`), EBUSY (its maker still writes it),
  /// ENAMETOOLONG, whatever open(2) and flock(2) say. Nothing is left behind.
  static Result<NewFile> create(const Plan& plan);

  NewFile() = default;
  NewFile(NewFile&&) noexcept = default;
  NewFile& operator=(NewFile&&) noexcept = default;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  /// False if the program has closed the descriptor, or its number is another file's now. One system call.
  [[nodiscard]] bool owns() const noexcept;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] const char* path() const noexcept { return plan_path_; }

  /// True if it replaces a file that had the name when this was made.
  [[nodiscard]] bool replaces() const noexcept { return replaces_; }

  /// Takes the name. Errors: EEXIST (taken meanwhile), whatever rename(2) says; it can be tried again.
  Result<void> place();

  /// Takes another name, which path() is then: a.1.pct for a.pct, or the next number that is free. Errors:
  /// those of place().
  Result<void> place_beside();

  /// Removes it, under whichever name it has.
  void discard() noexcept;

  /// Gives up the descriptor and the lock, if it owns() them.
  void close() noexcept;

  /// Gives up the descriptor as it is: without a system call.
  void leave_open() noexcept { fd_.release(); }

 private:
  Plan plan_;  ///< but for the path
  char plan_path_[PATH_MAX] = {};
  UniqueFd fd_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  bool placed_ = false;
  bool replaces_ = false;
};

/// The temporary name for `path` into *name; false if it is too long.
bool part_name(const char* path, char (*name)[PATH_MAX]) noexcept;

/// What to do at the command line about an error of NewFile::create(), with -f being `overwrite`.
const char* new_file_remedy(int error, bool overwrite) noexcept;

}  // namespace pctally
