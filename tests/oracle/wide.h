// Unsigned 128-bit numbers by long multiplication and long division as taught at school, with base 65536 for
// ten. For the oracle on machines whose compiler has no 128-bit integer. Refuses to be fast.
#pragma once
#include <stdint.h>

namespace naive {

class Digits {
 public:
  Digits() = default;
  Digits(uint64_t value) {  // NOLINT: converts like an integer
    for (int i = 0; i < 4; ++i, value >>= 16) digit_[i] = static_cast<uint16_t>(value);
  }

  friend Digits operator*(Digits a, uint32_t b) {
    uint64_t carry = 0;
    for (uint16_t& digit : a.digit_) {
      carry += uint64_t{digit} * b;
      digit = static_cast<uint16_t>(carry);
      carry >>= 16;
    }
    return a;
  }
  friend Digits operator/(Digits a, uint32_t b) {
    uint64_t rest = 0;
    for (int i = kDigits - 1; i >= 0; --i) {
      rest = rest << 16 | a.digit_[i];
      a.digit_[i] = static_cast<uint16_t>(rest / b);
      rest %= b;
    }
    return a;
  }
  friend Digits operator+(Digits a, Digits b) {
    uint32_t carry = 0;
    for (int i = 0; i < kDigits; ++i) {
      carry += uint32_t{a.digit_[i]} + b.digit_[i];
      a.digit_[i] = static_cast<uint16_t>(carry);
      carry >>= 16;
    }
    return a;
  }
  friend bool operator<(const Digits& a, const Digits& b) {
    for (int i = kDigits - 1; i >= 0; --i)
      if (a.digit_[i] != b.digit_[i]) return a.digit_[i] < b.digit_[i];
    return false;
  }
  explicit operator uint64_t() const {
    uint64_t value = 0;
    for (int i = 3; i >= 0; --i) value = value << 16 | digit_[i];
    return value;
  }

 private:
  static constexpr int kDigits = 8;
  uint16_t digit_[kDigits] = {};  ///< the least first
};

#ifdef __SIZEOF_INT128__
using Wide = unsigned __int128;
#else
using Wide = Digits;
#endif

}  // namespace naive
