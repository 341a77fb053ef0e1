// The part of a profile's call paths that is asked for: those through some functions, those without others,
// and without the frames of yet others.
#pragma once
#include <optional>

#include "report/names/name_pattern.h"
#include "report/names/object_names.h"

namespace pctally {

/// Null: nothing is asked. The patterns are searched for in short, full and linkage names.
struct PathChoice {
  const NamePattern* focus = nullptr;   ///< only paths with such a function
  const NamePattern* ignore = nullptr;  ///< no path with such a function
  const NamePattern* hide = nullptr;    ///< such functions are not shown: their ticks are their callers'
  [[nodiscard]] bool any() const { return focus != nullptr || ignore != nullptr || hide != nullptr; }
};

/// The names of the rows that stand for what is not shown.
inline constexpr char kLeftOut[] = "[paths left out]";
inline constexpr char kInnerNotKept[] = "[inner functions not kept]";
inline constexpr char kNoFunction[] = "[no function known]";
inline constexpr char kNoPath[] = "[no room for the path]";

/// A profile of the same ticks, in which those of other paths are kLeftOut. Its functions' own ticks are
/// known by the paths. Ticks of folded paths are kInnerNotKept; so are those that may or may not go through a
/// function of the focus. By function and object; its lines are not. Null if no function is of the focus.
/// REQUIRES: call paths.
std::optional<Profile> chosen_paths(const Profile& profile, ObjectNames& names, const PathChoice& choice);

}  // namespace pctally
