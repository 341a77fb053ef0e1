// The names of everything that a profile has hit, as the section a profile file has for them.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "names/kept_names.h"
#include "profile/profile.h"
#include "report/names/object_names.h"

namespace pctally {

inline constexpr double kHotFrom = 0.005;  ///< share of all ticks from which a function's code is kept

/// All positions of one executable that have ticks or are on a call path, ascending.
struct HitPlaces {
  uint32_t executable = 0;
  uint64_t ticks = 0;
  std::vector<uint64_t> positions;
};

/// Most ticks first.
std::vector<HitPlaces> hit_places(const Profile& profile);

struct ProfileNames {
  std::vector<unsigned char> section;  ///< empty: nothing has a name
  size_t objects = 0;                  ///< that were hit
  size_t late = 0;                     ///< of these, left without names: see names_of_profile()
};

/// Only names of functions, from symbol tables; for code made at run time also what else a jitdump has of it.
/// An object is left out, and is `late`, if its turn comes after `until_ns` of the monotonic clock, or if
/// `may_open` (called with the number of its executable) returns false. Error: as of NamesWriter::bytes().
Result<ProfileNames> names_of_profile(const Profile& profile, const OpenSymbolizer& open,
                                      uint64_t until_ns = UINT64_MAX,
                                      const std::function<bool(uint32_t)>& may_open = {});

/// The names of a sum, and what archives among its parts hold beside them: code, lines, sources. Error: as of
/// NamesWriter::bytes(), or ENOMEM: they would take more than `most_bytes`.
Result<ProfileNames> names_of_sum(const Profile& profile, const OpenSymbolizer& open, const KeptNames& kept,
                                  uint64_t most_bytes = UINT64_MAX);

/// The message that `out` is not written, because it cannot have these names.
std::string not_written(const std::string& out, const Error& names);

}  // namespace pctally
