// The number of futex(2): machines of 32 bits that are new have only the one with times of 64 bits.
#pragma once
#include <sys/syscall.h>

namespace pctally {

#ifdef SYS_futex
inline constexpr long kFutex = SYS_futex;
#else
inline constexpr long kFutex = SYS_futex_time64;
#endif

}  // namespace pctally
