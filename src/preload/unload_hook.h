// dlclose(3) in front of the C library's: nothing else reports that a library was unloaded, and another one
// may be loaded in its place.
#pragma once
#include <stdint.h>

namespace pctally {

/// `unloaded` is called after a dlclose(3) that has unloaded its library, with the memory that the library
/// had: [start, end). Libraries unloaded with it are not reported.
void set_unload_hook(void (*unloaded)(uintptr_t start, uintptr_t end)) noexcept;

}  // namespace pctally
