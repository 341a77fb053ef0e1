#include "perf/process_tree.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <thread>

#include "base/kernel/cpu_time_for_test.h"
#include "base/result.h"

namespace pctally {
namespace {

[[gnu::no_sanitize_address]] int wait_for_a_signal(void*) { return pause(); }

/// One that may not be sent a signal, as it is another user's, is there all the same.
TEST(ProcessTree, HasAProcessOfWhateverUser) {
  constexpr uid_t kNobody = 65534;
  const pid_t others = getpid(), child = fork();
  if (child == 0) {
    if (getuid() == 0 && setresuid(kNobody, kNobody, kNobody) != 0) _exit(2);
    const bool may_signal = kill(1, 0) == 0;
    if (may_signal) _exit(2);
    _exit(has_process(1) && has_process(others) && has_process(getpid()) ? 0 : 1);
  }
  EXPECT_TRUE(has_process(child));
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_FALSE(has_process(child));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) GTEST_SKIP() << "no process of another user";
  EXPECT_EQ(status, 0);
}

/// The kernel hands out the numbers of a thread's children by pages. These share our memory: a fork of it
/// takes milliseconds with AddressSanitizer.
TEST(ProcessTree, HasMoreChildrenThanAPageNames) {
  constexpr size_t kChildren = 1000, kStack = 512;
  std::vector<std::max_align_t> stacks(kChildren * kStack);
  std::vector<pid_t> children;
  while (children.size() < kChildren) {
    const pid_t pid =
        clone(wait_for_a_signal, &stacks[(children.size() + 1) * kStack - 1], CLONE_VM | SIGCHLD, nullptr);
    if (pid < 0) break;
    children.push_back(pid);
  }
  std::vector<pid_t> tree = process_tree(getpid());
  for (const pid_t pid : children) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  if (children.size() < kChildren || tree.size() == 1)
    GTEST_SKIP() << "no more processes, or /proc has no children";
  EXPECT_EQ(tree.front(), getpid());
  std::ranges::sort(tree);
  std::ranges::sort(children);
  EXPECT_TRUE(std::ranges::includes(tree, children)) << tree.size();
}

TEST(ProcessTree, OfAProcessThatIsThereTheClockIsRead) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::thread([] { burn(20'000'000); }).join();
    if (write(ready[1], "", 1) != 1) _exit(1);
    pause();
  }
  char byte;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_GE(cpu_ns_of(child).value_or(0), 20'000'000u) << "of a thread that has ended";
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(cpu_ns_of(child), std::nullopt);
  const uint64_t before = process_cpu_ns(), own = cpu_ns_of(0).value_or(0);
  EXPECT_GE(own, before);
  EXPECT_LE(own, process_cpu_ns());
}

TEST(ProcessTree, ThoseLeftOutTakeTheirDescendantsAlong) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const bool youngest = fork() == 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (youngest && write(ready[1], "", 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char byte;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(process_tree(getpid()).size(), 3u);
  EXPECT_EQ(process_tree(getpid(), {child}), std::vector<pid_t>{getpid()});
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
}

TEST(ProcessTree, ThreadsThatStartMeanwhileAreTakenInTheNextRound) {
  std::vector<std::vector<pid_t>> rounds;
  std::vector<std::jthread> threads;
  const auto done = for_threads_at_rest({getpid()}, [&](const std::vector<pid_t>& known) -> Result<void> {
    rounds.push_back(known);
    if (rounds.size() < 3)
      threads.emplace_back([](const std::stop_token& stop) {
        while (!stop.stop_requested()) sched_yield();
      });
    return {};
  });
  EXPECT_TRUE(done);
  ASSERT_EQ(rounds.size(), 3u);
  EXPECT_EQ(rounds[2].size(), rounds[0].size() + 2);
  const auto failed = for_threads_at_rest(
      {getpid()}, [](const std::vector<pid_t>&) -> Result<void> { return fail(EMFILE, "no more"); });
  EXPECT_EQ(failed.error().code, EMFILE);
}

}  // namespace
}  // namespace pctally
