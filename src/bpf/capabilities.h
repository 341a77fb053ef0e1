// The capabilities of this process: what the kernel asks for before it loads a program, and their end.
#pragma once
#include <string>

#include "base/result.h"

namespace pctally {

/// Of those the engine needs to start, the ones this process does not have ("CAP_BPF, CAP_PERFMON"); empty if
/// none is missing.
std::string missing_capabilities();

/// Gives up all capabilities, for good; children of before keep theirs. Calling thread only.
Result<void> drop_capabilities();

}  // namespace pctally
