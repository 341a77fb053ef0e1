#include "perf/event.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

void expect_event(const char* name, uint32_t type, uint64_t config, uint64_t count) {
  const Event* event = find_event(name);
  ASSERT_NE(event, nullptr) << name;
  EXPECT_EQ(event->type, type) << name;
  EXPECT_EQ(event->config, config) << name;
  EXPECT_EQ(event->usual_count, count) << name;
}

TEST(Event, ClocksAreCpuTime) {
  for (const char* name : {"cpu-clock", "task-clock"}) {
    expect_event(name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0);
    EXPECT_TRUE(find_event(name)->is_cpu_time());
  }
  EXPECT_FALSE(find_event("page-faults")->is_cpu_time());
}

TEST(Event, HardwareEventsHavePerfsNames) {
  expect_event("cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1000000);
  expect_event("ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, 1000000);
  expect_event("instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 1000000);
  expect_event("stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 1000000);
  expect_event("stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 1000000);
  expect_event("bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, 100000);
  expect_event("branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100000);
  expect_event("cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, 100000);
  expect_event("branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 10000);
  expect_event("cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 10000);
}

TEST(Event, SoftwareEventsAreCountedOneByOne) {
  expect_event("page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1);
  expect_event("minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, 1);
  expect_event("major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1);
  expect_event("context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 1);
  expect_event("cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, 1);
  expect_event("alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, 1);
  expect_event("emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, 1);
}

TEST(Event, AnAbbreviationIsTheSameEvent) {
  const char* const pairs[][2] = {{"cs", "context-switches"},  {"faults", "page-faults"},
                                  {"cpu-cycles", "cycles"},    {"branch-instructions", "branches"},
                                  {"task-clock", "cpu-clock"}, {"migrations", "cpu-migrations"}};
  for (const auto& [alias, name] : pairs) {
    EXPECT_EQ(find_event(alias), find_event(name));
    EXPECT_STREQ(find_event(alias)->name, name);
  }
}

TEST(Event, NothingElseIsOne) {
  for (const char* name : {"", "cycle", "Cycles", "cycles ", "cpu-clock:u", "ring", "r01c4", "dummy"})
    EXPECT_EQ(find_event(name), nullptr) << name;
}

TEST(Event, TicksHaveAFixedPeriod) {
  perf_event_attr clock = tick_attributes(kCpuTime, 1000, true);
  EXPECT_EQ(clock.config, PERF_COUNT_SW_CPU_CLOCK);
  EXPECT_EQ(clock.sample_period, 1000u);
  EXPECT_FALSE(clock.freq);
  EXPECT_FALSE(clock.exclude_kernel);
  EXPECT_TRUE(clock.exclude_idle);
  EXPECT_TRUE(clock.disabled);
  perf_event_attr misses = tick_attributes(*find_event("cache-misses"), 77, false);
  EXPECT_EQ(misses.type, static_cast<uint32_t>(PERF_TYPE_HARDWARE));
  EXPECT_EQ(misses.config, PERF_COUNT_HW_CACHE_MISSES);
  EXPECT_EQ(misses.sample_period, 77u);
  EXPECT_TRUE(misses.exclude_kernel);
  EXPECT_FALSE(misses.exclude_idle);
}

TEST(Event, AnAbsentOneIsRefusedByNameWithTheWayOut) {
  EXPECT_EQ(explain_absence(kCpuTime), "");
  for (const Event& absent :
       {Event{"made-up", PERF_TYPE_HARDWARE, 9999, 1}, Event{"made-up", PERF_TYPE_SOFTWARE, 9999, 1}}) {
    std::string text = explain_absence(absent);
    if (text.empty()) GTEST_SKIP() << "perf_event_open is not permitted here";
    EXPECT_EQ(text.rfind("made-up: this ", 0), 0u) << text;
    EXPECT_EQ(text.find("hardware counter") != std::string::npos, absent.type == PERF_TYPE_HARDWARE) << text;
    EXPECT_NE(text.find("without -e, CPU time is recorded"), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace pctally
