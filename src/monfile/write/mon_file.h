// The file that a monitor writes: its name, and how its bytes get there.
//
// Does not follow links, writes into plain files of this user only, and leaves no half-written file.
#pragma once
#include <limits.h>
#include <stddef.h>

#include "base/result.h"
#include "base/unique_fd.h"

namespace pctally {

/// The rule that names the file.
enum class MonNaming : unsigned char {
  kProfdir,     ///< PROFDIR: unset, the usual name; empty, no file; else PROFDIR/pid.program
  kGmonPrefix,  ///< GMON_OUT_PREFIX: set, prefix.pid; else the usual name
};

struct MonPath {
  char text[PATH_MAX] = {};   ///< empty: no file is wanted
  const char* variable = "";  ///< of the environment, that names another place
};

/// The environment of a privileged program is not asked. Error: ENAMETOOLONG.
Result<MonPath> mon_path(MonNaming naming, const char* usual) noexcept;

class MonFile {
 public:
  /// Takes the place of a file that was there before; mode 0600 in any case. Errors: what open(2) says, and
  /// EPERM for what is there and is not a plain file of this user with one name.
  static Result<MonFile> create(const MonPath& path) noexcept;

  /// close() reports an error.
  void append(const void* bytes, size_t count) noexcept;

  /// Writes the rest. After an error of any append the file is removed.
  Result<void> close() noexcept;

 private:
  void flush() noexcept;

  UniqueFd fd_;
  MonPath path_{};
  int error_ = 0;
  size_t used_ = 0;
  unsigned char buffer_[4096] = {};
};

}  // namespace pctally
