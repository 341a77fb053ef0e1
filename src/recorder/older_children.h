// Follows the children that processes had when their account began. When such a child ends and is waited for,
// all CPU time that it has ever used is added to its parent's clock; that is no part of the account.
#pragma once
#include <stdint.h>
#include <sys/types.h>

#include <map>
#include <vector>

namespace pctally {

class OlderChildren {
 public:
  /// Remembers the children that `processes` have at this moment, but for those that are of `processes`.
  void find(const std::vector<pid_t>& processes);

  /// Whether any has gone since the last call.
  bool have_ended();

  /// False if the system does not tell who they are, or if they are more than are followed (64). A descendant
  /// that a process adopts later is not known as an older one.
  [[nodiscard]] bool known() const noexcept { return known_; }

 private:
  std::map<pid_t, uint64_t> started_;  ///< ProcStat::started
  bool known_ = false;
};

}  // namespace pctally
