#include "report/names/innermost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/one_unwind_entry_for_test.h"
#include "report/rollup.h"

namespace pctally {
namespace {

using testing::ElementsAre;
using testing::Pair;

std::vector<std::pair<std::string, uint64_t>> functions(const Profile& profile) {
  std::vector<std::pair<std::string, uint64_t>> rows;
  for (const Row& row : make_report(profile, &FakeSymbolizer::open, {}).rows)
    if (row.object == "prog") rows.emplace_back(row.function, row.ticks);
  return rows;
}

TEST(InnermostNames, OfAChoiceAreOfTheSymbolThatRan) {
  const Profile profile = two_symbols_of_one_entry(0, 20);
  EXPECT_THAT(functions(profile), ElementsAre(Pair("f3", 20), Pair("f1", 0)));
  EXPECT_THAT(functions(only_program_a(profile)), ElementsAre(Pair("f3", 10), Pair("f1", 0)));
  EXPECT_THAT(functions(through_f1(profile)), ElementsAre(Pair("f3", 20), Pair("f1", 0)));
  EXPECT_THAT(functions(through_f1(only_program_a(profile))), ElementsAre(Pair("f3", 10), Pair("f1", 0)));
}

/// The row has the object of the code, and so no note that its names are missing.
TEST(InnermostNames, OfAChoiceAreOfAllThatRanWhereThatIsNotKnown) {
  const Profile profile = two_symbols_of_one_entry(8, 12);
  EXPECT_THAT(functions(profile), ElementsAre(Pair("f3", 12), Pair("f2", 8), Pair("f1", 0)));
  for (const auto& [chosen, ticks] : {std::pair(only_program_a(profile), 10u), {through_f1(profile), 20u}}) {
    EXPECT_THAT(functions(chosen), ElementsAre(Pair("f2, f3", ticks), Pair("f1", 0)));
    const std::vector<Row> rows = make_report(chosen, &FakeSymbolizer::open, {}).rows;
    const auto row = std::ranges::find(rows, "f2, f3", &Row::function);
    ASSERT_NE(row, rows.end());
    EXPECT_EQ(row->total.low, ticks);
    EXPECT_EQ(row->total.high, ticks);
  }
}

}  // namespace
}  // namespace pctally
