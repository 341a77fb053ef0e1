#include "perf/blind_cpus.h"

#include <gtest/gtest.h>

#include "base/time_ns.h"

namespace pctally {
namespace {

using Numbers = std::vector<int>;

TEST(BlindCpus, AnEventThatWasTakenOffIsThereForLess) {
  const std::vector<CpuEventTime> events = {
      {0, 9 * kNsPerSecond}, {1, 3 * kNsPerSecond}, {3, 9 * kNsPerSecond - 5}};
  EXPECT_EQ(blind_cpus(events, {0, 1, 3}), Numbers{1});
  EXPECT_EQ(blind_cpus(events, {0, 3}), Numbers{}) << "it stayed off";
}

TEST(BlindCpus, ACpuThatWasOffAtTheStartHasNoEvent) {
  EXPECT_EQ(blind_cpus({{0, 1}, {2, 2}}, {0, 1, 2, 3}), (Numbers{1, 3}));
  EXPECT_EQ(blind_cpus({}, {}), Numbers{});
}

TEST(BlindCpus, EventsKnowHowLongTheyWereThere) {
  PerfSettings settings;
  settings.ring_pages = 64;  // a busy machine has records of its own
  settings.build_ids = false;
  for (const bool lost_count : {false, true}) {
    settings.lost_count = lost_count;
    auto ring = PerfRing::open(PerfScope::machine(), 0, settings);
    if (!ring) GTEST_SKIP() << ring.error().text;
    EXPECT_EQ(ring->count().enabled_ns, 0u);
    const uint64_t start = monotonic_ns();
    ring->enable();
    while (monotonic_ns() < start + 20000000) {
    }
    ring->disable();
    const PerfCount count = ring->count();
    EXPECT_GT(count.enabled_ns, 10000000u);
    EXPECT_LE(count.enabled_ns, 2 * (monotonic_ns() - start));
    EXPECT_EQ(count.lost, 0u);
  }
}

}  // namespace
}  // namespace pctally
