// Engines that run in the program ("timer", "trap"), the recorder's side: injects the preload
// library and resolves what the processes put aside.
#pragma once
#include <optional>
#include <unordered_map>

#include "clock/tick_clock.h"
#include "process/deferred_resolver.h"
#include "recorder/engine/engine.h"
#include "recorder/engine/heartbeat.h"
#include "recorder/engine/injected_paths.h"
#include "recorder/engine/not_entered.h"
#include "recorder/engine/trusted_processes.h"
#include "task/mapping_history.h"
#include "task/unknown_code.h"

namespace pctally {

inline constexpr char kPreloadVariable[] = "PCTALLY_PRELOAD";  ///< where the preload library is, for the tool

class TimerEngine : public Engine {
 public:
  TimerEngine(ClockKind kind, const EngineSettings& settings) : kind_(kind), settings_(settings) {}

  [[nodiscard]] const char* name() const override { return clock_name(kind_); }
  [[nodiscard]] bool enters_program() const override { return true; }
  Result<void> start(ProfileFile* file, const Target& target, Environment* environment) override;
  [[nodiscard]] int drain_interval_ms() const override { return interval_ms_; }
  void drain() override;
  void stop() override;
  [[nodiscard]] std::vector<pid_t> living() const override;
  [[nodiscard]] std::string blind_spots() const override;

 private:
  static constexpr int kBusyMs = 20;

  void begin_turn();
  void resolve(bool final, bool has_addresses);
  void resolve_turn(bool final, bool has_addresses);
  void resolve_late(const DeferredTick& tick, KnownProcess* process, bool was_unloaded);
  void read_mappings(const std::vector<DeferredTick>& ticks, uint64_t deadline_ns);
  void note_unloads(const std::vector<DeferredTick>& ticks, size_t first);
  [[nodiscard]] bool was_unloaded(uint32_t process, uint64_t address, size_t tick) const;
  KnownProcess* known(uint32_t unit);
  void take_all(bool final, std::vector<DeferredTick>* ticks);
  void find_not_entered();
  Result<void> open_paths();
  void drain_ticks(bool final);
  uint64_t place_of(uint32_t process, uint64_t address);

  void choose_interval();
  void check_clocks();
  void check_silence();

  ClockKind kind_;
  EngineSettings settings_;
  ProfileFile* file_ = nullptr;
  pid_t target_ = 0;
  int interval_ms_ = kBusyMs;
  uint64_t seen_ = 0;        ///< processes and ticks put aside, ever
  uint64_t changed_ns_ = 0;  ///< when it last grew
  uint64_t cpus_ = 1;
  uint64_t next_search_ns_ = 0;
  uint64_t next_pulse_ns_ = 0;
  Heartbeat heartbeat_;
  std::optional<NotEntered> not_entered_;
  std::optional<InjectedPaths> paths_;
  ResolverState state_;
  std::vector<DeferredTick> waiting_;  ///< taken after the last turn's mappings were read
  /// The unloading of a library in a turn.
  struct Unload {
    uint64_t start, end;
    size_t number;  ///< of the first of the turn's ticks that came after it
  };
  std::unordered_map<uint32_t, std::vector<Unload>> unloads_;  ///< by process, in the order of their numbers
  std::unordered_map<uint32_t, MappingHistory> histories_;     ///< as known_
  UnknownCode unknown_;
  std::unordered_map<uint32_t, KnownProcess> known_;  ///< by unit of the process record
  struct Claim {
    pid_t claimed = 0;  ///< by the record: a number of the process's own pid namespace
    pid_t pid = 0;      ///< whose that is here; 0: not found
  };
  std::unordered_map<uint32_t, Claim> claims_;  ///< as known_
  std::optional<TrustedProcesses> trusted_;
};

/// The preload library to inject: $PCTALLY_PRELOAD, or beside the tool. ENOENT with what to do about it.
Result<std::string> find_preload_library();

/// The absolute form of `path`: processes join the file from whatever directory they are in. The file need
/// not exist yet, but its directory must.
std::string absolute_path(const std::string& path);

}  // namespace pctally
