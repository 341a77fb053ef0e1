// What a program of seccomp(2) answers, found without a system call: the kernel asks it only when it is in
// force.
#pragma once
#include <linux/filter.h>

#include <span>

namespace pctally {

/// Whether it allows the system call of that number. A filter that asks for its arguments, or for the address
/// of the call, is given 0. False for what the kernel refuses as a filter. Async-signal-safe. REQUIRES: the
/// instructions can be read.
[[nodiscard]] bool allows(std::span<const sock_filter> filter, long number) noexcept;

}  // namespace pctally
