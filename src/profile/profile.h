// The model of a finished (or still growing) recording: pure values, no file, no symbol.
#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "histread/path_tree.h"
#include "histread/weighted_position.h"

namespace pctally {

enum class ExecutableKind { kFile, kVdso, kKernel, kPrivate, kStart };

/// 0: not known.
struct FileStamp {
  uint64_t device = 0;  ///< major << 32 | minor
  uint64_t inode = 0;
  uint64_t bytes = 0;
  uint64_t changed_unix_ns = 0;
  auto operator<=>(const FileStamp&) const = default;
};

/// An executable file or something like one, as seen by the recorder (pprof's Mapping without the addresses).
struct Executable {
  ExecutableKind kind = ExecutableKind::kFile;
  std::string path;                ///< as the kernel named it: may be "[vdso]", "//anon", end in " (deleted)"
  std::vector<uint8_t> build_id;   ///< empty if it has none
  int32_t owner = 0;               ///< pid, for kPrivate
  FileStamp stamp{};               ///< kFile without a build id: says which file it was at that path
  uint64_t time_unix_ns = 0;       ///< kPrivate: when the process started; 0: not known
  std::vector<uint8_t> boot_id{};  ///< of a merged profile, where addresses hold for one boot of one machine
                                   ///< only; empty: the profile's
};

/// Addresses of the kernel and of code made at run time mean something during one boot of one machine.
inline bool is_of_one_boot(const Executable& executable) {
  if (executable.kind == ExecutableKind::kVdso) return executable.build_id.empty();
  return executable.kind == ExecutableKind::kKernel || executable.kind == ExecutableKind::kPrivate;
}

struct ProfileProcess {
  int32_t pid = 0;
  int32_t parent = 0;
  std::string comm;
  std::string engine;          ///< empty if it was not observed
  std::string note;            ///< why it was not (wholly) observed; empty if there is nothing to say
  bool sampled_again = false;  ///< `note` is of an interruption that is over
  uint64_t ticks = 0;
  uint64_t cpu_ns = 0;           ///< 0 if unknown
  uint64_t blocked_ns = 0;       ///< CPU time of threads that had the signal of their ticks blocked
  uint64_t small_stack_ns = 0;   ///< of threads whose stack has no room for a handler
  uint64_t timerless_ns = 0;     ///< of threads for which there was no timer
  uint64_t unseen_start_ns = 0;  ///< of threads that none of our pthread_create(3) has started
};

/// ticks() = counted + outside + full + lost, always.
struct TickLedger {
  uint64_t counted = 0;  ///< equals the sum of all WeightedPositions
  uint64_t outside = 0;
  uint64_t full = 0;
  uint64_t lost = 0;
  uint64_t samples = 0;       ///< deliveries; one delivery may weigh several ticks
  double weight_squares = 0;  ///< sum of squared weights; of an imported profile a tick may be 1 ns
  [[nodiscard]] uint64_t ticks() const { return counted + outside + full + lost; }
};

/// One recording: what is known of it besides the places of its ticks.
struct ProfileRun {
  std::vector<std::string> command;
  std::string engine;
  std::string machine;  ///< uname -m
  std::string release;  ///< uname -r
  std::vector<uint8_t> boot_id;
  std::array<uint8_t, 16> recording_id{};  ///< random; zeroes: not known
  std::string event;                       ///< what ticks stand for; empty: CPU time
  std::string event_unit{};                ///< of an import: "bytes", "nanoseconds", "count" or another
  uint64_t period_asked_ns = 0;            ///< with an event: a number of these, as the next
  uint64_t period_ns = 0;
  uint64_t started_unix_ns = 0;
  uint64_t duration_ns = 0;  ///< wall time covered
  bool closed = false;       ///< false: still recording, or its recorder died
  bool recorder_alive = false;
  bool snapshot = false;  ///< a copy, taken while the recording went on
  bool kernel_observed = false;
  bool cpu_known = false;
  uint64_t cpu_user_ns = 0;
  uint64_t cpu_system_ns = 0;
  uint64_t stolen_ns = 0;  ///< CPU time of the whole machine that its host took meanwhile
  uint64_t throttled = 0;
  uint64_t clock_tick_ns = 0;   ///< the engine's ticks land on multiples of this; 0 if they land anywhere
  uint32_t machine_cpus = 0;    ///< CPUs all of whose ticks were looked at; 0: ticks of the target's time
  uint64_t starts_in_step = 0;  ///< threads and processes whose ticks come at the same moments in each
  int32_t exit_status = 0;      ///< as of waitpid(2)
  uint64_t measured_ticks = 0;  ///< of merged runs: counted ticks that were read off a clock, not sampled
  TickLedger ledger;

  [[nodiscard]] bool counts_cpu_time() const { return event.empty(); }
};

/// Immutable once loaded. In a merged profile (`runs` is not empty) a tick stands for period_ns, too: 1 where
/// its runs' periods differ; ProfileRun's fields then sum up the runs (see sum_up_runs()).
struct Profile : ProfileRun {
  std::vector<std::string> damage;  ///< what the reader had to leave out; empty for a sound file
  std::vector<ProfileRun> runs;     ///< of a merged profile, with ledgers in ticks of their own periods
  std::vector<Executable> executables;
  std::vector<WeightedPosition> positions;  ///< ascending by (executable, position), no duplicates
  std::vector<ProfileProcess> processes;    ///< in order of start
  CallPaths paths;                          ///< its context tree holds counted + outside + full ticks
  /// Where this is a choice of paths or of scopes: what it was chosen from. All ticks are in both, and the
  /// account of them and the warnings are the whole's. Null: this is the whole.
  std::shared_ptr<const Profile> whole{};
};

/// For ProfileRun::event_unit: recordings, and files without a unit, count.
inline std::string unit_or_count(const std::string& unit) { return unit.empty() ? "count" : unit; }

inline const Profile& whole_of(const Profile& profile) {
  return profile.whole != nullptr ? *profile.whole : profile;
}

}  // namespace pctally
