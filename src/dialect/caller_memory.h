// Looks whether memory that a caller names can be read or written, without touching it: the EFAULT of the
// manual pages.
#pragma once
#include <stddef.h>
#include <string.h>

namespace pctally {

/// True if every byte of [address, address + bytes) can be read now. No bytes can always be read.
[[nodiscard]] bool readable(const void* address, size_t bytes) noexcept;

/// True if every byte can be written now. Changes nothing, not even for a moment.
[[nodiscard]] bool writable(void* address, size_t bytes) noexcept;

/// The value at an address that need not be aligned: no page asks for that. REQUIRES: readable.
template <class Value>
Value fetch(const Value* from) noexcept {
  Value value;
  memcpy(static_cast<void*>(&value), static_cast<const void*>(from), sizeof value);
  return value;
}

/// Puts the value at an address that need not be aligned. REQUIRES: writable.
template <class Value>
void store(Value* to, const Value& value) noexcept {
  memcpy(static_cast<void*>(to), static_cast<const void*>(&value), sizeof value);
}

}  // namespace pctally
