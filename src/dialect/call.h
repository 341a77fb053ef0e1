// What the calls of all dialects share: how they are exported and how they tell an error.
#pragma once
#include <errno.h>
#include <stdint.h>
#include <sys/time.h>

#include "base/result.h"

#define PCTALLY_DIALECT_CALL extern "C" __attribute__((visibility("default")))

namespace pctally {

inline int refuse(int error) noexcept {
  errno = error;
  return -1;
}

inline int told(const Result<void>& result) noexcept { return result ? 0 : refuse(result.error().code); }

inline timeval to_timeval(uint64_t period_ns) noexcept {
  return {static_cast<time_t>(period_ns / 1000000000u),
          static_cast<suseconds_t>(period_ns % 1000000000u / 1000u)};
}

}  // namespace pctally
