// The capabilities of this process: whether it has those that a BPF program needs, and giving them up.
#pragma once
#include <string>

#include "base/result.h"

namespace pctally {

/// The capabilities that the engine needs to start and this process lacks ("CAP_BPF, CAP_PERFMON"); empty if
/// it lacks none.
std::string missing_capabilities();

/// Gives up all capabilities, for good; children of before keep theirs. Calling thread only. `but_kill`:
/// CAP_KILL stays, if it was there, so that signals reach a command that has changed its user.
Result<void> drop_capabilities(bool but_kill);

}  // namespace pctally
