#include "histfile/profile_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "histfile/histogram.h"
#include "tick/tick.h"

namespace {

constexpr off_t kNotInterrupted = 1 << 16;
unsigned g_interruptions = 0;  ///< of longer calls, to come

}  // namespace

/// In front of the C library's: as tmpfs of Linux 6.1 does where signals come.
extern "C" int posix_fallocate(int fd, off_t at, off_t bytes) {
  if (bytes > kNotInterrupted && g_interruptions > 0) return --g_interruptions, EINTR;
  return fallocate(fd, 0, at, bytes) == 0 ? 0 : errno;
}

namespace pctally {
namespace {

class ProfileFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "profile_file_XXXXXX";
    directory_ = mkdtemp(pattern.data());
    path_ = directory_ + "/a.pct";
    settings_.path = path_.c_str();
    settings_.engine = "timer";
    settings_.period_ns = settings_.period_asked_ns = 1000000;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  Result<ProfileFile> make() {
    auto file = ProfileFile::create(settings_);
    if (!file) return file;
    if (auto placed = file->place(); !placed) return std::unexpected(placed.error());
    return file;
  }

  std::string directory_, path_;
  ProfileFile::Settings settings_;
};

/// While it lives no file may grow beyond so many bytes, on pain of SIGXFSZ.
class SizeLimit {
 public:
  explicit SizeLimit(uint64_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = {static_cast<rlim_t>(bytes), before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  SizeLimit(const SizeLimit&) = delete;
  SizeLimit& operator=(const SizeLimit&) = delete;
  ~SizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(ProfileFileTest, IsAllocatedBeforeTheFirstTick) {
  auto file = make();
  ASSERT_TRUE(file) << file.error().text;
  struct stat status;
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(static_cast<uint64_t>(status.st_size), kInitialBytes);
  EXPECT_GE(static_cast<uint64_t>(status.st_blocks) * 512, kInitialBytes);
}

TEST_F(ProfileFileTest, ModeIs0600WhateverTheUmask) {
  for (mode_t mask : {0u, 0022u, 0777u}) {
    mode_t old = umask(mask);
    settings_.overwrite = true;
    EXPECT_TRUE(make());
    umask(old);
    struct stat status;
    ASSERT_EQ(stat(path_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u);
  }
}

TEST_F(ProfileFileTest, AnOlderProfileIsKeptUnlessToldOtherwise) {
  ASSERT_TRUE(make());
  auto refused = make();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, EEXIST);
  settings_.overwrite = true;
  EXPECT_TRUE(make());
}

TEST_F(ProfileFileTest, WhatIsNoProfileIsNeverReplaced) {
  std::ofstream(path_) << "precious";
  settings_.overwrite = true;
  auto refused = make();
  ASSERT_FALSE(refused);
  EXPECT_NE(std::string(refused.error().text).find("is not a profile file"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(path_), 8u);
}

TEST_F(ProfileFileTest, AnOlderProfileStaysUntilTheNewOneTakesItsName) {
  ASSERT_TRUE(make());
  auto older = std::filesystem::last_write_time(path_);
  settings_.overwrite = true;
  {
    SizeLimit limit(kInitialBytes - 1);
    EXPECT_FALSE(make());
  }
  auto file = ProfileFile::create(settings_);
  ASSERT_TRUE(file) << file.error().text;
  file->discard();
  EXPECT_EQ(std::filesystem::last_write_time(path_), older);
}

TEST_F(ProfileFileTest, SymbolicLinkIsNotFollowed) {
  std::string victim = directory_ + "/victim";
  std::ofstream(victim) << "precious";
  ASSERT_EQ(symlink(victim.c_str(), path_.c_str()), 0);
  for (bool overwrite : {false, true}) {
    settings_.overwrite = overwrite;
    EXPECT_FALSE(make());
  }
  EXPECT_EQ(std::filesystem::file_size(victim), 8u);
}

TEST_F(ProfileFileTest, NoRoomIsAnErrorAndLeavesNothing) {
  auto file = [this] {
    SizeLimit limit(kInitialBytes - 1);
    return make();
  }();
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, EFBIG);
  EXPECT_NE(std::string(file.error().text).find("ulimit -f"), std::string::npos) << file.error().text;
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(ProfileFileTest, WithoutRoomToGrowItStaysAsItIs) {
  SizeLimit limit(kInitialBytes);
  auto file = make();
  ASSERT_TRUE(file) << file.error().text;
  uint32_t before = file->header().pool.limit;
  EXPECT_FALSE(file->make_room(before));
  EXPECT_EQ(file->header().pool.limit, before);
  EXPECT_EQ(std::filesystem::file_size(path_), kInitialBytes);
}

TEST_F(ProfileFileTest, GrowsOnlyWhileThereIsRoom) {
  auto file = make();
  ASSERT_TRUE(file);
  uint32_t before = file->header().pool.limit;
  bool roomy = sizeof(void*) == 8;  // elsewhere address space is rationed, and the file is what it was made
  EXPECT_EQ(file->make_room(before), roomy);
  EXPECT_EQ(file->header().pool.limit > before, roomy);
  EXPECT_FALSE(file->make_room(kLargestBytes / kUnitBytes));
  struct stat status;
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_GE(static_cast<uint64_t>(status.st_size),
            kHeaderBytes + uint64_t{file->header().pool.limit} * kUnitBytes);
}

TEST_F(ProfileFileTest, SignalsDoNotStandForADiskWithoutRoom) {
  if (sizeof(void*) < 8) GTEST_SKIP() << "it does not grow";
  g_interruptions = 3;
  auto file = make();
  ASSERT_TRUE(file) << file.error().text;
  const uint32_t before = file->header().pool.limit;
  for (const unsigned often : {1u, ~0u}) {
    g_interruptions = often;
    EXPECT_TRUE(file->make_room(file->header().pool.limit));
    EXPECT_EQ(file->no_room_code(), 0);
  }
  g_interruptions = 0;
  EXPECT_GT(file->header().pool.limit, before);
  EXPECT_GE(std::filesystem::file_size(path_),
            kHeaderBytes + uint64_t{file->header().pool.limit} * kUnitBytes);
}

TEST_F(ProfileFileTest, JoinedByAnotherItCountsAndIsCutAtTheEnd) {
  auto file = make();
  ASSERT_TRUE(file);
  file->header().state = FileState::kRecording;
  auto joined = ProfileFile::join(path_.c_str(), file->recording_id().text);
  ASSERT_TRUE(joined) << joined.error().text;
  ObjectIdentity object;
  object.path = "/bin/x";
  uint32_t unit = find_or_add_object(*joined, object);
  EXPECT_EQ(find_or_add_object(*file, object), unit);
  uint32_t segment = find_or_add_segment(*joined, unit, 0x1000, 0x2000);
  EXPECT_EQ(find_or_add_segment(*file, unit, 0x1100, 0x100), segment);
  Region region = tree_region(joined->pool(), 0x401000, 0x402fff, segment, 0x1000);
  RegionTable table{};
  table.regions = &region;
  table.count = 1;
  table.pool = joined->pool();
  table.ledger = &joined->header().ledger;
  table.stopped = &joined->header().ended;
  seal_regions(&region, 1);
  EXPECT_EQ(tick(table, 0x401234, 3), TickOutcome::kCounted);
  EXPECT_EQ(file->header().ledger.counted, 3u);
  ASSERT_TRUE(file->close(true));
  EXPECT_EQ(std::filesystem::file_size(path_), kHeaderBytes + file->header().pool.used * kUnitBytes);
  EXPECT_EQ(tick(table, 0x401234, 3), TickOutcome::kStopped);
  EXPECT_EQ(file->header().ledger.counted, 3u);
  EXPECT_FALSE(ProfileFile::join(path_.c_str(), file->recording_id().text)) << "a closed file is not joined";
}

TEST_F(ProfileFileTest, JoinRefusesWhatIsNotALiveProfile) {
  std::ofstream(path_) << std::string(8192, 'x');
  EXPECT_FALSE(ProfileFile::join(path_.c_str(), ""));
  EXPECT_FALSE(ProfileFile::join("/dev/null", ""));
  EXPECT_FALSE(ProfileFile::join("/nonexistent", ""));
}

TEST_F(ProfileFileTest, ProcessesBeyondTheLimitAreCountedTogether) {
  auto file = make();
  ASSERT_TRUE(file);
  file->make_room(kMostProcesses * 2 + 100);
  uint32_t last = 0;
  for (uint32_t i = 0; i < kMostProcesses + 10; ++i) {
    uint32_t unit = add_process(*file, static_cast<int32_t>(i + 1), 1, "x", "ring");
    ASSERT_NE(unit, 0u);
    if (i > kMostProcesses) {
      EXPECT_EQ(unit, last);
    }
    last = unit;
  }
  EXPECT_EQ(pool_at<ProcessRecord>(file->pool(), last)->note, ProcessNote::kTogether);
}

TEST_F(ProfileFileTest, IsLockedWhileItsRecorderLives) {
  auto file = make();
  ASSERT_TRUE(file);
  UniqueFd other(open(path_.c_str(), O_RDONLY));
  EXPECT_NE(flock(other.get(), LOCK_SH | LOCK_NB), 0);
  ASSERT_TRUE(file->close(true));
  EXPECT_EQ(flock(other.get(), LOCK_SH | LOCK_NB), 0);
}

/// Its number is another file's now, which has more bytes than the profile.
TEST_F(ProfileFileTest, WhoseDescriptorTheProgramClosedTouchesNoOtherFile) {
  constexpr uint64_t kBytes = 2 * kInitialBytes;
  const std::string other = directory_ + "/database";
  std::ofstream(other) << std::string(kBytes, 'x');
  auto file = make();
  ASSERT_TRUE(file) << file.error().text;
  const uint32_t limit = file->header().pool.limit;
  const UniqueFd opened(open(other.c_str(), O_RDWR | O_CLOEXEC));
  const int fd = file->fd();
  ASSERT_EQ(dup2(opened.get(), fd), fd);
  EXPECT_TRUE(file->make_room(0)) << "there is room";
  EXPECT_FALSE(file->make_room(limit));
  EXPECT_EQ(file->no_room_code(), EBADF);
  auto closed = file->close(true);
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, EBADF);
  EXPECT_STREQ(
      closed.error().text,
      "the program closed the descriptor of the profile file: the profile is complete, but keeps the "
      "size that it had");
  EXPECT_EQ(file->header().state, FileState::kClosed);
  EXPECT_EQ(file->header().pool.limit, file->header().pool.used);
  EXPECT_EQ(std::filesystem::file_size(other), kBytes);
  EXPECT_EQ(std::filesystem::file_size(path_), kInitialBytes);
  EXPECT_EQ(close(fd), 0) << "it is the program's";
}

TEST_F(ProfileFileTest, OnlyWhoKnowsTheRecordingJoinsIt) {
  auto first = make();
  ASSERT_TRUE(first) << first.error().text;
  const RecordingId id = first->recording_id();
  EXPECT_EQ(strlen(id.text), 32u);
  EXPECT_TRUE(ProfileFile::join(path_.c_str(), id.text));
  ASSERT_TRUE(first->close(true));
  settings_.overwrite = true;
  auto second = make();
  ASSERT_TRUE(second) << second.error().text;
  auto refused = ProfileFile::join(path_.c_str(), id.text);
  ASSERT_FALSE(refused) << "what the first recording left behind is not the second's";
  EXPECT_EQ(refused.error().code, ESTALE);
  EXPECT_FALSE(ProfileFile::join(path_.c_str(), ""));
}

TEST_F(ProfileFileTest, IsJoinedBeforeItHasReplacedTheOlderOne) {
  ASSERT_TRUE(make()->close(true));
  settings_.overwrite = true;
  auto file = ProfileFile::create(settings_);
  ASSERT_TRUE(file) << file.error().text;
  EXPECT_TRUE(ProfileFile::join(path_.c_str(), file->recording_id().text));
  ASSERT_TRUE(file->place());
  EXPECT_TRUE(ProfileFile::join(path_.c_str(), file->recording_id().text));
}

TEST_F(ProfileFileTest, TheDeferredRingStaysWhereItWasMade) {
  settings_.deferred = true;
  auto file = make();
  ASSERT_TRUE(file) << file.error().text;
  const DeferredRing* ring = file->deferred();
  ASSERT_NE(ring, nullptr);
  file->header().deferred = 0xfffffff0;  // as a program may that maps the file
  EXPECT_EQ(file->deferred(), ring);
}

TEST_F(ProfileFileTest, AProgramThatRaisesUsedOrLimitDoesNotGrowTheFile) {
  for (uint32_t PoolHead::*word : {&PoolHead::used, &PoolHead::limit}) {
    settings_.overwrite = true;
    auto file = make();
    ASSERT_TRUE(file) << file.error().text;
    file->header().pool.*word = ~0u;
    EXPECT_EQ(pool_take(file->pool(), static_cast<uint32_t>(kInitialBytes / kUnitBytes)), 0u);
    ASSERT_TRUE(file->close(true)) << "nobody has cut it";
    EXPECT_LE(std::filesystem::file_size(path_), kInitialBytes);
  }
}

TEST_F(ProfileFileTest, TheRecorderPutsTheLimitRightAgain) {
  auto file = make();
  ASSERT_TRUE(file) << file.error().text;
  const uint32_t limit = file->header().pool.limit;
  for (uint32_t wrong : {0u, ~0u}) {
    file->header().pool.limit = wrong;
    EXPECT_TRUE(file->make_room(0));
    EXPECT_EQ(file->header().pool.limit, limit);
  }
}

}  // namespace
}  // namespace pctally
