// Looks whether memory that a caller names can be read or written, without touching it: the EFAULT of the
// manual pages.
#pragma once
#include <stddef.h>

namespace pctally {

/// True if every byte of [address, address + bytes) can be read now. No bytes can always be read.
[[nodiscard]] bool readable(const void* address, size_t bytes) noexcept;

/// True if every byte can be written now. Changes nothing, not even for a moment.
[[nodiscard]] bool writable(void* address, size_t bytes) noexcept;

}  // namespace pctally
