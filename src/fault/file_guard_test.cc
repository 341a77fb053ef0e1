#include "fault/file_guard.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "histfile/fresh_file_for_test.h"
#include "histfile/histogram.h"
#include "tick/tick.h"

namespace pctally {
namespace {

constexpr uint64_t kText = 1 << 16;

class FileGuard : public testing::Test {
 protected:
  FileGuard() {
    ObjectIdentity object;
    object.path = "/bin/x";
    uint32_t segment = find_or_add_segment(file_, find_or_add_object(file_, object), 0, kText);
    region_ = tree_region(file_.pool(), 0, kText - 1, segment, 0);
    seal_regions(&region_, 1);
    table_.regions = &region_;
    table_.count = 1;
    table_.pool = file_.pool();
    table_.ledger = &file_.header().ledger;
    table_.stopped = &file_.header().ended;
    EXPECT_TRUE(guard_file(file_));
  }
  ~FileGuard() override { unguard_file(); }

  void cut(off_t bytes) { ASSERT_EQ(truncate(fresh_.path().c_str(), bytes), 0); }

  FreshFile fresh_;
  ProfileFile& file_ = fresh_.file();
  Region region_{};
  RegionTable table_{};
};

TEST_F(FileGuard, TicksOfACutFileAreNone) {
  EXPECT_EQ(tick(table_, 0x1234, 1), TickOutcome::kCounted);
  cut(0);
  for (uint64_t pc = 0; pc < kText; pc += 5) EXPECT_EQ(tick(table_, pc, 1), TickOutcome::kStopped);
}

// The end of a recording is asked for first, and is still there.
TEST_F(FileGuard, AFileThatKeepsItsHeaderIsGoneAllTheSame) {
  cut(sysconf(_SC_PAGESIZE));
  for (uint64_t pc = 0; file_.header().version != 0 && pc < kText; pc += 16) tick(table_, pc, 1);
  EXPECT_EQ(file_.header().version, 0u) << "empty memory is in its place";
  EXPECT_EQ(tick(table_, 0x1234, 1), TickOutcome::kStopped);
}

TEST_F(FileGuard, TheRecorderNeitherGrowsNorClosesIt) {
  cut(0);
  EXPECT_FALSE(file_.make_room(kInitialBytes / kUnitBytes)) << "more than there is";
  EXPECT_EQ(add_process(file_, 1, 1, "x", "timer"), 0u);
  file_.beat();
  auto closed = file_.close(true);
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, EIO);
  EXPECT_EQ(std::filesystem::file_size(fresh_.path()), 0u);
}

TEST_F(FileGuard, ACutThatNobodyMetIsToldAtTheEnd) {
  cut(static_cast<off_t>(kInitialBytes) - 1);
  EXPECT_FALSE(file_.close(true));
}

void touch(const MappedFile& map) { *static_cast<volatile unsigned char*>(map.data()) = 1; }

TEST_F(FileGuard, OtherFaultsAreTheProgramsOwn) {
  FreshFile other;
  ASSERT_EQ(truncate(other.path().c_str(), 0), 0);
  EXPECT_DEATH(touch(other.file().mapping()), "");
  unguard_file();
  cut(0);
  EXPECT_DEATH(touch(file_.mapping()), "");
}

TEST_F(FileGuard, AHandlerThatWasThereBeforeGetsTheOthers) {
  FreshFile other;
  EXPECT_EXIT(
      {
        signal(SIGBUS, [](int) { _exit(7); });
        if (!guard_file(file_)) _exit(1);
        cut(0);
        touch(file_.mapping());
        if (truncate(other.path().c_str(), 0) != 0) _exit(2);
        touch(other.file().mapping());
      },
      testing::ExitedWithCode(7), "");
}

TEST_F(FileGuard, WhoIgnoresTheSignalIsLeftAlone) {
  struct sigaction before, now;
  sigaction(SIGBUS, nullptr, &before);
  signal(SIGBUS, SIG_IGN);
  EXPECT_TRUE(guard_file(file_));
  sigaction(SIGBUS, &before, &now);
  EXPECT_EQ(now.sa_handler, SIG_IGN);
}

}  // namespace
}  // namespace pctally
