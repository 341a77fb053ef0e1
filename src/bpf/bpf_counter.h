// The BPF program with its maps and one perf event per CPU: counts pcs in the kernel, hands out the counts.
//
// Nothing is pinned: programs, maps and events are gone when this process is, however it ends. It refuses to
// know what a pc means.
#pragma once
#include <sys/types.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/file/mapped_file.h"
#include "base/kernel/period.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "bpf/kernel_paths.h"
#include "bpf/tick_tables.h"
#include "perf/event.h"
#include "perf/ring.h"
#include "perf/throttle.h"

struct bpf_object;
struct bpf_link;
struct bpf_program;

namespace pctally {

/// What the kernel did, by the statistics of sysctl kernel.bpf_stats_enabled; 0 while that is off.
struct BpfRuns {
  uint64_t runs = 0;
  uint64_t ns = 0;
  uint64_t skipped = 0;  ///< not run, because another BPF program ran on that CPU
};

class BpfCounter {
 public:
  struct Settings {
    Event event = kCpuTime;
    uint64_t period = 1000000;      ///< ns of CPU time, or events, of one tick
    std::vector<uint64_t> streams;  ///< TickPhases::further_periods()
    bool kernel = true;             ///< count ticks in kernel mode too
    pctally_filter filter = PCTALLY_FILTER_ALL;
    bool children = true;                        ///< PCTALLY_FILTER_FOLLOWED: follow what they fork
    int cgroup = -1;                             ///< PCTALLY_FILTER_CGROUP: a descriptor of its directory
    uint32_t table_slots = PCTALLY_TABLE_SLOTS;  ///< a power of two up to that
    bool paths = false;       ///< hand ticks over with their stacks. REQUIRES: PCTALLY_FOLLOWS_PATHS
    uint32_t path_bytes = 0;  ///< of the ring for them, a power of two; 0: by the number of CPUs
  };
  struct Totals {
    uint64_t passed = 0;   ///< ticks that passed the filter = those in slots + full + unowned + paths + owed
    uint64_t slots = 0;    ///< ticks handed out by slot
    uint64_t full = 0;     ///< ticks handed out as full
    uint64_t unowned = 0;  ///< ticks without slot whose process is not known either
    uint64_t paths = 0;    ///< ticks handed out with their stacks
  };

  BpfCounter();
  BpfCounter(BpfCounter&&) noexcept;
  BpfCounter& operator=(BpfCounter&&) noexcept;
  ~BpfCounter();

  /// Loads the program, makes the maps and opens the events, which do not run yet. Afterwards no privilege is
  /// needed any more. Errors: errno of bpf(2) or perf_event_open(2), with the remedy.
  static Result<BpfCounter> load(const Settings& settings);

  /// Would load() work? Tries each kind of call it makes, on something small. Errors: as load().
  static Result<void> probe();

  /// PCTALLY_FILTER_FOLLOWED: counts `pid` from now on, and what it will fork. False if the number is beyond
  /// the kernel's pid_max at load().
  bool follow(pid_t pid) noexcept;

  /// Starts every CPU's event. Waits for one period of CPU time, so that what starts next meets each CPU at a
  /// random phase; for kLongestStartNs where that is shorter (TickPhases::draw_first_ticks() has seen to it).
  Result<void> enable(Random* random);
  /// After it has returned no program runs any more.
  void disable() noexcept;

  /// They come by so many events a CPU from now on: see TickPhases.
  void divide_ticks(size_t events) noexcept;
  /// For TickPhases, until close().
  [[nodiscard]] std::vector<PerfRing*> rings_of_ticks();

  /// From now on: whether every tick is handed out by itself, with its time, or those of one pc together.
  void separate_ticks(bool separate) noexcept;

  /// Ticks passing the filter that the kernel's throttling has kept back since the last call: of each
  /// CPU's ticks kept back the part that has passed among those that came. Call it after drain(), the last
  /// time after disable().
  double take_missed();
  /// Times an event was throttled, in all.
  [[nodiscard]] uint64_t throttled() const noexcept;

  /// Hands out what was counted since the last call, every tick once: slot(const pctally_slot&) per pc,
  /// full(const pctally_full&) per process whose ticks found no slot.
  template <class Slot, class Full>
  void drain(Slot&& slot, Full&& full) {
    uint64_t turn = turn_over();
    for (size_t cpu = 0; cpu < cpus_; ++cpu) {
      pctally_table* table = this->table(cpu, turn);
      if (table->passed == 0) continue;
      for (uint32_t i = 0; i < used(*table); ++i) slot(std::as_const(table->slots[table->order[i] & kMask]));
      for (uint32_t i = 0; i < full_used(*table); ++i) full(std::as_const(table->full[i]));
      shares_[cpu].passed += table->passed;
      account(table);
    }
  }

  /// Calls visit(const pctally_path&) for the ticks that came with their stacks since the last call;
  /// those that found no room for one are in slots. Call it after drain(). The stacks stay where they
  /// are until release_paths().
  template <class Visit>
  void visit_paths(Visit&& visit) {
    if (!paths_) return;
    paths_->ring().visit([&](const pctally_path& path) {
      totals_.paths += path.ticks;
      visit(path);
    });
  }
  void release_paths() noexcept {
    if (paths_) paths_->ring().release();
  }
  /// What the program knows of programs; null without paths.
  [[nodiscard]] KernelPaths* paths() noexcept { return paths_ ? &*paths_ : nullptr; }
  [[nodiscard]] const KernelPaths* paths() const noexcept { return paths_ ? &*paths_ : nullptr; }

  /// Gives the maps, the program and the events back. The totals stay.
  void close() noexcept;

  [[nodiscard]] const Totals& totals() const noexcept { return totals_; }
  [[nodiscard]] BpfRuns runs() const noexcept;

 private:
  static constexpr uint32_t kMask = PCTALLY_TABLE_SLOTS - 1;

  struct CpuEvent {
    PerfRing ring;  ///< holds nothing but the records of throttling
    size_t cpu;
    ThrottleMeter throttle;
  };
  /// What one CPU has had since the last take_missed().
  struct Share {
    uint64_t passed = 0;
    uint32_t seen_before = 0;
  };
  struct ObjectCloser {
    void operator()(bpf_object* object) const noexcept;
  };
  struct LinkCloser {
    void operator()(bpf_link* link) const noexcept;
  };

  Result<void> open_object(const Settings& settings, const std::string& types);
  Result<void> load_object(const Settings& settings);
  Result<void> map_tables();
  Result<void> follow_forks(const Settings& settings);
  Result<void> open_events(const Settings& settings);
  static void read_throttling(CpuEvent* event);
  uint64_t turn_over() noexcept;
  [[nodiscard]] bool is_running(size_t cpu) const noexcept;
  void account(pctally_table* table) noexcept;
  [[nodiscard]] pctally_table* table(size_t cpu, uint64_t turn) const noexcept;
  static uint32_t used(const pctally_table& table) noexcept;
  static uint32_t full_used(const pctally_table& table) noexcept;

  std::unique_ptr<bpf_object, ObjectCloser> object_;
  std::unique_ptr<bpf_link, LinkCloser> forks_;
  std::vector<CpuEvent> events_;
  std::vector<Share> shares_;  ///< by CPU
  MappedFile active_, tables_, followed_;
  std::optional<KernelPaths> paths_;
  size_t cpus_ = 0;
  Event event_ = kCpuTime;
  uint64_t period_ = 0;
  bool separate_ = false;
  Totals totals_;
};

}  // namespace pctally
