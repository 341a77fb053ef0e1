// Programs that the kernel lets nobody observe who may not observe everything.
#pragma once
#include <string>

namespace pctally {

/// Whether `comm` may be the name of such a program: of one in PATH or in the system's directories that is
/// setuid, setgid, has file capabilities or is not ours to read. Of a process that has ended nothing tells
/// more. True also where that cannot be found out.
bool may_be_privileged(const std::string& comm);

}  // namespace pctally
