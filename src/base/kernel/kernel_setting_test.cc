#include "base/kernel/kernel_setting.h"

#include <gtest/gtest.h>
#include <string.h>

namespace pctally {
namespace {

TEST(KernelSetting, TheBootHasOneId) {
  uint8_t one[16] = {}, again[16] = {}, none[16] = {};
  ASSERT_TRUE(read_boot_id(&one));
  ASSERT_TRUE(read_boot_id(&again));
  EXPECT_EQ(memcmp(one, again, sizeof one), 0);
  EXPECT_NE(memcmp(one, none, sizeof one), 0);
}

}  // namespace
}  // namespace pctally
