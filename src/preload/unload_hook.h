// dlclose(3) in front of the C library's: nothing else tells that a library has gone, and another one may
// come to lie in its place.
#pragma once
#include <stdint.h>

namespace pctally {

/// Called after a dlclose(3) that has unloaded its library, with the memory it had: [start, end). What went
/// with it, because nobody else needed it, is not named.
void set_unload_hook(void (*unloaded)(uintptr_t start, uintptr_t end)) noexcept;

}  // namespace pctally
