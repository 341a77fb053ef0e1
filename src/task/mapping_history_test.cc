#include "task/mapping_history.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

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

TEST_F(MappingHistoryTest, IsNotReadMoreOftenThanItIsWorth) {
  history_ = MappingHistory(1000000);
  load(0);
  EXPECT_FALSE(read());
  load(1);
  EXPECT_FALSE(read());
  EXPECT_FALSE(doubtful());
}

}  // namespace
}  // namespace pctally
