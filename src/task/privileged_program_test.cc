#include "task/privileged_program.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace pctally {
namespace {

class PrivilegedProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "privileged_XXXXXX";
    directory_ = mkdtemp(pattern.data());
    path_ = getenv("PATH");
    setenv("PATH", ("relative:" + directory_ + ":/nowhere").c_str(), 1);
  }
  void TearDown() override {
    setenv("PATH", path_.c_str(), 1);
    std::filesystem::remove_all(directory_);
  }
  void make(const std::string& name, mode_t mode) {
    std::ofstream(directory_ + "/" + name) << "text";
    ASSERT_EQ(chmod((directory_ + "/" + name).c_str(), mode), 0);
  }
  std::string directory_, path_;
};

TEST_F(PrivilegedProgramTest, IsOneByItsFileInPath) {
  make("pct-plain", 0755);
  make("pct-setuid", 04755);
  make("pct-setgid", 02755);
  EXPECT_TRUE(may_be_privileged("pct-setuid"));
  EXPECT_TRUE(may_be_privileged("pct-setgid"));
  EXPECT_TRUE(may_be_privileged("pct-of-15-bytes")) << "names are cut: it may be another";
  if (may_be_privileged("pct-plain")) GTEST_SKIP() << "this kernel does not tell what it has in memory";
  EXPECT_FALSE(may_be_privileged("pct-nowhere"));
}

}  // namespace
}  // namespace pctally
