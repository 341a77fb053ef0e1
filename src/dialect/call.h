// Shared by the calls of all dialects: how they are exported and how they report an error.
#pragma once
#include <errno.h>
#include <stdint.h>
#include <sys/time.h>

#include "base/time_ns.h"
#include "dialect/verbose.h"

#define PCTALLY_DIALECT_CALL extern "C" __attribute__((visibility("default")))

namespace pctally {

/// The result of a call that reports errors by errno: 0, or -1 with errno set. `error` is 0 or an errno;
/// `call` is named if PCTALLY_VERBOSE is 1.
inline int set_errno(int error, const char* call = __builtin_FUNCTION()) noexcept {
  if (error == 0) return 0;
  say_failed(call, error);
  errno = error;
  return -1;
}

}  // namespace pctally
