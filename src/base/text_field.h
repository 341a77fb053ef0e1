// A text field of a file: bytes up to a NUL or the field's end. For code outside the program alone.
#pragma once
#include <string.h>

#include <string>

namespace pctally {

/// The text, from a copy of the field: of a live file the bytes may change while they are read.
template <size_t N>
[[nodiscard]] std::string field_text(const char (&field)[N]) {
  char text[N];
  memcpy(text, field, N);
  return {text, strnlen(text, N)};
}

}  // namespace pctally
