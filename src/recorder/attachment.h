// The end of a recording that has no command: an interrupt, a time, or the end of all its processes.
#pragma once
#include <stdint.h>
#include <sys/types.h>

#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace pctally {

class Attachment {
 public:
  /// From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT end the recording in order. `processes` empty: nothing
  /// else ends it. Processes that have ended are removed from the list. Errors: ESRCH (all have ended, or one
  /// of `needed` has), EINVAL (one is a thread), EMFILE. Whether the processes may be observed is for the
  /// engine to find out.
  static Result<Attachment> open(std::vector<pid_t>* processes, const std::vector<pid_t>& needed);

  /// Readable when ended() may have become true.
  [[nodiscard]] std::vector<int> descriptors() const;
  bool ended();

 private:
  Result<void> add(pid_t pid);

  UniqueFd signals_;
  std::vector<UniqueFd> processes_;
  bool interrupted_ = false;
};

}  // namespace pctally
