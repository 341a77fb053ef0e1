// How the recorder's library is put into a program, and what the recorder tells it in the environment.
#pragma once

namespace pctally {

/// Put into LD_PRELOAD, with its directory.
inline constexpr char kPreloadLibrary[] = "libpctally-preload.so";

inline constexpr char kRecordVariable[] = "PCTALLY_RECORD";  ///< the profile file to join
inline constexpr char kIdVariable[] = "PCTALLY_RECORD_ID";   ///< which recording it is
inline constexpr char kChildrenVariable[] =
    "PCTALLY_CHILDREN";                                        ///< 0: programs that it executes are left out
inline constexpr char kFiltersVariable[] = "PCTALLY_FILTERS";  ///< seccomp filters that the recorder has

}  // namespace pctally
