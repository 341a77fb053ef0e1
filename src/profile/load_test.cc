#include "profile/load.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>

#include "base/unique_fd.h"
#include "histread/file_builder_for_test.h"

namespace pctally {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TemporaryFile {
 public:
  TemporaryFile() : fd_(mkstemp(path_)) {}
  ~TemporaryFile() { unlink(path_); }
  void put(const std::vector<unsigned char>& bytes) const {
    EXPECT_EQ(ftruncate(fd_.get(), 0), 0);
    EXPECT_EQ(pwrite(fd_.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const char* path() const { return path_; }

 private:
  char path_[32] = "/tmp/pctally-load-XXXXXX";
  UniqueFd fd_;
};

Profile load(FileBuilder& file) {
  Result<Profile> profile = load_profile(file.bytes());
  EXPECT_TRUE(profile.has_value()) << profile.error().text;
  return profile ? *profile : Profile{};
}

uint64_t sum_of_positions(const Profile& profile) {
  uint64_t sum = 0;
  for (const WeightedPosition& position : profile.positions) sum += position.ticks;
  return sum;
}

TEST(Load, MergesWhatRacingWritersEnteredTwice) {
  FileBuilder file;
  uint32_t first = file.segment(file.object("/bin/a", "id"), 0, 4096);
  uint32_t second = file.segment(file.object("/bin/a", "id"), 0, 4096);
  uint32_t rebuilt = file.segment(file.object("/bin/a", "other"), 0, 4096);
  file.count(first, 5, 10);
  file.count(first, 7, 1);
  file.count(second, 5, 20);
  file.count(rebuilt, 5, 3);
  Profile profile = load(file);
  EXPECT_EQ(profile.executables.size(), 2u);
  ASSERT_EQ(profile.positions.size(), 3u);
  EXPECT_EQ(profile.positions[0].ticks, 3u);
  EXPECT_EQ(profile.positions[1].ticks, 30u);
  EXPECT_EQ(profile.positions[2].position, 7u);
  EXPECT_EQ(profile.ledger.counted, 34u);
  EXPECT_THAT(profile.damage, IsEmpty());
}

TEST(Load, PrivateTextOfTwoProcessesStaysApart) {
  FileBuilder file;
  for (int32_t owner : {1, 2})
    file.count(file.segment(file.object("//anon", {}, ObjectKind::kPrivate, owner), 0x7f0000000000, 64),
               0x7f0000000000, 1);
  EXPECT_EQ(load(file).executables.size(), 2u);
  EXPECT_EQ(load(file).positions.size(), 2u);
}

TEST(Load, TicksNeverResolvedAreOutside) {
  FileBuilder file;
  file.header().ledger.outside = 3;
  file.header().ledger.deferred = 10;
  file.header().ledger.resolved = 8;
  file.header().ledger.full = 1;
  EXPECT_EQ(load(file).ledger.outside, 5u);
  EXPECT_EQ(load(file).ledger.ticks(), 6u);
}

TEST(Load, TicksWithoutACellAreLostInAClosedFile) {
  FileBuilder file;
  file.count(file.segment(file.object("a"), 0, 64), 3, 5);
  file.header().ledger.counted = 905;
  Profile profile = load(file);
  EXPECT_EQ(profile.ledger.counted, 5u);
  EXPECT_EQ(profile.ledger.lost, 900u);
  EXPECT_THAT(profile.damage, ElementsAre(HasSubstr("905 ticks were counted, the file holds 5")));
}

TEST(Load, AThreadKilledInsideItsTickIsNoDamage) {
  FileBuilder file;
  file.count(file.segment(file.object("a"), 0, 64), 3, 50);
  file.process(1, "a", 52);
  file.header().ledger.counted -= 1;
  Profile profile = load(file);
  EXPECT_THAT(profile.damage, IsEmpty());
  EXPECT_EQ(profile.ledger.ticks(), 50u);
  EXPECT_EQ(profile.processes[0].ticks, 50u);
}

TEST(Load, ALiveFileIsInMotionAndNotDamaged) {
  FileBuilder file;
  file.count(file.segment(file.object("a"), 0, 64), 3, 5);
  file.process(1, "big", 5);
  file.process(2, "small", 2);
  file.header().ledger.counted = 9;
  file.header().state = FileState::kRecording;
  file.header().started_ns = 100;
  file.header().heartbeat_ns = 350;
  Profile profile = load(file);
  EXPECT_THAT(profile.damage, IsEmpty());
  EXPECT_FALSE(profile.closed);
  EXPECT_EQ(profile.duration_ns, 250u);
  EXPECT_EQ(profile.ledger.ticks(), 5u);
  EXPECT_EQ(profile.processes[0].ticks, 3u);
  EXPECT_EQ(profile.processes[1].ticks, 2u);
}

TEST(Load, ProcessesAreInOrderOfStartAndSayWhyTheyWereNotObserved) {
  FileBuilder file;
  file.process(30, "later", 0, ProcessNote::kStatic);
  file.process(20, "first", 0);
  Profile profile = load(file);
  ASSERT_EQ(profile.processes.size(), 2u);
  EXPECT_EQ(profile.processes[0].comm, "first");
  EXPECT_EQ(profile.processes[0].engine, "ring");
  EXPECT_EQ(profile.processes[1].engine, "");
  EXPECT_THAT(profile.processes[1].note, HasSubstr("statically linked"));
}

TEST(Load, AProcessThatWasTakenBackIsLeftOut) {
  FileBuilder file;
  file.edit<ProcessRecord>(file.process(20, "program", 0)).flags = kProcessTakenBack;
  file.process(20, "program", 0);
  EXPECT_EQ(load(file).processes.size(), 1u);
}

TEST(Load, ErrorsNameTheFile) {
  TemporaryFile file;
  EXPECT_THAT(load_profile("/nonexistent/x.pct").error().text, HasSubstr("/nonexistent/x.pct"));
  EXPECT_THAT(load_profile("/dev/null").error().text, HasSubstr("not a regular file"));
  EXPECT_THAT(load_profile("/tmp").error().text, HasSubstr("not a regular file"));
  EXPECT_THAT(load_profile(file.path()).error().text, HasSubstr("not a profile"));
}

TEST(Load, AFifoDoesNotBlock) {
  std::string path = "/tmp/pctally-load-fifo-" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(load_profile(path.c_str()).has_value());
  unlink(path.c_str());
}

TEST(Load, KnowsARecorderByItsLock) {
  TemporaryFile file;
  FileBuilder builder;
  builder.header().state = FileState::kRecording;
  file.put(builder.all_bytes());
  EXPECT_FALSE(load_profile(file.path())->recorder_alive);
  ASSERT_EQ(flock(file.fd(), LOCK_EX), 0);
  EXPECT_TRUE(load_profile(file.path())->recorder_alive);
  builder.header().state = FileState::kClosed;
  file.put(builder.bytes());
  EXPECT_FALSE(load_profile(file.path())->recorder_alive);
}

TEST(Load, AHugeSparseFileCostsNoMoreThanItsPool) {
  TemporaryFile file;
  FileBuilder builder;
  builder.count(builder.segment(builder.object("a"), 0, 64), 3, 5);
  file.put(builder.bytes());
  ASSERT_EQ(ftruncate(file.fd(), off_t{1} << 41), 0);
  EXPECT_EQ(load_profile(file.path())->ledger.counted, 5u);
}

TEST(Load, MutantsKeepTheAccountBalanced) {
  FileBuilder builder(256);
  uint32_t segment = builder.segment(builder.object("/bin/a", "id"), 0, 4096);
  for (uint64_t position = 0; position < 300; position += 7) builder.count(segment, position, position + 1);
  builder.process(1, "a", 100);
  const std::vector<unsigned char> sound = builder.bytes();
  std::mt19937_64 random(1979);
  for (int mutant = 0; mutant < 10'000; ++mutant) {
    std::vector<unsigned char> bytes = sound;
    for (int edits = 0; edits < 6; ++edits) bytes[32 + random() % (bytes.size() - 32)] ^= random() & 0xff;
    Result<Profile> profile = load_profile(bytes);
    if (!profile) continue;
    EXPECT_EQ(sum_of_positions(*profile), profile->ledger.counted);
    uint64_t claimed = 0;
    for (const ProfileProcess& process : profile->processes) claimed += process.ticks;
    EXPECT_LE(claimed, profile->ledger.ticks() - profile->ledger.lost);
  }
}

// Somebody else maps the file and writes into it, cuts it and lets it grow while it is being read.
TEST(Load, AFileThatChangesUnderTheReaderIsHarmless) {
  TemporaryFile file;
  FileBuilder builder(512);
  builder.header().state = FileState::kRecording;
  uint32_t segment = builder.segment(builder.object("/bin/a", "id"), 0, 4096);
  for (uint64_t position = 0; position < 4096; position += 40) builder.count(segment, position, 3);
  file.put(builder.all_bytes());
  std::atomic<bool> stop = false, started = false;
  std::thread writer([&] {
    std::mt19937 random(7);
    const std::vector<unsigned char> sound = builder.all_bytes();
    while (!stop) {
      for (int i = 0; i < 50; ++i) {
        uint32_t value = random() % 600;
        EXPECT_EQ(pwrite(file.fd(), &value, sizeof value, 32 + random() % 8000 * 4), 4);
      }
      EXPECT_EQ(ftruncate(file.fd(), random() % 40'000), 0);
      file.put(sound);
      started = true;
    }
  });
  while (!started) std::this_thread::yield();
  for (int round = 0; round < 2000; ++round) {
    Result<Profile> profile = load_profile(file.path());
    if (profile) {
      EXPECT_EQ(sum_of_positions(*profile), profile->ledger.counted);
    }
  }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace pctally
