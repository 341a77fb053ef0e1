// The result of a call that may run in a signal handler or in the child of a fork(2): an errno and,
// where that says too little, a literal. Nothing is formatted or copied there; outside, explained()
// makes the text.
#pragma once
#include "base/result.h"

namespace pctally {

/// A string literal; the compiler refuses everything else.
class Literal {
 public:
  consteval Literal(const char* text) noexcept : text_(text) {}
  [[nodiscard]] constexpr const char* text() const noexcept { return text_; }

 private:
  const char* text_;
};

/// True if nothing went wrong. Async-signal-safe.
class [[nodiscard]] Status {
 public:
  constexpr Status() noexcept = default;  ///< success

  /// A failure, not 0. A `cause` that ends in a colon names the call that failed so.
  constexpr Status(int error, Literal cause) noexcept : error_(error), cause_(cause.text()) {}

  constexpr explicit operator bool() const noexcept { return error_ == 0; }
  [[nodiscard]] constexpr int error() const noexcept { return error_; }
  [[nodiscard]] constexpr const char* cause() const noexcept { return cause_; }

 private:
  int error_ = 0;
  const char* cause_ = "";
};

/// The same with its text. Not for signal handlers.
Result<void> explained(Status status) noexcept;

}  // namespace pctally
