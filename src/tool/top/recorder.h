// A recording for display only: our own record, in a process of its own, into a temporary file.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace pctally {

class TopRecorder {
 public:
  TopRecorder() = default;
  TopRecorder(TopRecorder&& other) noexcept;
  TopRecorder& operator=(TopRecorder&&) = delete;
  /// Ends the recording (a command gets SIGTERM) and removes the file.
  ~TopRecorder();

  /// Starts `pctally record -q -o FILE WORDS...` in a session of its own: nothing of it reaches the terminal,
  /// and the terminal's signals do not reach it. The file lies in a directory of its own, mode 0700, in
  /// $XDG_RUNTIME_DIR, $TMPDIR or /tmp, the first that can be written to; those that killed ones left there
  /// are removed first. It gets a signal to end if this process dies.
  static Result<TopRecorder> start(const std::vector<std::string>& words);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int process() const { return process_.get(); }  ///< readable once it has ended
  [[nodiscard]] int output() const { return output_.get(); }    ///< readable when it has said something
  /// Takes what it, or its command, has said on standard error; false at the end.
  bool listen();
  /// The last of it, at most a few KiB.
  [[nodiscard]] const std::string& said() const { return said_; }
  /// Its exit code once it has ended, else -1.
  int exit_code();

 private:
  pid_t pid_ = -1;
  int exit_code_ = -1;
  UniqueFd process_, output_;
  UniqueFd lock_;  ///< on the directory: without it the next top removes it
  std::string directory_, path_, said_;
};

}  // namespace pctally
