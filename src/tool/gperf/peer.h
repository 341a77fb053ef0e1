// The process at the other end of a connection between gperf and a program, by Unix socket or by loopback
// TCP.
#pragma once
#include <sys/types.h>

#include "base/result.h"

namespace pctally {

/// A process of this user. Errors: EPERM (another user's, or it cannot be found out), ESRCH (it is gone).
Result<pid_t> gperf_peer(int socket);

}  // namespace pctally
