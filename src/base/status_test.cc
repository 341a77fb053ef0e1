#include "base/status.h"

#include <errno.h>
#include <gtest/gtest.h>

namespace pctally {
namespace {

TEST(Status, IsTrueUnlessSomethingWentWrong) {
  EXPECT_TRUE(Status());
  EXPECT_FALSE(Status(EAGAIN, "no timer is left"));
  EXPECT_EQ(Status(EAGAIN, "no timer is left").error(), EAGAIN);
  EXPECT_EQ(Status().error(), 0);
}

TEST(Status, GetsItsTextOutsideOfHandlers) {
  EXPECT_TRUE(explained(Status()));
  auto refused = explained({EAGAIN, "no timer is left"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, EAGAIN);
  EXPECT_STREQ(refused.error().text, "no timer is left");
  EXPECT_STREQ(explained({EPERM, "timer_create:"}).error().text, "timer_create: Operation not permitted");
}

}  // namespace
}  // namespace pctally
