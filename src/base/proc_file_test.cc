#include "base/proc_file.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace pctally {
namespace {

TEST(ProcFile, OwnStatAndThatByNumberAreOne) {
  prctl(PR_SET_NAME, "a) R 1 2 (b", 0, 0, 0);  // a name that looks like what follows it
  ProcStat own, numbered;
  ASSERT_TRUE(read_proc_stat(0, &own));
  ASSERT_TRUE(read_proc_stat(getpid(), &numbered));
  EXPECT_EQ(own.state, 'R');
  EXPECT_EQ(own.parent, getppid());
  EXPECT_EQ(own.threads, 1u);
  EXPECT_GT(own.started, 0u);
  EXPECT_EQ(own.started, numbered.started);
}

TEST(ProcFile, IsCutAndEndedByAZeroByte) {
  char text[5];
  memset(text, 'x', sizeof text);
  EXPECT_EQ(read_proc_file(0, "status", text, sizeof text), 4u);
  EXPECT_STREQ(text, "Name");
  EXPECT_EQ(read_proc_file(0, "no such file", text, sizeof text), 0u);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_STREQ(text, "");
}

TEST(ProcFile, TheNumberInsideIsTheLastOne) {
  EXPECT_EQ(number_inside("Name:\tx\nNSpid:\t21185\t12\t1\nNSpgid:\t7\n"), 1);
  EXPECT_EQ(number_inside("Name:\tx\nNSpid:\t42\n"), 42);
  EXPECT_EQ(number_inside("Name:\tx\nNSpid:\t42"), 42) << "cut";
  EXPECT_EQ(number_inside("Name:\tx\n"), 0) << "before Linux 4.1";
  char text[4096];
  ASSERT_NE(read_proc_file(0, "status", text, sizeof text), 0u);
  EXPECT_EQ(number_inside(text), getpid());
}

TEST(ProcFile, AProcessThatIsGoneHasNone) {
  ProcStat stat;
  EXPECT_FALSE(read_proc_stat(1 << 23, &stat));
}

}  // namespace
}  // namespace pctally
