#include "report/print/figures.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

TEST(Figures, ThousandsAreGrouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(123456), "123,456");
  EXPECT_EQ(grouped(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(Figures, OneIsNotMany) {
  EXPECT_EQ(counted(1, "tick"), "1 tick");
  EXPECT_EQ(counted(0, "tick"), "0 ticks");
  EXPECT_EQ(counted(1500, "tick"), "1,500 ticks");
}

TEST(Figures, ShortTimesAreInMilliseconds) {
  EXPECT_EQ(duration_text(400000), "0.4 ms");
  EXPECT_EQ(duration_text(9999999), "10.0 ms");
  EXPECT_EQ(duration_text(10000000), "0.01 s");
  EXPECT_EQ(duration_text(1064000000), "1.06 s");
}

TEST(Figures, LargeNumbersHaveAllTheirDigitsAndNoExponent) {
  EXPECT_EQ(rounded(1751.2, 3), "1751");
  EXPECT_EQ(rounded(123456789, 2), "123456789");
  EXPECT_EQ(rounded(12.345, 3), "12.3");
  EXPECT_EQ(rounded(-0.035899, 3), "-0.0359");
  EXPECT_EQ(rounded(0.00001234, 3), "0.0000123");
  EXPECT_EQ(rounded(9.9999, 3), "10");
  EXPECT_EQ(rounded(120, 3), "120");
  EXPECT_EQ(rounded(0, 3), "0");
  EXPECT_EQ(rounded(-1e-20, 3), "0");
  EXPECT_EQ(signed_rounded(0, 3), "+0");
  EXPECT_EQ(signed_rounded(-2.5, 3), "-2.5");
  EXPECT_EQ(signed_rounded(1500, 3), "+1500");
}

}  // namespace
}  // namespace pctally
