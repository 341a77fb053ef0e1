#include "perf/throttle.h"

#include <gtest/gtest.h>

#include "base/time_ns.h"

namespace pctally {
namespace {

constexpr uint64_t kMs = 1000000;

PerfRecord stop(uint64_t time, uint64_t stream = 1) {
  return {.kind = PerfRecord::Kind::kThrottle, .time = time, .stream = stream};
}
PerfRecord resume(uint64_t time, uint64_t stream = 1) {
  return {.kind = PerfRecord::Kind::kUnthrottle, .time = time, .stream = stream};
}

TEST(ThrottleMeter, TicksOfCpuTimeAreDueWhileTheEventIsStopped) {
  ThrottleMeter meter(kCpuTime, 100000);
  meter.apply(stop(10 * kMs));
  meter.apply(resume(10 * kMs + 500000));
  meter.apply(stop(20 * kMs));
  meter.apply(resume(20 * kMs + 250000));
  EXPECT_EQ(meter.stops(), 2u);
  EXPECT_DOUBLE_EQ(meter.take_missed(), 7.5);
  EXPECT_DOUBLE_EQ(meter.take_missed(), 0);
}

TEST(ThrottleMeter, OfFourEventsEachHasAQuarterOfTheTicks) {
  ThrottleMeter meter(kCpuTime, 100000);
  meter.divide(4);
  for (uint64_t stream = 1; stream <= 4; ++stream) {
    meter.apply(stop(10 * kMs, stream));
    meter.apply(resume(10 * kMs + 500000, stream));
  }
  EXPECT_DOUBLE_EQ(meter.take_missed(), 5);
}

// The kernel starts a stopped event again at its next tick; a longer time was not the thread's.
TEST(ThrottleMeter, AStopLastsNoLongerThanATickOfTheKernel) {
  ThrottleMeter meter(kCpuTime, 100000);
  meter.apply(stop(1000 * kMs));
  meter.apply(resume(3000 * kMs));
  EXPECT_DOUBLE_EQ(meter.take_missed(), static_cast<double>(kernel_tick_ns()) / 100000);
}

TEST(ThrottleMeter, EventsOfOneRingAreToldApart) {
  ThrottleMeter meter(kCpuTime, 100000);
  meter.apply(stop(10 * kMs, 1));
  meter.apply(stop(10 * kMs + 100000, 2));
  meter.apply(resume(10 * kMs + 200000, 1));
  meter.apply(resume(10 * kMs + 200000, 3));  // its stop was lost
  EXPECT_DOUBLE_EQ(meter.take_missed(), 2);
  meter.finish(10 * kMs + 400000);
  EXPECT_DOUBLE_EQ(meter.take_missed(), 3);
}

// What stopped them came in the rest of the kernel's tick.
TEST(ThrottleMeter, OtherEventsAreMissedAtTheRateThatStoppedThem) {
  uint64_t tick = kernel_tick_ns(), rate = perf_max_sample_rate();
  if (rate == 0) GTEST_SKIP() << "kernel.perf_event_max_sample_rate cannot be read";
  const Event* cycles = find_event("cycles");
  ThrottleMeter meter(*cycles, 20000);
  meter.apply(stop(10 * kMs));
  meter.apply(resume(10 * kMs + tick / 2));
  double allowed = std::max(1.0, static_cast<double>(rate * tick) * 1e-9);
  EXPECT_NEAR(meter.take_missed(), allowed, 0.01 * allowed);
}

}  // namespace
}  // namespace pctally
