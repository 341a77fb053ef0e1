// What a program of seccomp(2) answers, found without a system call: the kernel asks it only when it is in
// force.
#pragma once
#include <linux/filter.h>

#include <span>

namespace pctally {

/// Whether the handler of a signal can return behind this filter: it allows rt_sigreturn(2). That call has no
/// arguments, so a filter that asks for them, or for the address of the call, is given 0. False for what the
/// kernel refuses as a filter. Async-signal-safe. REQUIRES: the instructions can be read.
[[nodiscard]] bool lets_handlers_return(std::span<const sock_filter> filter) noexcept;

}  // namespace pctally
