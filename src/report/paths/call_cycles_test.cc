#include "report/paths/call_cycles.h"

#include <gtest/gtest.h>

#include <random>

#include "base/sanitizer.h"

namespace pctally {
namespace {

using Calls = std::vector<std::vector<uint32_t>>;

std::vector<bool> called_from(const Calls& callees, uint32_t function) {
  std::vector<bool> met(callees.size());
  std::vector<uint32_t> open{function};
  while (!open.empty()) {
    const uint32_t at = open.back();
    open.pop_back();
    for (const uint32_t callee : callees[at]) {
      if (!met[callee]) open.push_back(callee);
      met[callee] = true;
    }
  }
  return met;
}

TEST(CallCycles, AreOfFunctionsThatCallEachOther) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    Calls callees(1 + random() % 12);
    for (size_t call = random() % (2 * callees.size()); call-- > 0;)
      callees[random() % callees.size()].push_back(static_cast<uint32_t>(random() % callees.size()));
    const std::vector<uint32_t> cycles = cycles_of(callees);
    for (uint32_t i = 0; i < callees.size(); ++i)
      for (uint32_t j = 0; j < callees.size(); ++j)
        EXPECT_EQ(cycles[i] == cycles[j],
                  i == j || (called_from(callees, i)[j] && called_from(callees, j)[i]));
  }
}

TEST(CallCycles, ALongChainTakesNoStack) {
  constexpr uint32_t kFunctions = kSanitized ? 200'000 : 1'000'000;
  Calls callees(kFunctions);
  for (uint32_t i = 0; i + 1 < callees.size(); ++i) callees[i].push_back(i + 1);
  EXPECT_NE(cycles_of(callees)[0], cycles_of(callees)[1]);
  callees.back().push_back(0);
  EXPECT_EQ(cycles_of(callees)[0], cycles_of(callees)[kFunctions - 1]);
}

}  // namespace
}  // namespace pctally
