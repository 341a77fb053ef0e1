// Reads the environment variables that choose between a system's manual page and its kernels, where
// the two differ.
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
