// A value or an Error that says what to do about it. Trivially copyable, so that the capture side, which
// links libc alone, can use it too.
#pragma once
#include <expected>

namespace pctally {

/// What went wrong, in one line, and the remedy in words. `code` is an errno value, or 0.
struct Error {
  int code = 0;
  char text[640] = {};
};

template <class T>
using Result = std::expected<T, Error>;

/// An Error with a formatted line (printf's rules), cut at the buffer's end. Not for signal handlers.
[[gnu::format(printf, 2, 3)]] [[nodiscard]] std::unexpected<Error> fail(int code, const char* format,
                                                                        ...) noexcept;

}  // namespace pctally
