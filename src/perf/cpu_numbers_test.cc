#include "perf/cpu_numbers.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>

namespace pctally {
namespace {

using Numbers = std::vector<int>;

TEST(CpuNumbers, ListHasRangesAndHoles) {
  EXPECT_EQ(parse_cpu_list("0\n"), Numbers{0});
  EXPECT_EQ(parse_cpu_list("0-3\n"), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(parse_cpu_list("0-1,3\n"), (Numbers{0, 1, 3}));
  EXPECT_EQ(parse_cpu_list("5,7"), (Numbers{5, 7}));
}

TEST(CpuNumbers, OtherTextHasNone) {
  for (const char* text : {"", "\n", "cpu0", "0-", "3-1", "1,1", "0,,1", "0-99999999", "4294967296", "-1"})
    EXPECT_EQ(parse_cpu_list(text), Numbers{}) << text;
}

TEST(CpuNumbers, TextIsThatOfTheKernel) {
  for (const char* text : {"", "0", "0-3", "0-1,3", "5,7", "1,3-4,8-127"})
    EXPECT_EQ(cpu_list_text(parse_cpu_list(text)), text);
}

TEST(CpuNumbers, PossibleOnesHoldAllThatThisThreadMayUse) {
  const Numbers cpus = possible_cpus();
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) GTEST_SKIP() << "more CPUs than a cpu_set_t has";
  EXPECT_TRUE(std::ranges::is_sorted(cpus));
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    EXPECT_TRUE(!CPU_ISSET(cpu, &allowed) || std::ranges::binary_search(cpus, cpu)) << cpu;
}

}  // namespace
}  // namespace pctally
