// The ticks of some programs, threads or control groups of a profile.
#pragma once
#include "base/result.h"
#include "report/names/name_pattern.h"
#include "report/rollup.h"

namespace pctally {

/// Null: nothing is asked. Programs are searched for by their names as shown and by their paths.
struct ScopeChoice {
  const NamePattern* program = nullptr;
  const NamePattern* thread = nullptr;
  const NamePattern* group = nullptr;
};

/// The names of the row that stands for the ticks of all others.
inline constexpr char kOtherPrograms[] = "[other programs]";
inline constexpr char kOtherThreads[] = "[other threads]";
inline constexpr char kOtherGroups[] = "[other control groups]";

/// A profile of the same ticks, in which those of others are one row, and those whose program (or thread,
/// control group) is not known have rows of their own. Where there are call paths, a
/// function's own ticks are as chosen_paths() has them: by function and object. Null if nothing is
/// chosen. REQUIRES: scopes that tell what is asked for.
std::optional<Profile> chosen_scopes(const Profile& profile, const ScopeChoice& choice);

}  // namespace pctally
