// Children and further descendants that processes had when their account began. What they used before is
// none of it, and comes into their parents' clocks when they end and are waited for.
#pragma once
#include <stdint.h>
#include <sys/types.h>

#include <map>
#include <set>
#include <vector>

namespace pctally {

class OlderChildren {
 public:
  /// Those of `processes` now; one of `processes` may be another's child.
  void find(const std::vector<pid_t>& processes);

  /// Reads the clocks of those that live, and of what they have started since. The most CPU time that those
  /// found gone have brought into their parents' clocks since the last call: what they had used by then, and
  /// all CPUs from then on.
  uint64_t poll();

  /// False if the system does not tell whose children they are, or if they are more than are followed.
  [[nodiscard]] bool known() const noexcept { return known_; }

 private:
  struct Child {
    uint64_t started = 0;  ///< ProcStat::started
    uint64_t used_ns = 0;
    uint64_t read_ns = 0;  ///< when that was
  };
  static bool read(pid_t pid, Child* child);
  void meet_descendants();
  void forget_too_many();
  void meet(pid_t pid);

  std::set<pid_t> processes_;
  std::map<pid_t, Child> children_;
  bool known_ = false;
};

}  // namespace pctally
