// Describes the word size and byte order of the machine that wrote a file; the program it belongs
// to tells them.
#pragma once
#include <bit>
#include <cstdint>

#include "base/file/byte_reader.h"

namespace pctally {

struct ByteLayout {
  bool wide = true;      ///< pointers and longs of 64 bits, else 32
  bool swapped = false;  ///< the other byte order than this machine's
  [[nodiscard]] uint64_t word() const { return wide ? 8 : 4; }
};

/// Reads numbers one after the other. Once one does not lie wholly inside, all are 0 and ok() is false.
class NumberReader {
 public:
  NumberReader(std::span<const unsigned char> bytes, ByteLayout layout) : bytes_(bytes), layout_(layout) {}

  template <class T>
  T number() {
    T value{};
    ok_ = ok_ && bytes_.read(at_, &value);
    if (!ok_) return {};
    at_ += sizeof value;
    return layout_.swapped ? std::byteswap(value) : value;
  }
  /// A pointer or long.
  uint64_t word() { return layout_.wide ? number<uint64_t>() : number<uint32_t>(); }

  std::span<const unsigned char> skip(uint64_t length) {
    auto skipped = bytes_.slice(at_, length);
    ok_ = ok_ && bytes_.holds(at_, length);
    at_ += ok_ ? length : 0;
    return skipped;
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] uint64_t left() const { return bytes_.size() - at_; }

 private:
  ByteReader bytes_;
  ByteLayout layout_;
  uint64_t at_ = 0;
  bool ok_ = true;
};

}  // namespace pctally
