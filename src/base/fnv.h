// FNV-1a: a hash of bytes that is the same on every machine and in every version, so files may hold it.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace pctally {

class Fnv {
 public:
  void add(const void* bytes, size_t length) noexcept {
    const auto* byte = static_cast<const unsigned char*>(bytes);
    for (size_t i = 0; i < length; ++i) value_ = (value_ ^ byte[i]) * 0x100000001b3u;
  }
  [[nodiscard]] uint64_t value() const noexcept { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace pctally
