// The system names of frames that stand for a scope, in pprof files that we have written: they distinguish
// such a frame from a function. Viewers show the name alone. The outermost location of a stack may have these
// frames.
#pragma once

namespace pctally {

inline constexpr char kProgramMark[] = "[program]";
inline constexpr char kGroupMark[] = "[control group]";
inline constexpr char kThreadMark[] = "[thread]";  ///< inlined in the program, as it were

}  // namespace pctally
