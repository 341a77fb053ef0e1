// Files of other machines, put together number by number.
#pragma once
#include <bit>
#include <span>
#include <string_view>
#include <vector>

#include "monfile/byte_layout.h"

namespace pctally {

class Bytes {
 public:
  explicit Bytes(ByteLayout layout) : layout_(layout) {}

  template <class T>
  Bytes& number(T value) {
    if (layout_.swapped) value = std::byteswap(value);
    auto* from = reinterpret_cast<const unsigned char*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof value);
    return *this;
  }
  Bytes& word(uint64_t value) { return layout_.wide ? number(value) : number(static_cast<uint32_t>(value)); }
  Bytes& text(std::string_view text, size_t length) {
    for (size_t i = 0; i < length; ++i)
      bytes_.push_back(i < text.size() ? static_cast<unsigned char>(text[i]) : 0);
    return *this;
  }
  Bytes& counters(std::initializer_list<uint16_t> values) {
    for (uint16_t value : values) number(value);
    return *this;
  }
  [[nodiscard]] const std::vector<unsigned char>& all() const { return bytes_; }
  [[nodiscard]] std::span<const unsigned char> first(size_t length) const {
    return std::span(bytes_).first(length);
  }

 private:
  ByteLayout layout_;
  std::vector<unsigned char> bytes_;
};

inline constexpr ByteLayout kLayouts[] = {{true, false}, {true, true}, {false, false}, {false, true}};

}  // namespace pctally
