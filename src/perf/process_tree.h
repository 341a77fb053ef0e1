// Reads the system's processes and threads from /proc.
#pragma once
#include <sys/types.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/kernel/proc_file.h"

namespace pctally {

/// "/proc/PID"; 0: of the calling process.
std::string directory_of(pid_t pid);

/// The children that its threads have started; none if it is gone.
std::vector<pid_t> children_of(pid_t pid);

/// `root` and every living descendant of it, parents first, but for those of `left_out` and what descends
/// from them. Empty if it is gone. A process that comes or goes meanwhile may be missing: ask again.
std::vector<pid_t> process_tree(pid_t root, const std::set<pid_t>& left_out = {});

/// Whether numbers of processes here are those of the machine's first pid namespace. BPF programs know
/// processes by those; perf's records have 0 for what is outside of ours.
bool in_first_pid_namespace();

/// Every living process, ascending.
std::vector<pid_t> all_processes();

/// The processes of a control group and of those below it.
std::vector<pid_t> processes_of_group(const std::string& directory);

/// The threads of a process; empty if it is gone.
std::vector<pid_t> threads_of(pid_t pid);
/// The threads of several, ascending.
std::vector<pid_t> threads_of(const std::vector<pid_t>& processes);

/// Calls open(threads of these processes) until no thread has started meanwhile, but 16 times at most: where
/// threads never stop coming, nearly all of the last ones have inherited what the call gave to others.
/// Returns the first error, or what the last call returned.
template <class Open>
auto for_threads_at_rest(const std::vector<pid_t>& processes, Open&& open) {
  constexpr int kRounds = 16;
  std::vector<pid_t> threads = threads_of(processes);
  for (int round = 1;; ++round) {
    auto opened = open(threads);
    std::vector<pid_t> now = threads_of(processes);
    if (!opened || round == kRounds || std::ranges::includes(threads, now)) return opened;
    threads = std::move(now);
  }
}

/// The process a thread belongs to; 0 if there is no such thread.
pid_t process_of_thread(pid_t tid);

/// Whether there is one with that number, of any user; also one that has ended while its parent has not asked
/// how. REQUIRES: pid > 0.
bool has_process(pid_t pid) noexcept;

/// False if it has ended, and of the kernel's own threads.
bool still_runs(pid_t pid);

/// CPU time that it has used, all threads, by its own clock: /proc rounds to 10 ms. Nothing if it is gone.
std::optional<uint64_t> cpu_ns_of(pid_t pid);

/// The arguments, each ended by a zero byte; empty if it is gone, within execve(2), and where the main thread
/// has ended.
std::string command_line_of(pid_t pid);

/// The processes begun after `first`, itself left out, that were started with NAME=VALUE `variable` in their
/// environment, or forked from one that was: whoever their parents are now. Processes of other users only if
/// this process may read their environment.
std::vector<pid_t> processes_given(const std::string& variable, pid_t first);

/// Whether a process was started with `variable`, as above, or forked from one that was. Nothing while it
/// executes a program, when it has ended, and where its environment is not ours to read.
std::optional<bool> was_given(pid_t pid, const std::string& variable);

/// Whether a process that was killed is still there, and held by the kernel, as by a file system that does
/// not answer. It executes nothing any more. One that could run waits for a CPU, on a busy machine.
bool is_held_in_kernel(pid_t killed);

/// The number that a process has in its own pid namespace; 0: it is gone.
pid_t number_inside(pid_t pid);

/// A process's name as the kernel knows it, at most 15 bytes; empty if it is gone.
std::string comm_of(pid_t pid);

}  // namespace pctally
