#include "report/paths/call_cycles.h"

#include <gtest/gtest.h>

#include <random>

#include "base/sanitizer.h"
#include "report/paths/callers.h"
#include "report/paths/path_profile_for_test.h"

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

/// f1 calls f2. Where calls found no room, others may be the other way.
TEST(CallCycles, MayBeOfAnyFunctionsWhereNotAllCallsAreKnown) {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x200, 5);
  paths.add_plane(0x100, 5);
  paths.add_plane(0x200, 5);
  paths.profile.paths.plane.push_back(
      {.parent = 2, .kind = PathNodeKind::kCode, .position = 0x110, .self = 5});
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  const NamedPaths named(paths.profile, names, NamedPaths::Detail::kLines);
  const StackFrame f1 = find_functions(named, "f1").at(0), f2 = find_functions(named, "f2").at(0);
  EXPECT_FALSE(CallCycles(named, true).may_return(f1, f2));
  EXPECT_TRUE(CallCycles(named, false).may_return(f1, f2));
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
