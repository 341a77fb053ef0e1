// Where a system's kernels and its manual page differ, a variable of the environment chooses the other one.
#pragma once
#include <stdlib.h>
#include <string.h>

namespace pctally {

/// True if the environment variable has exactly this value.
inline bool is_variant(const char* variable, const char* value) noexcept {
  const char* chosen = getenv(variable);
  return chosen != nullptr && strcmp(chosen, value) == 0;
}

}  // namespace pctally
