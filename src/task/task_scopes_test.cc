#include "task/task_scopes.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

TEST(GroupIn, TakesTheUnifiedHierarchyOrTheLongestOfTheOthers) {
  EXPECT_EQ(group_in("0::/user.slice/a\n"), "/user.slice/a");
  EXPECT_EQ(group_in("2:cpu:/\n1:memory:/docker/abc\n0::/\n"), "/docker/abc");
  EXPECT_EQ(group_in("2:cpu:/long/path/here\n0::/x\n"), "/x");
  EXPECT_EQ(group_in("0::/\n"), "/");
  EXPECT_EQ(group_in("0::/x/y (deleted)\n"), "/x/y");
  EXPECT_EQ(group_in("0::/a:b\n"), "/a:b");
  EXPECT_EQ(group_in("nonsense"), "");
  EXPECT_EQ(group_in(""), "");
}

}  // namespace
}  // namespace pctally
