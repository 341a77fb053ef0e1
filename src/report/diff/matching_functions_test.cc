#include "report/diff/matching_functions.h"

#include <gtest/gtest.h>

#include <string>

namespace pctally {
namespace {

struct Function {
  std::string name, linkage;
  uint64_t ticks;
};

MeasuredRun run_of_functions(const std::vector<Function>& functions, const std::string& object = "a.out") {
  MeasuredRun run;
  for (const Function& function : functions) {
    const DiffKey key{function.name, object};
    run.ticks[key] = run.on_path[key] = function.ticks;
    if (!function.linkage.empty()) run.linkage[key] = function.linkage;
  }
  return run;
}

std::map<DiffKey, uint64_t> joined(std::vector<MeasuredRun> before, const std::vector<MeasuredRun>& after) {
  join_functions(&before, after);
  EXPECT_EQ(before[0].ticks, before[0].on_path);
  return before[0].ticks;
}

const Function kPut{"ns::put(int)", "_ZN2ns3putEi", 5}, kOfInt{"void t<int>(int)", "_Z1tIiEvT_", 6},
    kOfLong{"void t<long>(long)", "_Z1tIlEvT_", 7};

TEST(MatchingFunctions, ANameWithoutArgumentsIsTheOneThatHasThem) {
  const auto old_ticks =
      joined({run_of_functions({{"ns::put", "", 1}, {"t<int>", "", 2}, {"t<long>", "", 3}})},
             {run_of_functions({kPut, kOfInt, kOfLong})});
  const std::map<DiffKey, uint64_t> expected{
      {{kPut.name, "a.out"}, 1}, {{kOfInt.name, "a.out"}, 2}, {{kOfLong.name, "a.out"}, 3}};
  EXPECT_EQ(old_ticks, expected);
}

TEST(MatchingFunctions, OnEitherSide) {
  EXPECT_TRUE(joined({run_of_functions({kPut})}, {run_of_functions({{"ns::put", "", 1}})})
                  .contains({"ns::put", "a.out"}));
}

TEST(MatchingFunctions, ATemplateInAScopeAsPerfScriptHasIt) {
  const std::string name =
      "void std::sort<std::vector<int, std::allocator<int> > >(std::vector<int, std::allocator<int> >)";
  const std::string of_perf = "std::sort<std::vector<int, std::allocator<int> > >";
  EXPECT_TRUE(joined({run_of_functions({{of_perf, "", 1}})}, {run_of_functions({{name, "_ZSt4sort", 5}})})
                  .contains({name, "a.out"}));
}

TEST(MatchingFunctions, OfTwoOverloadsNobodyKnowsWhichIsMeant) {
  const Function other{"ns::put(long)", "_ZN2ns3putEl", 5};
  EXPECT_TRUE(joined({run_of_functions({{"ns::put", "", 1}})}, {run_of_functions({kPut, other})})
                  .contains({"ns::put", "a.out"}));
  EXPECT_TRUE(
      joined({run_of_functions({{"ns::put", "", 1}})}, {run_of_functions({kPut}), run_of_functions({other})})
          .contains({"ns::put", "a.out"}))
      << "in two runs";
}

/// An edited signature may be of another function.
TEST(MatchingFunctions, TwoNamesWithArgumentsAreTwoFunctions) {
  const Function edited{"ns::put(long)", "_ZN2ns3putEl", 5};
  EXPECT_TRUE(
      joined({run_of_functions({kPut})}, {run_of_functions({edited})}).contains({kPut.name, "a.out"}));
}

TEST(MatchingFunctions, OfAnotherObjectIsAnother) {
  EXPECT_TRUE(joined({run_of_functions({{"ns::put", "", 1}}, "other")}, {run_of_functions({kPut})})
                  .contains({"ns::put", "other"}));
}

}  // namespace
}  // namespace pctally
