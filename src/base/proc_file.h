// Small files of /proc, read in one place: no heap, no locale, nothing that waits. In the program and beside
// it.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

namespace pctally {

/// Writes `number` in base 10 at **to, without a zero byte, and moves *to behind it: at most 10 digits.
/// Async-signal-safe.
void append_number(char** to, unsigned number) noexcept;

/// Reads the start of "/proc/PID/NAME" (pid 0: "/proc/self/NAME") into `text`, ended by a zero byte. Bytes
/// read; 0 if it cannot be read, or is empty: errno says why. REQUIRES: bytes > 0. Async-signal-safe.
size_t read_proc_file(pid_t pid, const char* name, char* text, size_t bytes) noexcept;

/// The number that a process or a thread has in its own pid namespace, out of its "status": the last one of
/// "NSpid:". 0 without that line (before Linux 4.1). Async-signal-safe.
pid_t number_inside(const char* status) noexcept;

/// Of /proc/PID/stat, times in clock ticks (sysconf(_SC_CLK_TCK)).
struct ProcStat {
  char state = '?';
  bool kernel_thread = false;
  pid_t parent = 0;
  uint64_t user = 0, system = 0, children_user = 0, children_system = 0;
  uint64_t threads = 0;
  uint64_t started = 0;  ///< since the system started
};

/// False if the process is gone. pid 0: the calling process. Async-signal-safe.
bool read_proc_stat(pid_t pid, ProcStat* stat) noexcept;

}  // namespace pctally
