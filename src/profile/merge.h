// Several profiles as one: sums in whole nanoseconds (or events), the same whatever the order.
//
// Refuses what has no sum: other events, unknown periods, one recording twice, some with call paths and some
// without. Nothing is pruned or rounded: what does not fit into the memory allowed is an error.
#pragma once
#include <memory>
#include <string>

#include "base/result.h"
#include "profile/profile.h"
#include "profile/recordings.h"

namespace pctally {

inline constexpr uint64_t kUsualMergeBytes = uint64_t{1} << 30;
/// What to do where they are too few, for commands that take no other number.
inline constexpr char kUsualMergeRemedy[] = "name fewer files, or add them up with pctally merge --memory";

/// Memory that a profile takes, estimated from above.
uint64_t memory_of(const Profile& profile);

class Merger {
 public:
  explicit Merger(uint64_t most_bytes = kUsualMergeBytes, const char* remedy = kUsualMergeRemedy);
  ~Merger();

  /// Adds the ticks of `profile`, itself merged or not. `name` is what errors call it.
  Result<void> add(Profile profile, const std::string& name);

  /// Bytes that the caller holds meanwhile, as for names. They count towards the limit.
  void set_held_by_caller(uint64_t bytes) { held_by_caller_ = bytes; }

  /// Memory taken so far, estimated from above.
  [[nodiscard]] uint64_t memory() const;

  /// Whether a file of so many bytes can be loaded and added. An error names it.
  [[nodiscard]] Result<void> check_room(uint64_t file_bytes, const std::string& name) const;

  /// The sum: Profile::runs are in order of their start, objects by name, paths depth first. REQUIRES: at
  /// least one profile was added. Leaves nothing behind.
  Profile take();

 private:
  class Sums;

  Result<void> check(const Profile& profile, const std::string& name) const;
  Result<void> check_scopes(const Profile& profile, const std::string& name) const;
  Result<void> add_runs(const Profile& profile, const std::string& name);

  uint64_t most_bytes_;
  const char* remedy_;
  uint64_t held_by_caller_ = 0;
  std::string first_name_;
  Recordings recordings_;
  std::unique_ptr<Sums> sums_;
};

}  // namespace pctally
