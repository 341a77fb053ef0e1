// Finds a debugger, which stops the process at every signal, or an emulator, which is the process and has its
// own signals and time. Ticks would change, or end, what runs there.
#pragma once
#include <sys/types.h>

namespace pctally {

/// The process that traces `pid` (0: the calling process), 0 if none does. Async-signal-safe, as is the next.
[[nodiscard]] pid_t tracer_of(pid_t pid) noexcept;

/// True if this tracer is a debugger: its user decides what a signal does. strace(1) passes them on.
[[nodiscard]] bool is_debugger(pid_t tracer) noexcept;

/// True if the calling program runs in valgrind(1).
[[nodiscard]] bool in_valgrind() noexcept;

}  // namespace pctally
