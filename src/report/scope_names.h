// Names the programs, threads and control groups of a profile.
#pragma once
#include <string>
#include <vector>

#include "profile/profile.h"
#include "report/rollup.h"

namespace pctally {

inline constexpr char kProgramNotKnown[] = "[program not known]";
inline constexpr char kThreadNotKnown[] = "[thread not known]";
inline constexpr char kGroupNotKnown[] = "[control group not known]";
inline constexpr char kNotRead[] = "[not read by the recorder]";
inline constexpr char kOtherScopes[] = "(others)";  ///< beyond the number that a recording tells apart

struct ScopeName {
  std::string program;  ///< the last part of its path, or all of it where two programs would look alike
  std::string thread;   ///< of a profile by thread
  std::string group;    ///< of a profile by control group: then there is no program
};

/// The name of each scope, by its index. An unknown one has a name in brackets.
std::vector<ScopeName> scope_names(const CallPaths& paths);

/// The name for ticks without a scope.
ScopeName unknown_scope(PathScopeKind kind);

/// The kind of a profile's scopes; by program where there are none.
PathScopeKind scope_kind(const CallPaths& paths);

/// Whether the scopes tell what `by` asks for: threads tell their programs, too.
bool has_scopes_for(const CallPaths& paths, Grouping by);

/// For each node of a context tree the index of its scope, of so many; UINT32_MAX: not known.
std::vector<uint32_t> scope_of_nodes(const PathTree& tree, size_t all_scopes);

}  // namespace pctally
