#include "recorder/child.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

namespace pctally {
namespace {

/// While it lives `count` descriptors more can be had, and no others.
class DescriptorsLeft {
 public:
  explicit DescriptorsLeft(size_t count) {
    constexpr rlim_t kMost = 64;
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit limit = {kMost, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &limit);
    for (int fd = dup(STDIN_FILENO); fd >= 0; fd = dup(STDIN_FILENO)) taken_.emplace_back(fd);
    taken_.resize(taken_.size() - count);
  }
  DescriptorsLeft(const DescriptorsLeft&) = delete;
  DescriptorsLeft& operator=(const DescriptorsLeft&) = delete;
  ~DescriptorsLeft() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
  std::vector<UniqueFd> taken_;
};

/// Without the one for its signals it would wait for ever, with all signals blocked.
TEST(Child, IsNotForkedWithoutADescriptorForEachOfItsEnds) {
  constexpr size_t kEnough = 5;
  sigset_t before;
  sigprocmask(SIG_BLOCK, nullptr, &before);
  for (size_t count = 0; count <= kEnough; ++count) {
    pid_t pid = 0;
    {
      const DescriptorsLeft left(count);
      const auto child = Child::fork("/bin/true", {"true"}, false);
      EXPECT_EQ(bool(child), count == kEnough) << count;
      if (child) {
        pid = child->pid();
      } else {
        EXPECT_EQ(child.error().code, EMFILE);
        EXPECT_STREQ(child.error().text, "too many open files; raise ulimit -n");
      }
    }
    if (pid == 0) continue;
    EXPECT_EQ(waitpid(pid, nullptr, 0), pid) << "it was never let go";
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace pctally
