#include "perf/process_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/unique_fd.h"

namespace pctally {
namespace {

/// The kernel hands out the numbers of a thread's children by pages.
TEST(ProcessTree, HasMoreChildrenThanAPageNames) {
  constexpr size_t kChildren = 1000;
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  std::vector<pid_t> children;
  while (children.size() < kChildren) {
    const pid_t pid = fork();
    if (pid < 0) break;
    if (pid == 0) {
      to.reset();
      char byte;
      (void)!read(from.get(), &byte, 1);
      _exit(0);
    }
    children.push_back(pid);
  }
  std::vector<pid_t> tree = process_tree(getpid());
  to.reset();
  for (const pid_t pid : children) waitpid(pid, nullptr, 0);
  if (children.size() < kChildren || tree.size() == 1)
    GTEST_SKIP() << "no more processes, or /proc has no children";
  EXPECT_EQ(tree.front(), getpid());
  std::ranges::sort(tree);
  std::ranges::sort(children);
  EXPECT_TRUE(std::ranges::includes(tree, children)) << tree.size();
}

}  // namespace
}  // namespace pctally
