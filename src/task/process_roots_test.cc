#include "task/process_roots.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

namespace pctally {
namespace {

class ProcessRootsTest : public testing::Test {
 protected:
  void TearDown() override { std::ignore = system(("rm -r " + directory_).c_str()); }
  std::string find(const std::string& path) { return roots_.find(root_, path, {}); }

  ProcessRoots roots_;
  const std::string root_ = "/proc/" + std::to_string(getpid()) + "/root";
  const std::string directory_ = [] {
    char name[] = "/tmp/process_roots_test.XXXXXX";
    return std::string(mkdtemp(name));
  }();
};

TEST_F(ProcessRootsTest, AFileThatIsOursHasItsOwnPath) {
  EXPECT_EQ(find("/bin/sh"), "/bin/sh");
  EXPECT_EQ(find(directory_ + "/none"), root_ + directory_ + "/none");
  EXPECT_EQ(find("[vdso]"), "[vdso]");
}

// Containers come without end, each with a root of its own.
TEST_F(ProcessRootsTest, RemembersSoManyAnswersAtMost) {
  const std::string path = directory_ + "/late";
  EXPECT_EQ(find(path), root_ + path);
  const int late = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(close(late), 0);
  EXPECT_EQ(find(path), root_ + path) << "it is remembered";
  for (size_t i = 1; i < ProcessRoots::kMostKnown; ++i) find("/none" + std::to_string(i));
  EXPECT_EQ(find(path), root_ + path);
  find("/none");
  EXPECT_EQ(find(path), path) << "it is found again";
}

}  // namespace
}  // namespace pctally
