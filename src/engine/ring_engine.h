// Engine "ring": per-CPU perf rings with inheritance, drained by the recorder. Nothing runs inside the
// program.
#pragma once
#include <string>
#include <unordered_map>

#include "engine/address_space.h"
#include "engine/engine.h"
#include "engine/perf_records.h"
#include "engine/perf_ring.h"
#include "tick/tick.h"

namespace pctally {

class RingEngine : public Engine {
 public:
  explicit RingEngine(const EngineSettings& settings) : settings_(settings) {}

  [[nodiscard]] const char* name() const override { return "ring"; }
  Result<void> start(ProfileFile* file, pid_t target, Environment* environment) override;
  [[nodiscard]] std::vector<int> descriptors() const override;
  [[nodiscard]] int drain_interval_ms() const override { return 100; }
  void drain() override;
  void stop() override;
  [[nodiscard]] uint64_t cpu_ns() const override { return cpu_ns_; }
  [[nodiscard]] std::string blind_spots() const override;

 private:
  /// A process as the records tell it.
  struct Task {
    uint32_t record = 0;  ///< unit of its ProcessRecord, 0 until it executes something of its own
    int32_t parent = 0;
    int32_t threads = 1;
    std::string comm;
    AddressSpace space;
    RegionTable table{};
    bool table_valid = false;
  };
  struct Sample {
    uint64_t time;
    uint64_t pc;
    int32_t pid;
    bool kernel;
  };
  struct Event {
    PerfRecord record;
    std::string text;  ///< the record's text, owned
  };

  Result<void> open_rings(pid_t target);
  void collect();
  void store(const PerfRecord& record);
  void replay(uint64_t until);
  void apply(const Event& event);
  void apply_mmap(const Event& event);
  void apply_comm(const Event& event);
  void apply_fork(const PerfRecord& record);
  void apply_exit(const PerfRecord& record);
  void count(const Sample& sample);
  Task& task(int32_t pid);
  const RegionTable& table_of(Task& task);
  const RegionTable& kernel_table(const Task& task, uint64_t pc);
  void register_task(int32_t pid, Task& task);
  void shift_phases();
  void settle_losses();

  EngineSettings settings_;
  ProfileFile* file_ = nullptr;
  std::vector<PerfRing> rings_;
  std::unordered_map<int32_t, Task> tasks_;
  AddressSpace kernel_space_;
  RegionTable kernel_table_{};
  std::vector<Sample> samples_;
  std::vector<Event> events_;
  Random random_;
  uint64_t next_shift_ns_ = 0;
  uint64_t lost_told_ = 0;  ///< by LOST records
  uint64_t cpu_ns_ = 0;
  bool kernel_ = false;
};

}  // namespace pctally
