// Engine "ring": per-CPU perf rings, drained by the recorder. Nothing runs inside the program.
#pragma once
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time_ns.h"
#include "perf/ring_set.h"
#include "perf/throttle.h"
#include "perf/tick_phases.h"
#include "recorder/engine/engine.h"
#include "task/task_table.h"

namespace pctally {

/// What perf events cannot see: those of single threads, or those of whole CPUs; with or without kernel mode.
std::string ring_blindness(bool per_thread, bool kernel);

class RingEngine : public Engine {
 public:
  explicit RingEngine(const EngineSettings& settings) : settings_(settings) {}

  [[nodiscard]] const char* name() const override { return "ring"; }
  Result<void> start(ProfileFile* file, const Target& target, Environment* environment) override;
  [[nodiscard]] std::vector<int> descriptors() const override { return rings_.descriptors(); }
  [[nodiscard]] int descriptor_after(int fd) const override { return rings_.descriptor_after(fd); }
  [[nodiscard]] int drain_interval_ms() const override { return phases_.ms_until_due(100, monotonic_ns()); }
  void drain() override;
  void stop() override;
  [[nodiscard]] bool knows_cpu_time() const override { return per_thread_ && settings_.event.is_cpu_time(); }
  [[nodiscard]] uint64_t cpu_ns() const override { return cpu_ns_; }
  [[nodiscard]] std::vector<pid_t> living() const override { return tasks_.living(); }
  [[nodiscard]] std::string blind_cpus() const override { return blind_cpus_; }
  [[nodiscard]] std::string blind_spots() const override;

 private:
  void adopt_younger(const Target& target, const std::set<pid_t>& older);
  void adopt_running(const Target& target);
  void replay(uint64_t until);
  void apply(const RingSet::Record& event);
  void apply_lost(const RingSet::Record& event);
  void apply_throttle(const RingSet::Record& event);
  void count(const RingSet::Sample& sample);
  [[nodiscard]] bool is_kernel_worker(const RingSet::Sample& sample);
  [[nodiscard]] StackSample stack_at(const RingSet::Sample& sample);
  void book_losses();
  double target_part(size_t ring) const;
  [[nodiscard]] uint64_t target_cpu_ns() const;
  void begin_window();

  /// What came out of one ring.
  struct Tally {
    uint64_t all = 0;  ///< records
    uint64_t own = 0;  ///< those that are ticks of the target
  };
  struct Losses {
    uint64_t by_records = 0;  ///< by LOST records
    uint64_t booked = 0;      ///< of all
    ThrottleMeter throttle;
    Tally recent;  ///< since the rings were last emptied in time
  };

  EngineSettings settings_;
  ProfileFile* file_ = nullptr;
  bool per_thread_ = false;  ///< the perf events count what the target does, and nobody else
  bool all_cpus_ = false;    ///< they count all that runs on each CPU
  RingSet rings_;
  TaskTable tasks_;
  TickPhases phases_;
  uint64_t samples_ = 0;
  bool loss_pending_ = false;  ///< losses or throttling were reported and are not booked yet
  Tally sum_;
  std::vector<Losses> losses_;                            ///< one per ring
  std::set<std::pair<int32_t, int32_t>> kernel_workers_;  ///< process and thread: ProcStat::kernel_worker
  double lost_ = 0;                                       ///< ticks of the target
  uint64_t window_cpu_ns_ = 0;  ///< the target's CPU time when the rings were last emptied in time
  uint64_t window_own_ = 0;     ///< its ticks since
  double window_lost_ = 0;      ///< of it, booked since
  uint64_t cpu_ns_ = 0;
  std::string blind_cpus_;
};

}  // namespace pctally
