#include "process/process_start.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/kernel/proc_file.h"
#include "histfile/fresh_file_for_test.h"

namespace pctally {
namespace {

constexpr uint64_t kMs = 1'000'000;

class ProcessStart : public testing::Test {
 protected:
  ProcessStart() { file_.header().period_ns = kMs; }

  uint32_t add(int32_t pid) { return add_process(file_, pid, 1, "x", "timer"); }
  ProcessRecord* record(uint32_t process) { return pool_at<ProcessRecord>(file_.pool(), process); }
  uint64_t resolve(uint32_t process, uint64_t used_ns, uint32_t before = 0, bool before_is_whole = true) {
    uint64_t ticks = account_start(file_, process, before, before_is_whole, used_ns);
    record(process)->ticks += ticks;
    return ticks;
  }
  /// Exec: the same process's next image.
  uint64_t exec(int32_t pid, uint64_t used_ns, bool before_is_whole = true) {
    uint32_t before = image_before(file_, pid);
    return resolve(add(pid), used_ns, before, before_is_whole);
  }

  FreshFile fresh_;
  ProfileFile& file_ = fresh_.file();
};

TEST_F(ProcessStart, WhatIsShortOfATickGoesToTheNextProcess) {
  EXPECT_EQ(resolve(add(1), 5 * kMs / 2), 2u);
  EXPECT_EQ(resolve(add(2), kMs * 4 / 10), 0u);
  EXPECT_EQ(resolve(add(3), kMs * 2 / 10), 1u);
  EXPECT_EQ(file_.header().start_owed_us, 100);
}

TEST_F(ProcessStart, TheSumIsExactForAPeriodOfAnyLength) {
  file_.header().period_ns = 943'217;
  uint64_t ticks = 0;
  for (int32_t pid = 1; pid <= 1000; ++pid) ticks += resolve(add(pid), 777'000);
  EXPECT_NEAR(static_cast<double>(ticks) * 943'217, 777e6, 2e6);
}

TEST_F(ProcessStart, AnImageOnlyAddsWhatCameAfterTheOneBefore) {
  uint32_t first = add(7);
  EXPECT_EQ(resolve(first, 3 * kMs), 3u);
  record(first)->ticks += 4;  // of its own
  EXPECT_EQ(exec(7, 9 * kMs), 2u);
  EXPECT_EQ(exec(7, 11 * kMs), 2u) << "the second image is the one before the third";
}

TEST_F(ProcessStart, TicksForMoreThanThereWasAreADebt) {
  uint32_t first = add(7);
  resolve(first, 0);
  record(first)->ticks = 4;  // a whole kernel tick, for 1 ms of life
  EXPECT_EQ(exec(7, 2 * kMs), 0u);
  EXPECT_EQ(file_.header().start_owed_us, -2000);
  EXPECT_EQ(resolve(add(8), 5 * kMs), 3u);
}

TEST_F(ProcessStart, AnImageIsFoundBehindAnyNumberOfChildren) {
  const uint32_t older = add(7), first = add(7);
  record(older)->started_ns = 1;  // of another process, which had the number before
  const uint64_t since_ns = record(first)->started_ns;
  for (int32_t child = 1000; child < 1300; ++child) add(child);
  EXPECT_EQ(image_before(file_, 7), 0u);
  EXPECT_EQ(image_before(file_, 7, since_ns), first);
  record(first)->flags |= kProcessExited;
  EXPECT_EQ(image_before(file_, 7, since_ns), 0u);
}

TEST_F(ProcessStart, AnImageThatWasThereForLongIsLeftAsItIs) {
  resolve(add(7), 0);
  EXPECT_EQ(exec(7, 500 * kMs), 0u) << "of which no tick was seen";
  EXPECT_EQ(exec(7, 503 * kMs), 3u);
}

TEST_F(ProcessStart, WhatCameAfterTheExecIsTheNewImages) {
  const uint32_t first = add(7);
  resolve(first, 0);
  record(first)->cpu_ns = 300 * kMs;
  EXPECT_EQ(exec(7, 500 * kMs), 200u) << "the first image lived for long: its ticks are its own affair";
  EXPECT_EQ(exec(7, 900 * kMs, false), 0u) << "nobody says when it was";
}

TEST_F(ProcessStart, AShortImageThatSaidWhenItEndedIsCorrectedToo) {
  const uint32_t first = add(7);
  resolve(first, 0);
  record(first)->ticks = 4;  // a whole kernel tick, for 2 ms of life
  record(first)->cpu_ns = 2 * kMs;
  EXPECT_EQ(exec(7, 202 * kMs), 198u);
}

TEST_F(ProcessStart, AfterAnImageWithoutKernelTimeTheStartIsKnownFromItsExec) {
  const uint32_t first = add(7);
  resolve(first, 0);
  record(first)->cpu_ns = 4 * kMs;
  EXPECT_EQ(exec(7, 9 * kMs, false), 5u);
}

TEST_F(ProcessStart, AnExecThatCannotHaveBeenIsNone) {
  const uint32_t first = add(7);
  resolve(first, 5 * kMs);
  record(first)->cpu_ns = 500 * kMs;
  EXPECT_EQ(exec(7, 100 * kMs), 0u);
}

TEST_F(ProcessStart, AnImageWithoutKernelTimeIsLeftAsItIs) {
  resolve(add(7), 0);
  EXPECT_EQ(exec(7, 5 * kMs, false), 0u);
  EXPECT_EQ(resolve(add(8), 5 * kMs, 0, false), 5u);
}

TEST_F(ProcessStart, OnlyAnImageThatIsStillThereIsTheOneBefore) {
  EXPECT_EQ(image_before(file_, 7), 0u);
  uint32_t seven = add(7);
  add(8);
  EXPECT_EQ(image_before(file_, 7), seven);
  record(seven)->flags |= kProcessExited;
  EXPECT_EQ(image_before(file_, 7), 0u);
  add_process(file_, 9, 1, "x", "");
  EXPECT_EQ(image_before(file_, 9), 0u) << "it was never observed";
}

TEST_F(ProcessStart, AnImageIsNoOlderThanItsProcess) {
  ProcStat stat;
  ASSERT_TRUE(read_proc_stat(0, &stat));
  uint32_t own = add(getpid());
  record(own)->started_ns = start_ns(stat, CLOCK_MONOTONIC) + kMs;
  EXPECT_EQ(own_image_before(file_, 0), own);
  uint32_t other = add(getpid());  // of another pid namespace
  record(other)->started_ns = start_ns(stat, CLOCK_MONOTONIC) - 20 * kMs;
  EXPECT_EQ(image_before(file_, getpid()), other);
  EXPECT_EQ(own_image_before(file_, 0), own);
}

TEST_F(ProcessStart, ARecordOfManyProcessesHasNone) {
  uint32_t together = add(0);
  record(together)->note = ProcessNote::kTogether;
  EXPECT_EQ(resolve(together, 5 * kMs), 0u);
}

TEST_F(ProcessStart, AFileThatSaysNonsenseIsSurvived) {
  uint32_t seven = add(7);
  file_.header().start_owed_us = INT32_MAX;
  file_.header().processes = 0x7fffffff;
  EXPECT_EQ(image_before(file_, 1), 0u);
  EXPECT_GT(resolve(seven, UINT64_MAX / 2), 0u);
  file_.header().period_ns = 0;
  EXPECT_EQ(resolve(seven, 5 * kMs), 0u);
}

}  // namespace
}  // namespace pctally
