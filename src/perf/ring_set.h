// The perf rings of all CPUs, opened for one target, and their records in the order of their times.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "base/file/mapped_array.h"
#include "perf/record.h"
#include "perf/ring.h"
#include "perf/target.h"
#include "perf/undumped_vector.h"

namespace pctally {

class RingSet {
 public:
  struct Sample {
    uint64_t time;
    uint64_t pc;
    int32_t pid;
    bool kernel;
    bool placed = true;  ///< false: whoever counted it had no room for its pc
    uint64_t ticks = 1;
    uint16_t ring = 0;   ///< it came from
    uint64_t first = 0;  ///< time of the first of its ticks, if it is older than `time`
    bool has_registers = false;
    uint64_t registers[kStackRegisters] = {};  ///< as PerfRecord
    std::span<const uint64_t> kernel_calls{};  ///< as PerfRecord; valid in its on_sample
    std::span<const unsigned char> stack{};    ///< as PerfRecord; valid in its on_sample
    bool stack_cut_off = false;
    int32_t tid = 0;
    uint32_t exec_id = 0;                      ///< of the program image, by bpf alone; 0: not known
    uint64_t stack_address = 0;                ///< of the first byte of `stack`; 0: the stack pointer
    std::span<const uint64_t> stack_chunks{};  ///< StackSample::chunks; valid in its on_sample
    bool stack_missed = false;                 ///< there was no room for what would have been in `stack`
    bool exiting = false;                      ///< the thread was ending; said by bpf alone
    bool without_user_mode = false;            ///< as PerfRecord; said by ring alone
    bool guest = false;                        ///< as PerfRecord; said by ring alone
    uint64_t order = 0;                        ///< in which samples of one time came
  };
  struct Record {
    PerfRecord record;
    std::string text;  ///< the record's text, owned
    uint16_t ring = 0;
  };

  /// Opens them, disabled (a command's start at its exec), asking for less where `settings` are refused. For
  /// a tree of processes the whole machine is opened where that is permitted: it sees the first half period
  /// of every thread too, and needs no event per thread. Errors: errno of perf_event_open(2) or mmap(2), with
  /// what to do about it; ENODEV.
  Result<void> open(const Target& target, const PerfSettings& settings);

  /// What was permitted in the end.
  [[nodiscard]] const PerfSettings& settings() const noexcept { return settings_; }
  /// True if they see processes that are not the target's.
  [[nodiscard]] bool sees_machine() const noexcept { return sees_machine_; }

  /// Where they are apart: those that hold no ticks, so that nothing is missed before the ticks begin.
  void enable_records() noexcept;
  void enable() noexcept;
  void disable() noexcept;
  void close() { rings_.clear(); }

  /// For TickPhases, until close().
  [[nodiscard]] std::vector<PerfRing*> rings_of_ticks();

  /// Reads all records of the rings. They stay there, with the stacks that samples have, until replay().
  void collect();

  /// Puts ticks that were counted elsewhere among the records.
  void add(const Sample& sample) {
    samples_.push_back(sample);
    samples_.back().order = order_++;
  }

  /// Keeps copies of stacks that wait for a replay() out of core dumps. Before the first.
  void keep_stacks_out_of_dumps();

  /// Calls sample(const Sample&) and event(const Record&) for what was collected and happened until then, in
  /// the order of time, and forgets it; then the kernel may use the rings' space again.
  template <class OnSample, class OnEvent>
  void replay(uint64_t until, OnSample&& on_sample, OnEvent&& on_event) {
    sort();
    size_t sample = 0, event = 0;
    for (;;) {
      bool more_samples = sample < samples_.size() && samples_[sample].time <= until;
      bool more_events = event < events_.size() && events_[event].record.time <= until;
      if (!more_samples && !more_events) break;
      if (!more_samples || (more_events && events_[event].record.time <= samples_[sample].time)) {
        on_event(events_[event++]);
      } else {
        on_sample(samples_[sample++]);
      }
    }
    samples_.erase(samples_.begin(), samples_.begin() + static_cast<ptrdiff_t>(sample));
    release();
    events_.erase(events_.begin(), events_.begin() + static_cast<ptrdiff_t>(event));
  }

  /// True if a ring was so full at the last collect() that it may have lost records.
  [[nodiscard]] bool pressed() const noexcept { return pressed_; }

  /// Rings are numbered. One may hold ticks, records of what processes do, or both; where the whole machine
  /// is observed they are apart, so that neither pushes the other out.
  [[nodiscard]] size_t size() const noexcept { return rings_.size(); }
  [[nodiscard]] bool has_ticks(size_t ring) const noexcept { return rings_[ring].has_ticks(); }
  [[nodiscard]] PerfCount count(size_t ring) const noexcept { return rings_[ring].count(); }

  /// Sum over the CPUs.
  [[nodiscard]] PerfCount count() const noexcept;

  /// One of each ring.
  [[nodiscard]] std::vector<int> descriptors() const;
  /// The one to wait for instead of `fd`, which hung up because its thread and all that this has started have
  /// ended: another thread's, which writes into the same ring. -1: nothing more comes from there.
  [[nodiscard]] int descriptor_after(int fd) const noexcept;

 private:
  Result<void> open_target(const Target& target, const PerfSettings& settings);
  Result<void> open_scope(PerfScope scope);
  Result<void> open_apart(PerfScope scope);
  Result<void> open_rings(PerfScope scope, bool samples, bool records);
  Result<void> open_threads(const std::vector<pid_t>& processes);
  Result<void> open_each(const std::vector<pid_t>& threads);
  void store(const PerfRecord& record, uint16_t ring);
  void store_sample(const PerfRecord& record, uint16_t ring);
  void release();
  void sort();

  PerfSettings settings_;
  bool sees_machine_ = false;
  bool pressed_ = false;
  std::vector<PerfRing> rings_;
  UndumpedVector<Sample> samples_;  ///< they have registers
  uint64_t order_ = 0;
  std::vector<Record> events_;
  MappedArray<uint64_t> waiting_;  ///< kernel calls and stacks of samples that wait for the next replay()
  MappedArray<uint64_t> next_waiting_;  ///< empty but in release()
};

}  // namespace pctally
