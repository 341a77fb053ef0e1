// Ticks of a CPU by four slow clocks in the place of a fast one.
//
// The interrupt of one alone also ends the sleeps that come due within their slack (timerslack_ns(5), 50 us):
// a program that sleeps often goes on at a tick, and is in step with the next ones. Of two equal functions
// between sleeps of 0.2 ms one got 88 % of the ticks, and the other 4. Which of the four comes next has
// nothing to do with what the last one woke.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "base/period.h"
#include "perf/event.h"
#include "perf/ring.h"

namespace pctally {

/// Of all CPUs. A recording begins with one clock, for the first tick of the others is some periods off.
class TickStreams {
 public:
  TickStreams() = default;
  /// None, if the event or its period is none that wakes sleepers, or descriptors are few (ulimit -n): the
  /// further periods are empty then.
  TickStreams(const Event& event, uint64_t period, Random* random);

  /// For PerfSettings::streams.
  [[nodiscard]] std::vector<uint64_t> further_periods() const;

  /// True once, kAloneNs after the first call.
  bool due(uint64_t now_ns) noexcept;

  /// Lets the further events of the rings start, each in a random phase, and then slows the first ones down.
  /// Takes the longest of the periods.
  void start(const std::vector<PerfRing*>& rings, Random* random) const;

 private:
  static constexpr uint64_t kAloneNs = 20000000;

  bool wanted_ = false;
  std::array<uint64_t, kStreams> periods_{};
  uint64_t start_ns_ = 0;
};

}  // namespace pctally
