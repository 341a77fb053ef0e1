// dlclose(3) in front of the C library's: nothing else tells that a library has gone, and another one may
// come to lie in its place.
#pragma once

namespace pctally {

/// Called after each dlclose(3). Keeps errno.
void set_unload_hook(void (*unloaded)()) noexcept;

}  // namespace pctally
