// Estimates the ticks lost to the kernel's throttling of perf events: kernel.perf_event_max_sample_rate
// allows a number of ticks in each tick of the kernel's own timer, then stops the event until the next one.
// Reads the records of that; prevents nothing.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <unordered_map>

#include "perf/event.h"
#include "perf/record.h"

namespace pctally {

/// The stops of the events of one ring. Records go in in the order in which the ring holds
/// them. Not thread-safe.
class ThrottleMeter {
 public:
  ThrottleMeter() = default;
  ThrottleMeter(const Event& event, uint64_t period);

  /// The ticks come by so many events a CPU from now on, each with as many times the period.
  void divide(size_t events) noexcept { events_ = static_cast<double>(events); }

  /// A THROTTLE or UNTHROTTLE record; others are ignored.
  void apply(const PerfRecord& record);
  /// No more records will come: what is still stopped is so until `now` (CLOCK_MONOTONIC).
  void finish(uint64_t now);

  /// Times an event was stopped, in all.
  [[nodiscard]] uint64_t stops() const noexcept { return stops_; }

  /// Ticks that did not come since the last call: of CPU time those due while it was stopped; of other
  /// events, which are not even counted then, as many as at the rate that made the kernel stop them.
  double take_missed() noexcept;

 private:
  void resume(uint64_t since, uint64_t until);

  bool timed_ = true;
  uint64_t period_ = 1;
  double events_ = 1;
  uint64_t kernel_tick_ns_ = 0;  ///< no stop lasts longer while its task runs
  uint64_t stops_ = 0;
  double missed_ = 0;
  std::unordered_map<uint64_t, uint64_t> stopped_;  ///< event -> since when
};

/// kernel.perf_event_max_sample_rate as it is now (the kernel lowers it by itself); 0: not known.
uint64_t perf_max_sample_rate() noexcept;

}  // namespace pctally
