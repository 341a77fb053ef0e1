// Why a command could not be started, and what to type instead.
#pragma once
#include <string>
#include <vector>

namespace pctally {

/// One line about `command`, whose execution failed with `error` (an errno value).
std::string explain_cannot_run(const std::vector<std::string>& command, int error);

}  // namespace pctally
