// Exit codes of pctally itself. record passes its command's own status through otherwise.
#pragma once

namespace pctally {

inline constexpr int kExitUsage = 2;        ///< the command line is wrong
inline constexpr int kExitInput = 4;        ///< a file to be read is missing, damaged or of another kind
inline constexpr int kExitFailed = 125;     ///< pctally itself failed
inline constexpr int kExitCannotRun = 126;  ///< the command to record cannot be run
inline constexpr int kExitNotFound = 127;   ///< the command to record was not found

}  // namespace pctally
