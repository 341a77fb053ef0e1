// bin_index.h against the naive oracle, and the oracle against itself.
#include <gtest/gtest.h>

#include "tests/oracle/index_sweep.h"

namespace {

using naive::IndexSweep;

testing::AssertionResult agrees(const IndexSweep& sweep) {
  if (sweep.mismatches == 0) return testing::AssertionSuccess() << sweep.cases << " look-ups";
  const pctally_bin_rule& rule = sweep.bad_rule;
  return testing::AssertionFailure() << sweep.mismatches << " of " << sweep.cases
                                     << " look-ups disagree, first: "
                                     << "family " << int{rule.family} << " scale " << rule.scale
                                     << " cell_shift " << int{rule.cell_shift} << " shift " << int{rule.shift}
                                     << " flags " << int{rule.flags} << " cells " << rule.cells << " origin "
                                     << rule.origin << " pc " << sweep.bad_pc;
}

TEST(IndexOracle, SmallDistancesExhaustively) {
  IndexSweep sweep;
  sweep.small_distances();
  EXPECT_TRUE(agrees(sweep));
  EXPECT_GT(sweep.cases, 4'000'000u);
}

TEST(IndexOracle, DistancesAroundPowersOfTwo) {
  IndexSweep sweep;
  sweep.wide_distances();
  EXPECT_TRUE(agrees(sweep));
  EXPECT_GT(sweep.cases, 1'000'000u);
}

TEST(IndexOracle, EveryScale) {
  IndexSweep sweep;
  sweep.all_scales();
  EXPECT_TRUE(agrees(sweep));
  EXPECT_GT(sweep.cases, 10'000'000u);
}

TEST(IndexOracle, RandomRules) {
  IndexSweep sweep;
  sweep.random_rules(1'000'000);
  EXPECT_TRUE(agrees(sweep));
}

// An empty buffer takes nothing, whatever else the rule says.
TEST(IndexOracle, NoCellsNoIndex) {
  for (int flags : {0, PCTALLY_BIN_SINGLE_CELL + 0, PCTALLY_BIN_ANY_PC + 0, 3})
    for (int family = 0; family < 4; ++family) {
      pctally_bin_rule rule{0, 0, 0x10000, static_cast<uint8_t>(family), 1, 0, static_cast<uint8_t>(flags)};
      uint64_t index = 0;
      for (uint64_t pc : {uint64_t{0}, uint64_t{64}, naive::kTop})
        EXPECT_FALSE(pctally_bin_index(&rule, pc, &index));
    }
}

// The oracle on machines without a 128-bit integer is the same oracle.
TEST(IndexOracle, LongDivisionAgreesWithTheCompiler) {
  naive::Random random(3);
  for (int i = 0; i < 200'000; ++i) {
    pctally_bin_rule rule{0,
                          random.magnitude(47) + 1,
                          static_cast<uint32_t>(random.magnitude(32)),
                          static_cast<uint8_t>(i & 3),
                          static_cast<uint8_t>(1 + i % 3),
                          static_cast<uint8_t>(i % 64),
                          0};
    uint64_t pc = random.magnitude(64), with_digits = 0, with_wide = 0;
    ASSERT_EQ(naive::counts<naive::Digits>(rule, pc, &with_digits), naive::counts(rule, pc, &with_wide));
    ASSERT_EQ(with_digits, with_wide);
    naive::Digits end(0);
    naive::Wide wide_end(0);
    ASSERT_EQ(naive::first_uncovered<naive::Digits>(rule, &end), naive::first_uncovered(rule, &wide_end));
    ASSERT_EQ(static_cast<uint64_t>(end), static_cast<uint64_t>(wide_end));
  }
}

}  // namespace
