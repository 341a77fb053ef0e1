// Says how to start an interpreter or JIT so that its functions get names, and what completes call paths;
// only if that concerns a fifth of the ticks.
#pragma once
#include <vector>

#include "profile/profile.h"
#include "report/rollup.h"

namespace pctally {

inline constexpr double kHintsFrom = 0.2;  ///< share of the ticks

/// Code that a runtime has made: no file on disk has it.
[[nodiscard]] bool is_made_code(const Executable& executable);

/// How to start the runtime that has made this code, so that it writes a map with names. `made`: of the
/// profile.
[[nodiscard]] const char* way_to_names(const Profile& profile, const Executable& made);

/// Adds the hint why many call paths are cut for one reason, where something completes them.
void add_cut_path_hint(const Profile& profile, std::vector<Warning>* warnings);

/// Adds the hint that an interpreter's functions hide those of its programs. `rows` by function or line:
/// objects do not tell whether its functions have names.
void add_interpreter_hint(const Profile& profile, const std::vector<Row>& rows,
                          std::vector<Warning>* warnings);

}  // namespace pctally
