#include "perf/tick_phases.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <optional>

#include "base/time_ns.h"
#include "perf/record.h"

namespace pctally {
namespace {

constexpr uint64_t kPeriodNs = 80000000;

/// Moments of one CPU's ticks, and from when on they are looked for.
struct Ticks {
  uint64_t begun_ns = 0;
  std::vector<uint64_t> times;
};

/// The first `count` ticks of a CPU that is never idle, by a clock that ticks rarely.
std::optional<Ticks> first_ticks(int cpu, size_t count) {
  PerfSettings settings;
  settings.period = kPeriodNs;
  settings.records = settings.build_ids = settings.lost_count = false;
  settings.kernel = true;
  settings.ring_pages = 1;
  auto ring = PerfRing::open(PerfScope::machine(), cpu, settings);
  if (!ring) return std::nullopt;
  const std::vector<PerfRing*> rings = {&*ring};
  TickPhases phases(kCpuTime, kPeriodNs, true);
  const uint64_t wait_ns = phases.draw_first_ticks(rings);
  ring->enable();
  sleep_ns(wait_ns);
  Ticks ticks{monotonic_ns(), {}};
  phases.begin(rings, ticks.begun_ns);
  while (ticks.times.size() < count) {
    if (phases.due(monotonic_ns())) phases.move(rings);
    ring->visit([&ticks](const unsigned char* bytes, size_t length) {
      ticks.times.push_back(parse_perf_record(bytes, length).time);
    });
    ring->release();
  }
  return ticks;
}

class StayOnCpu {
 public:
  explicit StayOnCpu(int cpu) {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(static_cast<size_t>(cpu), &here);
    sched_setaffinity(0, sizeof here, &here);
  }
  ~StayOnCpu() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_;
};

// A start waits for less than a long period. The first tick came a whole one after it nevertheless: short
// programs had none.
TEST(TickPhases, TheFirstTickOfALongPeriodMayComeAtAnyTime) {
  const int cpu = sched_getcpu();
  StayOnCpu stay(cpu);
  bool early = false, late = false;
  for (int run = 0; run < 40 && !(early && late); ++run) {
    const auto ticks = first_ticks(cpu, 1);
    if (!ticks) GTEST_SKIP() << "this user may not observe a CPU";
    early = early || ticks->times[0] < ticks->begun_ns + kPeriodNs / 2;
    late = late || ticks->times[0] > ticks->begun_ns + kPeriodNs / 2;
  }
  EXPECT_TRUE(early);
  EXPECT_TRUE(late);
}

TEST(TickPhases, AShortenedPeriodIsWholeAfterItsTick) {
  const int cpu = sched_getcpu();
  StayOnCpu stay(cpu);
  bool whole = false;
  for (int run = 0; run < 40 && !whole; ++run) {
    const auto ticks = first_ticks(cpu, 3);
    if (!ticks) GTEST_SKIP() << "this user may not observe a CPU";
    const bool was_short = ticks->times[0] < ticks->begun_ns + kPeriodNs / 2;
    whole = was_short && ticks->times[2] - ticks->times[1] > kPeriodNs / 10 * 9;
  }
  EXPECT_TRUE(whole);
}

/// In a longer period a program hardly sleeps within the slack of its timers.
TEST(TickPhases, LongPeriodsHaveNoFurtherStreams) {
  EXPECT_TRUE(TickPhases(kCpuTime, kPeriodNs, true).further_periods().empty());
}

TEST(TickPhases, SaysHowLongToWaitForAShortenedPeriod) {
  TickPhases phases(kCpuTime, kPeriodNs, true);
  EXPECT_EQ(phases.ms_until_due(100, 0), 100);
  EXPECT_EQ(phases.draw_first_ticks({}), kLongestStartNs);
  EXPECT_LT(TickPhases(kCpuTime, kLongestStartNs, false).draw_first_ticks({}), kLongestStartNs);
  EXPECT_EQ(TickPhases(*find_event("page-faults"), 100000000, true).draw_first_ticks({}), 0u);
}

}  // namespace
}  // namespace pctally
