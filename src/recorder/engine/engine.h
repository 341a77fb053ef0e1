// The recorder's side of every engine behind one interface: an engine counts ticks into a
// profile file's cells.
//
// Engines are unified by where counts land, not by a call per sample: counts made in the program or in the
// kernel never pass through here.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/kernel/period.h"
#include "histfile/profile_file.h"
#include "perf/event.h"
#include "perf/target.h"
#include "task/process_files.h"

namespace pctally {

struct EngineSettings {
  Event event = kCpuTime;            ///< what ticks stand for; others: for engines outside the program
  uint64_t period = 1000000;         ///< ns of CPU time, or events, of one tick
  bool randomise = true;             ///< shift phases at random moments too
  bool children = true;              ///< follow fork and exec
  std::optional<ScopeKind> scope{};  ///< keep ticks apart by these. REQUIRES: the file has paths, and
                                     ///< keeps_scopes(engine)
  bool paths = false;                ///< call paths, too. REQUIRES: `scope`
  bool lost_count = true;  ///< let perf count what it loses; kernels before 6.0 tell it in records alone
  ProcessFiles* files = nullptr;            ///< holds what processes have mapped
  std::function<uint64_t()> target_cpu_ns;  ///< CPU time the target has used so far; 0 or empty: not known
};

/// Variables to add to the program's environment, NAME=VALUE.
using Environment = std::vector<std::string>;

class Engine {
 public:
  virtual ~Engine() = default;

  [[nodiscard]] virtual const char* name() const = 0;

  /// True if it counts from inside the program: it then needs *environment to arrive there, can only observe
  /// a command, and programs that outlive the recording go on storing into the file.
  [[nodiscard]] virtual bool enters_program() const { return false; }

  /// Arms the engine for `target`. `file` outlives the engine. Variables the program must get are put into
  /// *environment. Errors: ENOTSUP if it cannot observe such a target, else as the system says.
  virtual Result<void> start(ProfileFile* file, const Target& target, Environment* environment) = 0;

  /// Gives up, for good and for the whole process, the rights that only start() needed. Called before the
  /// first drain(), and after the file got its name, which may take rights, too.
  virtual Result<void> drop_privileges() { return {}; }

  /// Descriptors that become readable when drain() is worth calling before drain_interval_ms() is over.
  [[nodiscard]] virtual std::vector<int> descriptors() const { return {}; }
  /// The one to wait for instead of one of these that hung up; -1: nothing more comes from there.
  [[nodiscard]] virtual int descriptor_after(int /*fd*/) const { return -1; }
  [[nodiscard]] virtual int drain_interval_ms() const = 0;

  /// Brings everything that has happened so far into the file.
  virtual void drain() = 0;

  /// Ends the recording. Afterwards the ledger is final, but for processes that outlive the command.
  virtual void stop() = 0;

  /// True if it counts the CPU time of what it observes: cpu_ns() is right after stop().
  [[nodiscard]] virtual bool knows_cpu_time() const { return false; }
  [[nodiscard]] virtual uint64_t cpu_ns() const { return 0; }

  /// Processes that it observes, or should, and that have not ended, as far as it knows.
  [[nodiscard]] virtual std::vector<pid_t> living() const { return {}; }

  /// CPUs that nobody sampled from some moment on, in one line to warn of. After stop().
  [[nodiscard]] virtual std::string blind_cpus() const { return {}; }

  /// What this engine cannot see, in one line.
  [[nodiscard]] virtual std::string blind_spots() const = 0;
};

/// Every name that -e takes for an engine, best first.
inline constexpr const char* kEngineNames[] = {"bpf", "ring", "timer", "trap", "thread-timer"};

/// True if it keeps ticks apart by scopes of that kind: threads and groups are known outside the program. All
/// engines keep programs apart, and call paths.
inline bool keeps_scopes(const std::string& engine, ScopeKind kind) {
  return kind == ScopeKind::kProgram || engine == "ring" || engine == "bpf";
}

/// As --scope has it.
constexpr const char* scope_word(ScopeKind kind) {
  return kind == ScopeKind::kThread ? "thread" : kind == ScopeKind::kGroup ? "cgroup" : "program";
}

/// One probe of the ladder as it stands on this machine, for this user.
struct EngineProbe {
  std::string name;
  bool available = false;
  bool enters_program = false;      ///< see Engine
  std::string reason;               ///< why not
  std::string remedy;               ///< what to do about it
  std::string misses;               ///< what it cannot see
  uint64_t shortest_period_ns = 0;  ///< that it is allowed to use here; 0: any
  std::string cost;                 ///< what it costs the program
};

/// Best first, or `only` the one of that name. Probes by trying; leaves nothing behind. `whole`: also loads
/// what a recording would load, which takes some 20 ms.
std::vector<EngineProbe> probe_ladder(const std::string& only = {}, bool whole = false);

std::unique_ptr<Engine> make_engine(const std::string& name, const EngineSettings& settings);

}  // namespace pctally
