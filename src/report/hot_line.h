// Finds the hot line: on the path that most ticks took, the line with most ticks in the innermost function
// whose source is the reader's own.
#pragma once
#include <optional>

#include "report/rollup.h"

namespace pctally {

/// `path`: functions from the outermost on. Ticks of a line are its own and those of what it calls, once
/// each. Where its function calls itself, or paths were folded, they are between two numbers; the line is the
/// one with the greatest smaller number. Without a source of the reader's own it is that of the
/// innermost function which has lines; nothing if no line has a twentieth of all ticks. REQUIRES: the
/// profile's positions are those of the ticks, not of chosen paths.
std::optional<HotLine> hot_line(const Profile& profile, ObjectNames& names, const PathFunctions& functions,
                                const std::vector<uint32_t>& path);

}  // namespace pctally
