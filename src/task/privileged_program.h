// Finds programs that only a privileged observer may observe (setuid, capabilities).
#pragma once
#include <string>

namespace pctally {

/// Whether `comm` may be the name of such a program: one in PATH or in the system's directories is setuid or
/// setgid, has file capabilities, or may not be read by us. Nothing but the name is left of a process that
/// has ended. True also where that cannot be found out.
bool may_be_privileged(const std::string& comm);

}  // namespace pctally
