// Drops every right that a process does not need to read its one open descriptor.
#pragma once

namespace pctally {

/// From here on this process has no file but descriptor `kept`, no user's rights if it had root's, bounded
/// memory and CPU time, and no system call but those that compute: it opens, starts, signals and connects
/// nothing. False if any of it fails: then it must read nothing. REQUIRES: a process of its own, one thread.
bool confine(int kept) noexcept;

}  // namespace pctally
