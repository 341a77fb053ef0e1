// What tells a frame of a pprof file that we have written from a function: the system name of a frame that
// stands for a scope. Viewers show the name alone. The outermost location of a stack may have these frames.
#pragma once

namespace pctally {

inline constexpr char kProgramMark[] = "[program]";
inline constexpr char kGroupMark[] = "[control group]";
inline constexpr char kThreadMark[] = "[thread]";  ///< inlined in the program, as it were

}  // namespace pctally
