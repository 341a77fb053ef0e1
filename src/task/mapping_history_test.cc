#include "task/mapping_history.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <string>

#include "base/time_ns.h"

namespace pctally {
namespace {

class MappingHistoryTest : public testing::Test {
 protected:
  MappingHistoryTest() {
    for (int& file : files_) {
      char name[] = "/tmp/pctally-test-XXXXXX";
      file = mkstemp(name);
      unlink(name);
      EXPECT_EQ(ftruncate(file, kBytes), 0);
    }
    place_ = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  ~MappingHistoryTest() override {
    munmap(place_, kBytes);
    for (int file : files_) close(file);
  }
  void load(int file) {
    ASSERT_EQ(mmap(place_, kBytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, files_[file], 0), place_);
  }
  void unload() { (void)mmap(place_, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0); }
  void note_unload() {
    const auto start = reinterpret_cast<uintptr_t>(place_);
    history_.note_unload(start, start + kBytes);
  }
  bool read() { return history_.read(0); }
  bool doubtful() { return history_.is_doubtful(reinterpret_cast<uintptr_t>(place_) + 16); }

  static constexpr size_t kBytes = 4096;
  int files_[2];
  void* place_;
  MappingHistory history_{0};
};

TEST_F(MappingHistoryTest, AFileThatStaysIsCertainAndItsGoingIsSeen) {
  EXPECT_FALSE(read());
  EXPECT_FALSE(doubtful());
  load(0);
  EXPECT_FALSE(read()) << "it came, and took nobody's place";
  EXPECT_FALSE(doubtful());
  EXPECT_FALSE(read());
  EXPECT_FALSE(doubtful());
  unload();
  EXPECT_TRUE(read());
  EXPECT_TRUE(doubtful());
  load(0);
  read();
  EXPECT_FALSE(doubtful()) << "the same file again";
}

// It says which ticks may be of the file that was there: those before it.
TEST_F(MappingHistoryTest, AReplacementAfterAnUnloadIsCertainOnceItIsRead) {
  load(0);
  EXPECT_FALSE(read());
  note_unload();
  load(1);
  EXPECT_TRUE(doubtful()) << "not read yet";
  EXPECT_TRUE(read());
  EXPECT_FALSE(doubtful());
  history_.note_unload(16, 32);
  EXPECT_FALSE(doubtful()) << "it lay elsewhere";
  EXPECT_TRUE(read());
  EXPECT_FALSE(doubtful());
  for (uint64_t i = 0; i < 100; ++i) history_.note_unload(i, i + 1);
  EXPECT_TRUE(doubtful()) << "more than are kept";
  EXPECT_TRUE(read());
  load(0);
  EXPECT_TRUE(read());
  EXPECT_TRUE(doubtful()) << "by munmap(2)";
}

TEST_F(MappingHistoryTest, WhatIsKnownToHaveGoneIsNotReplaced) {
  load(0);
  EXPECT_FALSE(read());
  note_unload();
  unload();
  EXPECT_TRUE(read());
  load(1);
  EXPECT_FALSE(read());
  EXPECT_FALSE(doubtful());
}

TEST_F(MappingHistoryTest, AfterAReplacementTheNextReadingsAreInDoubt) {
  load(0);
  EXPECT_FALSE(read());
  load(1);
  EXPECT_TRUE(read());
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(doubtful());
    EXPECT_FALSE(read());
  }
  EXPECT_TRUE(doubtful());
  EXPECT_FALSE(read());
  EXPECT_FALSE(doubtful());
}

/// The mark of an unload while maps are read is taken after that.
TEST_F(MappingHistoryTest, AnUnloadThatIsNotedAfterTheReadingExplainsWhatThatFound) {
  load(0);
  EXPECT_FALSE(read());
  load(1);
  EXPECT_TRUE(read());
  EXPECT_TRUE(doubtful()) << "nobody has said yet when the first went";
  note_unload();
  EXPECT_TRUE(doubtful()) << "until the next reading";
  EXPECT_TRUE(read());
  EXPECT_FALSE(doubtful());
}

TEST_F(MappingHistoryTest, AnUnloadExplainsNoEarlierReplacement) {
  load(0);
  EXPECT_FALSE(read());
  load(1);
  EXPECT_TRUE(read());
  EXPECT_FALSE(read());
  note_unload();
  EXPECT_TRUE(read());
  EXPECT_TRUE(doubtful());
}

TEST_F(MappingHistoryTest, IsNotReadMoreOftenThanItIsWorth) {
  history_ = MappingHistory(1000000);
  load(0);
  EXPECT_FALSE(read());
  load(1);
  EXPECT_FALSE(read());
  EXPECT_FALSE(doubtful());
}

/// Recorders wait for a CPU beside busy programs: that makes a reading long, not dear. Here a signal's
/// handler sleeps in the middle of one, of 20,000 mappings.
TEST_F(MappingHistoryTest, WhatAReadingWaitedForIsNotWhatItCost) {
  constexpr size_t kMappings = 20000;
  constexpr uint64_t kWaitNs = 500000000;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* many = mmap(nullptr, kMappings * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(many, MAP_FAILED);
  for (size_t i = 0; i < kMappings; i += 2)
    ASSERT_EQ(mprotect(static_cast<char*>(many) + i * page, page, PROT_READ), 0);
  history_ = MappingHistory(25);
  load(0);
  struct sigaction wait {
  }, before{};
  wait.sa_handler = [](int) { sleep_ns(kWaitNs); };
  wait.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &wait, &before);
  const itimerval soon{{}, {0, 500}};
  const uint64_t began = monotonic_ns();
  setitimer(ITIMER_REAL, &soon, nullptr);
  EXPECT_FALSE(read());
  const uint64_t read_at = monotonic_ns();
  ASSERT_GT(read_at - began, kWaitNs) << "nothing held the reading up";
  sigaction(SIGALRM, &before, nullptr);
  load(1);
  while (!read()) {
  }
  EXPECT_LT(monotonic_ns() - read_at, 25 * kWaitNs);
  munmap(many, kMappings * page);
}

}  // namespace
}  // namespace pctally
