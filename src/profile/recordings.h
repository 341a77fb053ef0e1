// The recordings that several profiles are of, so that none counts twice.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"

namespace pctally {

/// The runs of a merged profile; of another one its own.
std::vector<ProfileRun> runs_of(const Profile& profile);

class Recordings {
 public:
  /// Adds all runs of `profile`. Error: EINVAL if one is there already; it names both files. Runs without
  /// an id (older files, imports) are compared by their start, duration and ticks; a run without a start
  /// is not compared.
  Result<void> add(const Profile& profile, const std::string& name);

 private:
  /// id; without one start, duration and ticks
  using Key = std::tuple<std::array<uint8_t, 16>, uint64_t, uint64_t, uint64_t>;

  static Key key_of(const ProfileRun& run);

  std::map<Key, std::string> files_;  ///< that each is from
};

}  // namespace pctally
