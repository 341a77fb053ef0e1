// Engine "bpf": ticks are counted in the kernel, per CPU. The recorder fetches the counts. The kernel's
// records of mmap, exec and fork say which object each pc belongs to.
#pragma once
#include <string>
#include <unordered_map>

#include "bpf/bpf_counter.h"
#include "perf/ring_set.h"
#include "perf/tick_phases.h"
#include "recorder/engine/engine.h"
#include "recorder/engine/kernel_unwinding.h"
#include "task/task_table.h"

namespace pctally {

inline constexpr char kBpfBlindness[] =
    "ticks that fall into another BPF program; CPUs that are switched on after the start";

class BpfEngine : public Engine {
 public:
  explicit BpfEngine(const EngineSettings& settings) : settings_(settings) {}

  [[nodiscard]] const char* name() const override { return "bpf"; }

  Result<void> start(ProfileFile* file, const Target& target, Environment* environment) override;
  [[nodiscard]] std::vector<int> descriptors() const override;
  [[nodiscard]] int descriptor_after(int fd) const override { return rings_.descriptor_after(fd); }
  [[nodiscard]] int drain_interval_ms() const override;
  /// Afterwards this thread has no capabilities any more but CAP_KILL, and that only where it has a command.
  Result<void> drop_privileges() override;
  void drain() override;
  void stop() override;
  [[nodiscard]] std::vector<pid_t> living() const override { return tasks_.living(); }
  [[nodiscard]] std::string blind_cpus() const override { return blind_cpus_; }
  [[nodiscard]] std::string blind_spots() const override { return kBpfBlindness; }

  /// What the kernel counted; those of a command before its exec are in no file.
  [[nodiscard]] const BpfCounter::Totals& totals() const noexcept { return counter_.totals(); }
  [[nodiscard]] uint64_t before_exec() const noexcept { return before_exec_; }

 private:
  Result<void> load(const Target& target);
  Result<void> open_records(const Target& target);
  Result<void> watch_processes(const Target& target);
  void fetch();
  void add(const RingSet::Sample& sample);
  void take_path(const pctally_path& path);
  void load_tables();
  void book_missed();
  void make_up_for_losses();
  [[nodiscard]] uint64_t throttled_ticks() const;
  [[nodiscard]] bool knows_threads() const { return settings_.scope == ScopeKind::kThread; }
  void separate_where_needed();
  void replay(uint64_t until);
  void count(const RingSet::Sample& sample);
  bool count_path(const RingSet::Sample& sample);
  void count_left_out();

  EngineSettings settings_;
  ProfileFile* file_ = nullptr;
  bool has_command_ = false;
  BpfCounter counter_;
  RingSet rings_;  ///< no ticks: what processes do
  TaskTable tasks_;
  KernelUnwinding unwinding_;
  int paths_drain_ms_ = 10;  ///< grows from the last time that new tables were loaded
  Random random_;
  TickPhases phases_;
  std::unordered_map<pid_t, uint32_t> newest_images_;  ///< of the ticks fetched last
  bool lost_record_ = false;                           ///< one came that says so, since the last drain
  uint64_t lost_records_ = 0;                          ///< by the kernel's count
  uint64_t counted_ = 0;
  uint64_t replacements_ = 0;    ///< seen by tasks_ so far
  uint64_t separate_until_ = 0;  ///< ticks come one by one until then
  double missed_ = 0;            ///< ticks that the kernel's throttling kept back, estimated
  uint64_t before_exec_ = 0;
  std::string blind_cpus_;
};

}  // namespace pctally
