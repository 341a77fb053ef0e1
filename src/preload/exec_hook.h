// The calls by which a program executes another one, in front of the C library's. What the process has used
// until then is the older image's: the new one cannot ask for it.
#pragma once

namespace pctally {

/// Called just before an exec(3) (true), and after one that has failed (false), in a child of vfork(2), too.
void set_exec_hook(void (*at_exec)(bool begins)) noexcept;

}  // namespace pctally
