// The period of a run, drawn so that no program is in step with it by accident.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <array>

namespace pctally {

/// Small, seedable source of random numbers (xorshift64*). Not for secrets. A value; one thread.
class Random {
 public:
  /// Seeded by the kernel.
  Random() noexcept;
  explicit Random(uint64_t seed) noexcept : state_(seed | 1) {}
  uint64_t next() noexcept {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
  }
  /// Uniform in [0, limit). REQUIRES: limit > 0.
  uint64_t below(uint64_t limit) noexcept { return next() % limit; }

 private:
  uint64_t state_;
};

inline constexpr uint64_t kShortestPeriodNs = 10000;  ///< the kernel's own floor for a cpu-clock event
/// Of engine "trap". The time of its handler is the program's, and ticks as well: where that takes longer
/// than a period the program gets no further.
inline constexpr uint64_t kShortestTrapPeriodNs = 50000;
inline constexpr uint64_t kLongestPeriodNs = 10000000000u;  ///< 10 s
inline constexpr double kPeriodSpread = 0.08;  ///< a drawn period lies within +-8 % of the asked one

/// Draws uniformly from asked_ns +-8 % among the periods that visit every 1/64 of a program's cycle within
/// 256 ticks, for programs whose cycle is 1, 2, 4, 5 or 10 ms or the asked period itself. (1 ms exactly would
/// see one phase of a 4 ms cycle four ways only; 1.0309 ms walks over all of them.)
uint64_t draw_period(uint64_t asked_ns, Random* random) noexcept;

/// As draw_period(), of a number of events: within +-8 % of the asked one, visiting every 1/64 of a cycle of
/// as many events as asked. Below kFewestDrawn exactly as asked: there is little to draw from.
uint64_t draw_count(uint64_t asked, Random* random) noexcept;
inline constexpr uint64_t kFewestDrawn = 100;

/// As draw_period(), uniformly from 85 % to 99 % of asked_ns, and also in step with no program whose cycle is
/// twice the asked period: for clocks that drop ticks at random to keep the mean exact.
uint64_t draw_shorter_period(uint64_t asked_ns, Random* random) noexcept;

/// Periods for kStreams clocks that tick once every `period_ns` together: 2.9 to 6.3 of it each, drawn so
/// that they keep no step with one another.
inline constexpr size_t kStreams = 4;
std::array<uint64_t, kStreams> draw_stream_periods(uint64_t period_ns, Random* random) noexcept;

/// The shortest period whose ticks the kernel does not throttle, and from which a period may be drawn: by
/// kernel.perf_event_max_sample_rate, 8 % below it. kShortestPeriodNs where that cannot be read.
uint64_t shortest_perf_period_ns() noexcept;

/// When an engine is to restart its running periods, which moves its ticks to another phase of whatever the
/// program repeats: at random moments, 300 periods apart on the average, for each costs half a tick.
class PhaseShifts {
 public:
  PhaseShifts() = default;
  /// `wanted` false: never, whatever the period. REQUIRES: else it is not 0.
  PhaseShifts(bool wanted, uint64_t period_ns, uint64_t now_ns) noexcept
      : wanted_(wanted), period_ns_(period_ns), next_ns_(wanted ? now_ns + pause() : 0) {}

  /// True when the moment has come; the next one is drawn then.
  bool due(uint64_t now_ns) noexcept {
    if (!wanted_ || now_ns < next_ns_) return false;
    next_ns_ = now_ns + pause();
    return true;
  }

 private:
  static constexpr uint64_t kMeanPeriods = 300;
  uint64_t pause() noexcept { return random_.below(2 * kMeanPeriods * period_ns_); }

  Random random_;
  bool wanted_ = false;
  uint64_t period_ns_ = 0;
  uint64_t next_ns_ = 0;
};

/// True if a tick every `period_ns` visits every 1/64 of a cycle of `cycle_ns` within 256 ticks and, where
/// less than 16 of them fit into one, every 1/16 within 40. The second keeps away from what is nearly in
/// step: the beat is slow there, and a machine that takes the CPU away at every kernel tick can hold it up
/// altogether (with a period 0.8 % off a share of 30 % was measured as 14 %).
bool walks_over(uint64_t period_ns, uint64_t cycle_ns) noexcept;

}  // namespace pctally
