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
  /// From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT end the recording in order. `processes` empty: it ends
  /// by them alone. Errors: ESRCH (no process of that number), EPERM is the engine's to find.
  static Result<Attachment> open(const std::vector<pid_t>& processes);

  /// Readable when ended() may have become true.
  [[nodiscard]] std::vector<int> descriptors() const;
  bool ended();

 private:
  UniqueFd signals_;
  std::vector<UniqueFd> processes_;
  bool interrupted_ = false;
};

}  // namespace pctally
