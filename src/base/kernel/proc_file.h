// Small files of /proc, read in one place: no heap, no locale, nothing that waits. In the program
// and beside it.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/unique_fd.h"

namespace pctally {

/// Opens "/proc/PID/NAME" (pid 0: "/proc/self/NAME") for reading. Async-signal-safe.
UniqueFd open_proc_file(pid_t pid, const char* name) noexcept;

/// Reads the start of "/proc/PID/NAME" (pid 0: "/proc/self/NAME") into `text`, ended by a zero byte. Bytes
/// read; 0 if it cannot be read, or is empty: errno says why. REQUIRES: bytes > 0. Async-signal-safe.
size_t read_proc_file(pid_t pid, const char* name, char* text, size_t bytes) noexcept;

/// The same of the file at `path`, of /proc or /sys.
size_t read_proc_file(const char* path, char* text, size_t bytes) noexcept;

/// Fields of /proc/PID/status.
struct ProcStatus {
  pid_t tracer = 0;      ///< the process that traces it; 0: none
  pid_t inside = 0;      ///< its number in its own pid namespace; 0: not known (before Linux 4.1)
  unsigned filters = 0;  ///< seccomp filters that it is behind; before Linux 5.9 one stands for all
  pid_t group = 0;       ///< of a thread, its process
  uid_t users[4] = {};   ///< real, effective, saved, of files
  uint64_t blocked = 0;  ///< signals, one bit each
};

ProcStatus parse_status(const char* text) noexcept;

/// False if it is gone. pid 0: the calling process; `thread`: one of its threads, by its number in the pid
/// namespace of /proc. Async-signal-safe.
bool read_proc_status(pid_t pid, ProcStatus* status, pid_t thread = 0) noexcept;

/// Fields of /proc/PID/stat, times in clock ticks (sysconf(_SC_CLK_TCK)).
struct ProcStat {
  char state = '?';
  bool kernel_thread = false;
  bool kernel_worker = false;  ///< a process's thread that never runs its code, as io_uring's (Linux 5.12)
  bool exiting = false;
  pid_t parent = 0;
  uint64_t user = 0, system = 0, children_user = 0, children_system = 0;
  uint64_t threads = 0;
  uint64_t started = 0;  ///< since the system started

  /// For a process: nothing of it runs any more. Its main thread may end before others.
  [[nodiscard]] bool has_ended() const noexcept { return (state == 'Z' || state == 'X') && threads < 2; }
};

/// False if it is gone. pid and thread as above. Async-signal-safe.
bool read_proc_stat(pid_t pid, ProcStat* stat, pid_t thread = 0) noexcept;

/// False if the process that has this number and `started` (ProcStat::started) is gone: another may have its
/// number. Async-signal-safe.
bool is_there(pid_t pid, uint64_t started) noexcept;

/// When a process started, by that clock; up to a clock tick (10 ms) early. Async-signal-safe.
uint64_t start_ns(const ProcStat& stat, clockid_t clock) noexcept;

/// The first line of /proc/stat: the time of all CPUs since the system started, in clock ticks.
struct MachineTicks {
  uint64_t user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0;
  uint64_t steal = 0;  ///< that the host took
};

/// All 0 if it cannot be read. Async-signal-safe.
MachineTicks read_machine_ticks() noexcept;

}  // namespace pctally
