// Bytes written in hexadecimal, and read back. In the program and beside it.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace pctally {

/// Writes two lower-case digits. The place behind them.
inline char* put_hex(unsigned char byte, char* to) noexcept {
  constexpr char kDigits[] = "0123456789abcdef";
  *to++ = kDigits[byte >> 4];
  *to++ = kDigits[byte & 15];
  return to;
}

/// -1: not a digit.
inline int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// Reads at most `count` bytes of `length` characters; dashes are skipped, everything else ends
/// it. Bytes read.
inline size_t from_hex(const char* text, size_t length, uint8_t* bytes, size_t count) noexcept {
  size_t digits = 0;
  for (size_t i = 0; i < length && digits < 2 * count; ++i) {
    if (text[i] == '-') continue;
    const int value = hex_value(text[i]);
    if (value < 0) break;
    uint8_t& byte = bytes[digits / 2];
    byte = static_cast<uint8_t>(digits % 2 == 0 ? value << 4 : byte | value);
    ++digits;
  }
  return digits / 2;
}

}  // namespace pctally
