#include "base/time_ns.h"

#include <gtest/gtest.h>
#include <limits.h>

namespace pctally {
namespace {

TEST(TimeNs, AWaitOfPollIsNotCutShort) {
  EXPECT_EQ(to_poll_ms(0), 0);
  EXPECT_EQ(to_poll_ms(1), 1);
  EXPECT_EQ(to_poll_ms(1000000), 1);
  EXPECT_EQ(to_poll_ms(1000001), 2);
  EXPECT_EQ(to_poll_ms(2 * kNsPerSecond), 2000);
}

TEST(TimeNs, NoWaitIsSoLongThatPollTakesItForNone) {
  EXPECT_GT(to_poll_ms(UINT64_MAX), 1000 * 3600 * 24);
  EXPECT_LT(to_poll_ms(UINT64_MAX), INT_MAX);
}

}  // namespace
}  // namespace pctally
