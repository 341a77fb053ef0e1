// A file of limits.
//
// Refuses what is no regular file: a device may have no end, a pipe no writer.
#pragma once
#include <string>
#include <vector>

#include "report/diff/limit.h"

namespace pctally {

inline constexpr size_t kMostBudgetBytes = 1 << 20;

/// The limits in a file. Errors name it: EINVAL if its limits are wrong, or if it has none; else why it
/// cannot be read.
Result<std::vector<Limit>> read_budget(const std::string& path);

}  // namespace pctally
