#include "base/kernel/period.h"

#include <sys/random.h>

#include <algorithm>

#include "base/kernel/kernel_setting.h"
#include "base/time_ns.h"

namespace pctally {
namespace {

constexpr uint64_t kCyclesNs[] = {1000000, 2000000, 4000000, 5000000, 10000000};
constexpr unsigned kDraws = 1000;

uint64_t kernel_seed() noexcept {
  uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == sizeof seed) return seed;
  return monotonic_ns() * 0x9e3779b97f4a7c15u;
}

/// Whether so many ticks fall into every one of `parts` parts of the cycle, a power of two up to 64.
bool visits_all(uint64_t period_ns, uint64_t cycle_ns, unsigned parts, unsigned ticks) noexcept {
  uint64_t seen = 0;  // one bit per part
  const uint64_t step = period_ns % cycle_ns * parts, whole = step / cycle_ns, more = step % cycle_ns;
  uint64_t part = 0, rest = 0;
  for (unsigned i = 0; i < ticks; ++i) {  // no division in here: a thousand draws would start a program late
    seen |= uint64_t{1} << (part & (parts - 1));
    part += whole;
    rest += more;
    if (rest >= cycle_ns) rest -= cycle_ns, ++part;
  }
  return seen == ~uint64_t{0} >> (64 - parts);
}

bool walks_over_all(uint64_t period_ns, uint64_t asked_ns) noexcept {
  for (uint64_t cycle : kCyclesNs)
    if (!walks_over(period_ns, cycle)) return false;
  return walks_over(period_ns, asked_ns);
}

uint64_t draw_near(uint64_t asked, Random* random) noexcept {
  auto spread = static_cast<uint64_t>(static_cast<double>(asked) * kPeriodSpread);
  return asked - spread + random->below(2 * spread + 1);
}

}  // namespace

Random::Random() noexcept : Random(kernel_seed()) {}

bool walks_over(uint64_t period_ns, uint64_t cycle_ns) noexcept {
  return visits_all(period_ns, cycle_ns, 64, 256) &&
         (period_ns < cycle_ns / 16 || visits_all(period_ns, cycle_ns, 16, 40));
}

uint64_t shortest_perf_period_ns() noexcept {
  const auto hertz = static_cast<double>(kernel_setting("/proc/sys/kernel/perf_event_max_sample_rate", 0));
  const auto tick_ns = static_cast<double>(kernel_tick_ns());
  if (hertz < 1 || tick_ns < 1) return kShortestPeriodNs;
  // The kernel throttles at so many interrupts in one of its own ticks; one more may fall into it.
  const double in_tick = std::max(1.0, hertz * tick_ns * 1e-9 - 2);
  return static_cast<uint64_t>(tick_ns / in_tick / (1 - kPeriodSpread)) + 1;
}

uint64_t draw_period(uint64_t asked_ns, Random* random) noexcept {
  uint64_t drawn = asked_ns;
  for (unsigned i = 0; i < kDraws; ++i) {
    drawn = draw_near(asked_ns, random);
    if (drawn < kShortestPeriodNs) drawn = kShortestPeriodNs;
    if (walks_over_all(drawn, asked_ns)) break;
  }
  return drawn;
}

uint64_t draw_count(uint64_t asked, Random* random) noexcept {
  uint64_t drawn = asked;
  for (unsigned i = 0; i < kDraws && asked >= kFewestDrawn; ++i) {
    drawn = draw_near(asked, random);
    if (walks_over(drawn, asked)) break;
  }
  return drawn;
}

uint64_t draw_shorter_period(uint64_t asked_ns, Random* random) noexcept {
  uint64_t drawn = asked_ns;
  for (unsigned i = 0; i < kDraws; ++i) {
    drawn = asked_ns - asked_ns / 100 - random->below(asked_ns / 7);
    if (drawn < kShortestPeriodNs) drawn = asked_ns < kShortestPeriodNs ? asked_ns : kShortestPeriodNs;
    if (walks_over_all(drawn, asked_ns) && walks_over(drawn, 2 * asked_ns)) break;
  }
  return drawn;
}

/// In pairs, one as much faster as the other is slower: the sum of their rates is exact.
std::array<uint64_t, kStreams> draw_stream_periods(uint64_t period_ns, Random* random) noexcept {
  constexpr double kLeast = 0.05, kRange = 0.14, kStep = 0.17;
  const double mean = static_cast<double>(period_ns) * kStreams;
  std::array<uint64_t, kStreams> periods{};
  for (size_t pair = 0; pair < kStreams / 2; ++pair) {
    const double drawn = static_cast<double>(random->below(1 << 20)) / (1 << 20);
    const double off = kLeast + kRange * drawn + kStep * static_cast<double>(pair);
    periods[2 * pair] = static_cast<uint64_t>(mean / (1 + off));
    periods[2 * pair + 1] = static_cast<uint64_t>(mean / (1 - off));
  }
  return periods;
}

}  // namespace pctally
