#include "engine/event_name.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

TEST(EventName, ClocksAreWhatATickStandsFor) {
  EXPECT_TRUE(is_clock_event("cpu-clock"));
  EXPECT_TRUE(is_clock_event("task-clock"));
  for (const char* name : {"", "cpu-clock:u", "cycles", "ring"}) EXPECT_FALSE(is_clock_event(name)) << name;
}

TEST(EventName, HardwareEventsHavePerfsNames) {
  for (const char* name : {"cycles", "cpu-cycles", "instructions", "cache-misses", "branch-misses"})
    EXPECT_TRUE(is_hardware_event(name)) << name;
  for (const char* name : {"", "cycle", "Cycles", "ring", "cpu-clock", "r01c4"})
    EXPECT_FALSE(is_hardware_event(name)) << name;
}

TEST(EventName, TheRefusalNamesTheEventAndTheWayOut) {
  for (const char* name : {"cycles", "branch-misses"}) {
    std::string text = explain_hardware_event(name);
    EXPECT_EQ(text.rfind("-e " + std::string(name) + ": ", 0), 0u) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_GT(text.size(), 40u);
  }
}

}  // namespace
}  // namespace pctally
