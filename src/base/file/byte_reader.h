// Bounds-checked reading from bytes that are not trusted. Every read says whether it succeeded;
// nothing is cast.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <span>
#include <type_traits>

namespace pctally {

class ByteReader {
 public:
  explicit ByteReader(std::span<const unsigned char> bytes) noexcept : bytes_(bytes) {}

  /// Copies a value from `offset`; false if it does not lie wholly inside.
  template <class T>
  [[nodiscard]] bool read(uint64_t offset, T* value) const noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!holds(offset, sizeof(T))) return false;
    memcpy(value, bytes_.data() + offset, sizeof(T));
    return true;
  }
  [[nodiscard]] bool holds(uint64_t offset, uint64_t length) const noexcept {
    return offset <= bytes_.size() && length <= bytes_.size() - offset;
  }
  /// The bytes [offset, offset + length), or an empty span if they do not lie wholly inside.
  [[nodiscard]] std::span<const unsigned char> slice(uint64_t offset, uint64_t length) const noexcept {
    return holds(offset, length) ? bytes_.subspan(offset, length) : std::span<const unsigned char>{};
  }
  [[nodiscard]] uint64_t size() const noexcept { return bytes_.size(); }

 private:
  std::span<const unsigned char> bytes_;
};

}  // namespace pctally
