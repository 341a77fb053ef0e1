// What the cuts of call paths are called: in tables, in exports, and when such an export is read again.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "histread/path_tree.h"

namespace pctally {

struct CutReason {
  const char* id;    ///< for scripts: does not change with the words
  const char* text;  ///< "cut at code without unwind table"
};

/// REQUIRES: `end` < kPathEnds.
const CutReason& cut_reason(const CallPaths& paths, PathEnd end);

/// "[path cut at code without unwind table]": stands for the outer part of a path that is cut.
std::string cut_name(const CallPaths& paths, PathEnd end);

/// Which cut has that name; none: it is a function's, as "[no stack]" may be one of another tool.
std::optional<PathEnd> cut_named(std::string_view name);

}  // namespace pctally
