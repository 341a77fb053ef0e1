// Keeps the ticks of each CPU out of step with what a program repeats: four slow clocks in place of a
// fast one, or where there is one alone, restarts of its period.
//
// The interrupt of one clock also ends the sleeps that come due within their slack (timerslack_ns(5), 50 us):
// a program that sleeps often goes on at a tick, and is in step with the next ones. One of two equal
// functions between sleeps of 0.2 ms got 88 % of the ticks, and the other 4. Which of the four comes next has
// nothing to do with what the last one woke.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/kernel/period.h"
#include "perf/event.h"
#include "perf/ring.h"

namespace pctally {

/// The longest that a start waits so that its first ticks come at a random phase.
inline constexpr uint64_t kLongestStartNs = 20000000;

/// For those rings of a recording that have ticks, the same ones in each call. A recording begins with one
/// clock a CPU, for the first tick of the others is some periods off. One thread.
class TickPhases {
 public:
  TickPhases() = default;
  /// Without `randomise`, and for other events than CPU time, ticks come as the kernel's clock has them.
  TickPhases(const Event& event, uint64_t period, bool randomise);

  /// For PerfSettings::streams. None, if the period is none that wakes sleepers, or descriptors are few
  /// (ulimit -n).
  [[nodiscard]] std::vector<uint64_t> further_periods() const;

  /// For events that tick whether or not a program runs, before they run. Draws where in a period the first
  /// tick of each may come. Returns how many ns to wait between their start and begin(); a period above
  /// kLongestStartNs is shortened until its first tick for that.
  uint64_t draw_first_ticks(const std::vector<PerfRing*>& rings);

  /// Ticks come from now on. Further events stay only if all rings have them.
  void begin(const std::vector<PerfRing*>& rings, uint64_t now_ns);

  /// Events by which the ticks of a CPU come now.
  [[nodiscard]] size_t events() const noexcept { return started_ ? kStreams : 1; }

  /// True when move() is to be called.
  bool due(uint64_t now_ns) noexcept;
  /// For poll(2): `most`, or less where a shortened period ends before. A second tick would follow it.
  [[nodiscard]] int ms_until_due(int most, uint64_t now_ns) const noexcept;

  /// Lets the further events start, each in a random phase, and then slows the first ones down, which takes
  /// the longest of the periods; where there are none, restarts the running periods. Before, makes the
  /// shortened periods whole whose tick has come.
  void move(const std::vector<PerfRing*>& rings);

 private:
  static constexpr uint64_t kAloneNs = 20000000;
  void start(const std::vector<PerfRing*>& rings);
  void make_whole(const std::vector<PerfRing*>& rings, uint64_t now_ns);

  struct FirstTick {
    uint64_t ns;  ///< when; until begin(): how long after it
    size_t ring;
  };

  Random random_;
  uint64_t period_ = 0;
  bool timed_ = false;
  bool wanted_ = false;
  bool have_streams_ = false;
  bool started_ = false;  ///< the streams
  std::array<uint64_t, kStreams> periods_{};
  uint64_t start_ns_ = 0;
  PhaseShifts shifts_;                  ///< where there are no streams
  std::vector<FirstTick> first_ticks_;  ///< of shortened periods, the latest in front
};

}  // namespace pctally
