// Reads the bytes of unwind tables, which may be hostile: every read is checked against the end, and
// nothing is called.
#pragma once
#include <stdint.h>

namespace pctally {

/// How a pointer is stored, DW_EH_PE_*.
namespace pointer_encoding {
inline constexpr uint8_t kOmitted = 0xff, kFormat = 0x0f, kApplication = 0x70, kRelativeToPlace = 0x10,
                         kRelativeSigned4 = 0x1b, kUnsigned4 = 0x03,
                         kSortedTable = 0x3b;  ///< signed, 4 bytes, relative to the header
}  // namespace pointer_encoding

/// Takes values from bytes one after another. After one that is not there all are zero and good() is false.
class CfiCursor {
 public:
  CfiCursor() = default;
  CfiCursor(const unsigned char* at, const unsigned char* end) noexcept : at_(at), end_(end) {}
  // Member by member: riscv's compiler makes a call of memcpy of a copy as a whole.
  CfiCursor(const CfiCursor& other) noexcept : at_(other.at_), end_(other.end_), good_(other.good_) {}
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): it owns nothing
  CfiCursor& operator=(const CfiCursor& other) noexcept {
    at_ = other.at_;
    end_ = other.end_;
    good_ = other.good_;
    return *this;
  }

  template <class T>
  T take() noexcept {
    T value{};
    if (left() < sizeof value) return fail(), value;
    __builtin_memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  uint64_t take_uleb() noexcept {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      const auto byte = take<uint8_t>();
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return fail(), 0;
  }
  int64_t take_sleb() noexcept {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      const auto byte = take<uint8_t>();
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) != 0) continue;
      if (shift + 7 < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << (shift + 7);
      return static_cast<int64_t>(value);
    }
    return fail(), 0;
  }
  /// The next `bytes` bytes, which are stepped over.
  CfiCursor part(uint64_t bytes) noexcept {
    if (left() < bytes) return fail(), CfiCursor();
    CfiCursor result(at_, at_ + bytes);
    at_ += bytes;
    return result;
  }
  [[nodiscard]] uint64_t left() const noexcept { return static_cast<uint64_t>(end_ - at_); }
  [[nodiscard]] bool good() const noexcept { return good_; }
  [[nodiscard]] const unsigned char* at() const noexcept { return at_; }

 private:
  void fail() noexcept {
    good_ = false;
    at_ = end_;
  }
  const unsigned char* at_ = nullptr;
  const unsigned char* end_ = nullptr;
  bool good_ = true;
};

/// A pointer in `encoding`, which lies at `address` in the object. Encodings that no compiler
/// writes there fail.
inline uint64_t take_pointer(CfiCursor* cursor, uint8_t encoding, uint64_t address) noexcept {
  uint64_t value = 0;
  switch (encoding & pointer_encoding::kFormat) {
    case 0x00:
    case 0x04:
    case 0x0c:
      value = cursor->take<uint64_t>();
      break;
    case 0x02:
      value = cursor->take<uint16_t>();
      break;
    case 0x03:
      value = cursor->take<uint32_t>();
      break;
    case 0x0a:
      value = static_cast<uint64_t>(static_cast<int64_t>(cursor->take<int16_t>()));
      break;
    case 0x0b:
      value = static_cast<uint64_t>(static_cast<int64_t>(cursor->take<int32_t>()));
      break;
    default:  // of varying length: no compiler writes them here
      (void)cursor->part(UINT64_MAX);
  }
  return (encoding & pointer_encoding::kApplication) == pointer_encoding::kRelativeToPlace ? value + address
                                                                                           : value;
}

}  // namespace pctally
