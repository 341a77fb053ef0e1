// The Unix sockets by which programs and gperf find each other, in a directory that belongs to
// the user alone.
//
//   $XDG_RUNTIME_DIR/pctally/  or  /tmp/pctally-UID/      0700, owned by the user, no symbolic link
//     n64.PID                  a program's I/O thread, for queries          0600
//     n64.gperf                a gperf in server mode, for flushes; in both 0600
#pragma once
#include <sys/types.h>
#include <sys/un.h>

#include "base/result.h"
#include "base/unique_fd.h"

namespace pctally::n64 {

inline constexpr char kServerName[] = "n64.gperf";
inline constexpr char kProgramPrefix[] = "n64.";

/// The directories in the order of preference. gperf searches both, because the environments may differ.
inline constexpr unsigned kDirectories = 2;

/// Path of a directory without a slash at its end; false if there is none of that number.
bool directory(unsigned number, char (&path)[sizeof sockaddr_un::sun_path]) noexcept;

/// Creates a listening socket `name` in this directory, which is created if necessary, and stores its path.
/// Replaces a socket that nobody listens to. Errors: EADDRINUSE, or what the directory has; the path is
/// empty.
Result<UniqueFd> listen_in_directory(unsigned number, const char* name,
                                     char (&path)[sizeof sockaddr_un::sun_path]) noexcept;

/// The same in the first directory that can be used. Errors: EADDRINUSE, or those of the last directory.
Result<UniqueFd> listen_at(const char* name, char (&path)[sizeof sockaddr_un::sun_path]) noexcept;

/// Connects to a socket of a process of the same user. Never waits. Errors: EPERM (another user's), or
/// those of connect(2).
Result<UniqueFd> connect_to(const char* path) noexcept;

/// The process at the other end of a connected socket; EPERM if it is another user's.
Result<pid_t> peer(int socket) noexcept;

}  // namespace pctally::n64
