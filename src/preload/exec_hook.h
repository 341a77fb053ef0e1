// The calls by which a program executes another one, in front of the C library's. What the process has used
// until then is the older image's: the new one cannot ask for it. And where the new one may not read our
// library, LD_PRELOAD does not name it: the dynamic linker would say so in the program's output.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace pctally {

inline constexpr size_t kNoVariable = SIZE_MAX;

/// `at_exec`: called just before an exec(3) (true), and after one that has failed (false), in a child of
/// vfork(2), too. `unreadable`: which variable of the new environment is LD_PRELOAD and begins with what may
/// not be read then; kNoVariable: none. The program gets a copy without that entry; nothing of the
/// environment changes, which threads and the parent of vfork(2) share.
void set_exec_hook(void (*at_exec)(bool begins), size_t (*unreadable)(char* const* environment)) noexcept;

}  // namespace pctally
