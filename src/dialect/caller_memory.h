// Checks whether the caller's memory can be read or written, without touching it: the EFAULT of
// the manual pages.
#pragma once
#include <stddef.h>
#include <string.h>

namespace pctally {

/// True if every byte of [address, address + bytes) can be read now; always true for 0 bytes.
[[nodiscard]] bool readable(const void* address, size_t bytes) noexcept;

/// True if every byte of [address, address + bytes) can be written now. Does not change them, but makes every
/// page resident, and fills the holes of a sparse file: the kernel tells only by a write to the page itself.
/// The mappings in /proc would tell of many pages at once, but not of guard pages within one, and behind a
/// seccomp filter or without /proc not at all.
[[nodiscard]] bool writable(void* address, size_t bytes) noexcept;

/// The value at an address of any alignment; no manual page asks for one. REQUIRES: readable.
template <class Value>
Value fetch(const Value* from) noexcept {
  Value value;
  memcpy(static_cast<void*>(&value), static_cast<const void*>(from), sizeof value);
  return value;
}

/// Stores the value at an address of any alignment. REQUIRES: writable.
template <class Value>
void store(Value* to, const Value& value) noexcept {
  memcpy(static_cast<void*>(to), static_cast<const void*>(&value), sizeof value);
}

}  // namespace pctally
