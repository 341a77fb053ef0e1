#include "histread/snapshot.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>

#include "base/sanitizer.h"
#include "histread/live_recording_for_test.h"

namespace pctally {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Snapshot : public testing::Test {
 protected:
  FileCopy copied() {
    FileCopy copy = live().copy().value();
    close_copy(&copy);
    return copy;
  }
  LiveFile live() { return LiveFile::open(recording_.path().c_str()).value(); }
  Result<void> write(const std::string& path, bool overwrite = false) {
    return write_snapshot(copied(), live(), path.c_str(), overwrite);
  }
  static FileContents read(const std::string& path) {
    return LiveFile::open(path.c_str()).value().copy().value().contents;
  }

  LiveRecording recording_;
  std::string out_ = recording_.beside("out.pct");
  Region region_;
};

TEST_F(Snapshot, IsAClosedFileWithAnExactAccount) {
  RegionTable table = recording_.table("a", &region_);
  tick(table, 100, 3);
  tick(table, LiveRecording::kText, 2);
  *table.process_ticks += 1000;
  recording_.file().header().ledger.counted -= 1;
  ASSERT_TRUE(write(out_));
  FileContents contents = read(out_);
  const FileHeader& header = contents.header;
  EXPECT_THAT(contents.damage, IsEmpty());
  EXPECT_EQ(header.state, FileState::kClosed);
  EXPECT_EQ(header.snapshot, 1u);
  EXPECT_EQ(header.ended, 1u);
  EXPECT_EQ(header.ended_ns, recording_.file().header().heartbeat_ns);
  EXPECT_EQ(header.pool.used, header.pool.limit);
  EXPECT_EQ(header.ledger.counted, 3u);
  EXPECT_EQ(sum_of_cells(contents), 3u);
  ASSERT_EQ(contents.processes.size(), 1u);
  EXPECT_EQ(contents.processes[0].ticks, 5u);
  EXPECT_EQ(std::filesystem::file_size(out_), kHeaderBytes + kUnitBytes * header.pool.used);
  struct stat status;
  ASSERT_EQ(stat(out_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  EXPECT_EQ(recording_.file().header().state, FileState::kRecording) << "the recording goes on";
}

/// A recording inside the program beats now and then; at first not at all.
TEST_F(Snapshot, OfARecordingThatHasNotBeatenEndsNow) {
  FileHeader& header = recording_.file().header();
  header.started_ns = monotonic_ns();
  header.heartbeat_ns = 0;
  const FileHeader closed = copied().contents.header;
  EXPECT_GE(closed.ended_ns, header.started_ns);
}

TEST_F(Snapshot, OfABusyRecordingIsExactEveryTime) {
  recording_.start(2);
  uint64_t last = 0;
  constexpr int kSnapshots = kSanitized ? 3 : 20;
  for (int round = 0; round < kSnapshots; ++round) {
    recording_.file().make_room(0);
    ASSERT_TRUE(write(out_, true));
    FileContents contents = read(out_);
    EXPECT_THAT(contents.damage, IsEmpty());
    EXPECT_EQ(contents.header.ledger.counted, sum_of_cells(contents));
    EXPECT_EQ(balance_account(&contents), 0u) << "processes claim no more than there is";
    EXPECT_GE(contents.header.ledger.counted, last);
    last = contents.header.ledger.counted;
  }
}

TEST_F(Snapshot, OfAnAbandonedRecordingStaysAbandoned) {
  tick(recording_.table("a", &region_), 100, 3);
  recording_.file().header().ledger.counted = 9;
  FileCopy copy = live().copy().value();
  copy.recorder_alive = false;
  close_copy(&copy);
  ASSERT_TRUE(write_snapshot(copy, live(), out_.c_str(), false));
  EXPECT_EQ(read(out_).header.state, FileState::kRecording);
  EXPECT_EQ(read(out_).header.snapshot, 0u);
  EXPECT_EQ(read(out_).header.ledger.counted, 3u);
}

TEST_F(Snapshot, OfAClosedFileIsThatFile) {
  tick(recording_.table("a", &region_), 100, 3);
  ASSERT_TRUE(recording_.file().close(true));
  ASSERT_TRUE(write(out_));
  auto bytes = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_TRUE(bytes(out_) == bytes(recording_.path()));
}

TEST_F(Snapshot, NeverReplacesWhatItReadsNorWhatIsNotAFile) {
  EXPECT_THAT(write(recording_.path(), true).error().text, HasSubstr("the recording itself"));
  std::string link = recording_.beside("link");
  ASSERT_EQ(::link(recording_.path().c_str(), link.c_str()), 0);
  EXPECT_THAT(write(link, true).error().text, HasSubstr("the recording itself"));
  std::string symbolic = recording_.beside("symbolic");
  ASSERT_EQ(symlink(recording_.path().c_str(), symbolic.c_str()), 0);
  EXPECT_FALSE(write(symbolic, true));
  EXPECT_FALSE(write(symbolic));
  EXPECT_FALSE(write("/dev/null", true));
  std::ofstream(out_) << "precious";
  EXPECT_EQ(write(out_).error().code, EEXIST);
  EXPECT_THAT(write(out_, true).error().text, HasSubstr("is not a profile file"));
  EXPECT_EQ(std::filesystem::file_size(out_), 8u);
}

TEST_F(Snapshot, WithoutRoomAnOlderOneStays) {
  ASSERT_TRUE(write(out_));
  const auto size = std::filesystem::file_size(out_);
  rlimit old, small;
  getrlimit(RLIMIT_FSIZE, &old);
  small = {5000, old.rlim_max};
  auto handler = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  auto written = write(out_, true);
  setrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, handler);
  EXPECT_FALSE(written);
  EXPECT_EQ(std::filesystem::file_size(out_), size);
  EXPECT_TRUE(write(out_, true));
}

TEST_F(Snapshot, WithoutRoomLeavesNothing) {
  rlimit old, small;
  getrlimit(RLIMIT_FSIZE, &old);
  FileCopy copy = copied();
  small = {5000, old.rlim_max};
  auto handler = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  auto written = write_snapshot(copy, live(), out_.c_str(), false);
  setrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, handler);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, EFBIG);
  EXPECT_FALSE(std::filesystem::exists(out_));
}

}  // namespace
}  // namespace pctally
