// Call paths of a process that records itself: what pctally_start() takes and refuses, and the account.
#include <errno.h>
#include <gtest/gtest.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "histread/path_reader.h"
#include "pctally/pctally.h"
#include "recording_for_test.h"

#if defined(__x86_64__) || defined(__aarch64__)

namespace pctally {
namespace {

class SelfPathsTest : public RecordingTest {
 protected:
  void SetUp() override {
    RecordingTest::SetUp();
    options_.flags = PCTALLY_CALLERS | PCTALLY_OVERWRITE;
    options_.engine = "timer";
    if (pctally_start(&options_) != 0) GTEST_SKIP() << pctally_error();
    pctally_stop();
  }
  void expect_refused(const pctally_options& options, const char* words) {
    EXPECT_EQ(pctally_start(&options), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_NE(std::string(pctally_error()).find(words), std::string::npos) << pctally_error();
  }
};

uint64_t cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1000000;
}

TEST_F(SelfPathsTest, TheyNeedAnEngineThatInterruptsAndABoundThatMakesSense) {
  for (uint64_t bytes : {uint64_t{1}, uint64_t{65535}, uint64_t{24 << 20} + 1}) {
    pctally_options wrong = options_;
    wrong.path_bytes = bytes;
    expect_refused(wrong, "path_bytes must lie between");
  }
  pctally_options flat = options_;
  flat.flags = 0;
  flat.path_bytes = 1 << 20;
  expect_refused(flat, "add PCTALLY_CALLERS");
  pctally_options manual = options_;
  manual.engine = "manual";
  expect_refused(manual, "needs an engine");
  manual.engine = nullptr;
  manual.flags |= PCTALLY_NO_TIMER;
  expect_refused(manual, "needs an engine");
}

TEST_F(SelfPathsTest, AProgramThatWasBuiltBeforeTheyWereThereIsServed) {
  struct {
    size_t size;
    const char* path;
    uint64_t period_ns;
    unsigned flags;
    const char* engine;
  } old = {sizeof old, path_.c_str(), 0, PCTALLY_OVERWRITE | PCTALLY_NO_TIMER, nullptr};
  static_assert(sizeof old == offsetof(pctally_options, path_bytes));
  ASSERT_EQ(pctally_start(reinterpret_cast<const pctally_options*>(&old)), 0) << pctally_error();
  ASSERT_EQ(pctally_stop(), 0);
  EXPECT_FALSE(load().paths.recorded);
}

TEST_F(SelfPathsTest, TicksByHandHaveAPlaceAndNoStack) {
  options_.period_ns = 10'000'000'000;  // no other tick
  ASSERT_EQ(pctally_start(&options_), 0) << pctally_error();
  int data = 0;
  EXPECT_EQ(pctally_count(reinterpret_cast<const void*>(&getpid), 5), 0);
  EXPECT_EQ(pctally_count(&data, 2), 0);
  ASSERT_EQ(pctally_stop(), 0);
  const Profile profile = load();
  ASSERT_TRUE(profile.paths.recorded);
  EXPECT_TRUE(profile.paths.first_come);
  EXPECT_EQ(sum_of_paths(profile.paths), 7u);
  EXPECT_EQ(profile.ledger.counted, 5u);
  EXPECT_EQ(profile.ledger.outside, 2u);
  for (const PathTreeNode& node : profile.paths.context) {
    if (node.self == 0) continue;
    const PathTreeNode& cut = node.self == 5 ? profile.paths.context[node.parent] : node;
    EXPECT_EQ(node.self, node.kind == PathNodeKind::kCode ? 5u : 2u);
    EXPECT_EQ(cut.kind, PathNodeKind::kCut);
    EXPECT_EQ(cut.position, static_cast<uint64_t>(PathEnd::kByHand));
  }
}

TEST_F(SelfPathsTest, AFileWithoutRoomForThemIsAnErrorAndLeavesNothing) {
  std::filesystem::remove(path_);
  const pid_t child = fork();
  if (child == 0) {
    rlimit limit = {12 << 20, 12 << 20};  // enough without them
    setrlimit(RLIMIT_FSIZE, &limit);
    const bool refused = pctally_start(&options_) == -1 && errno == EFBIG && !std::filesystem::exists(path_);
    options_.path_bytes = 1 << 20;
    _exit(refused && pctally_start(&options_) == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(SelfPathsTest, TheyEndWhileTheirThreadsTickAndEveryTickHasOne) {
  std::atomic<bool> stop = false;
  options_.period_ns = 100'000;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&stop] {
      for (volatile uint64_t work = 0; !stop;) work = work + 1;
    });
  uint64_t ticks = 0;
  for (int round = 0; round < 10; ++round) {
    ASSERT_EQ(pctally_start(&options_), 0) << pctally_error();
    for (const uint64_t end = cpu_ms() + 20; cpu_ms() < end;) (void)pctally_refresh();
    ASSERT_EQ(pctally_stop(), 0);
    const Profile profile = load();
    const TickLedger& ledger = profile.ledger;
    EXPECT_EQ(sum_of_paths(profile.paths), ledger.counted + ledger.outside + ledger.full);
    EXPECT_TRUE(profile.damage.empty());
    ticks += ledger.counted;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(ticks, 0u);
}

}  // namespace
}  // namespace pctally

#endif
