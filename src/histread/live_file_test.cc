#include "histread/live_file.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "base/sanitizer.h"
#include "histfile/call_paths.h"
#include "histread/live_recording_for_test.h"
#include "histread/path_reader.h"
#include "tick/stepped_child_for_test.h"

namespace pctally {
namespace {

using ::testing::IsEmpty;

constexpr int kRounds = kSanitized ? 2 : 8;

using Cells = std::map<std::pair<std::string, uint64_t>, uint64_t>;

Cells cells_of(const FileContents& contents) {
  Cells cells;
  for (const WeightedPosition& cell : contents.cells)
    cells[{contents.objects[cell.executable].path, cell.position}] += cell.ticks;
  return cells;
}

uint64_t claimed_by_processes(const FileContents& contents) {
  uint64_t sum = 0;
  for (const FileProcess& process : contents.processes) sum += process.ticks;
  return sum;
}

LiveFile open(const LiveRecording& recording) { return LiveFile::open(recording.path().c_str()).value(); }

TEST(LiveFile, ARecordingThatRestsIsCopiedInOneGo) {
  LiveRecording recording;
  Region region;
  RegionTable table = recording.table("a", &region);
  tick(table, 100, 3);
  tick(table, LiveRecording::kText, 2);
  FileCopy copy = open(recording).copy().value();
  EXPECT_TRUE(copy.still);
  EXPECT_TRUE(copy.recorder_alive);
  EXPECT_EQ(balance_account(&copy.contents), 0u);
  EXPECT_EQ(copy.contents.header.ledger.counted, 3u);
  EXPECT_EQ(copy.contents.header.ledger.outside, 2u);
  EXPECT_EQ(copy.bytes.size(), kHeaderBytes + kUnitBytes * recording.file().header().pool.used);
}

TEST(LiveFile, ARecordingRestsAlsoWhereThereWasNoRoomForAProcess) {
  LiveRecording recording;
  Region region;
  RegionTable table = recording.table("a", &region);
  tick(table, 100, 3);
  table.process_ticks = nullptr;
  tick(table, 100, 3);
  EXPECT_TRUE(open(recording).copy().value().still);
}

TEST(LiveFile, AThreadThatDiedInsideItsTickDoesNotDisturb) {
  LiveRecording recording;
  Region region;
  RegionTable table = recording.table("a", &region);
  tick(table, 100, 3);
  *table.process_ticks += 40;  // raised first, and then nothing
  FileCopy copy = open(recording).copy().value();
  EXPECT_FALSE(copy.still);
  EXPECT_EQ(balance_account(&copy.contents), 40u);
  EXPECT_EQ(claimed_by_processes(copy.contents), 3u);
}

// Late ticks: their process has them, and the account has lost them.
TEST(LiveFile, TicksThatTheEngineTrapLosesAreNoDamage) {
  for (const char* engine : {"trap", "timer"}) {
    LiveRecording recording;
    Region region;
    RegionTable table = recording.table("a", &region);
    tick(table, 100, 3);
    *table.process_ticks += 70;
    recording.file().header().ledger.lost = 70;
    strncpy(recording.file().header().engine, engine, sizeof recording.file().header().engine);
    FileCopy copy = open(recording).copy().value();
    EXPECT_EQ(balance_account(&copy.contents), engine == std::string("trap") ? 0u : 70u);
    EXPECT_EQ(claimed_by_processes(copy.contents), 3u);
  }
}

// A tick that is stopped after each of its instructions in turn. While what it raises does not agree, the
// copy is made again after a pause, for the tick may go on. It never goes on here, as where the scheduler or
// a host holds whoever ticks: such a copy is not said to be of one moment between two ticks.
TEST(LiveFile, ACopyFromWithinATickIsNotTakenAtOnce) {
  if (!tracing_permitted()) GTEST_SKIP() << "needs single steps of its own child";
  constexpr uint64_t kPauseNs = 300'000;
  LiveRecording recording;
  Region region;
  RegionTable table = recording.table("a", &region);
  LiveFile file = open(recording);
  unsigned torn = 0;
  SteppedChild child([&] { tick(table, 100, 3); });
  while (child.step()) {
    uint64_t begun = monotonic_ns();
    FileCopy copy = file.copy().value();
    uint64_t took = monotonic_ns() - begun;
    const Ledger& ledger = copy.contents.header.ledger;
    if (sum_of_cells(copy.contents) == ledger.counted &&
        claimed_by_processes(copy.contents) == ledger.counted)
      continue;
    ++torn;
    EXPECT_FALSE(copy.still);
    EXPECT_GE(took, kPauseNs);
  }
  EXPECT_GT(torn, 3u);
}

/// Of a process without a record the cells and the account alone tell.
TEST(LiveFile, ACopyFromWithinATickOfAnUnknownProcessIsNotStill) {
  if (!tracing_permitted()) GTEST_SKIP() << "needs single steps of its own child";
  LiveRecording recording;
  Region region;
  RegionTable table = recording.table("a", &region);
  table.process_ticks = nullptr;
  LiveFile file = open(recording);
  unsigned torn = 0;
  SteppedChild child([&] { tick(table, 100, 3); });
  while (child.step()) {
    FileCopy copy = file.copy().value();
    if (sum_of_cells(copy.contents) == copy.contents.header.ledger.counted) continue;
    ++torn;
    EXPECT_FALSE(copy.still);
  }
  EXPECT_GT(torn, 0u);
}

// With ticks so close together that no copy falls between two of them, each cell is from a moment of its own.
TEST(LiveFile, NoCellOfABusyRecordingEverFallsAndNothingIsTakenForDamage) {
  LiveRecording recording;
  recording.start(2, 1000);
  LiveFile file = open(recording);
  Cells last;
  for (int round = 0; round < kRounds || last.size() <= 1000; ++round) {  // on a busy machine ticks are rarer
    recording.file().make_room(0);
    FileCopy copy = file.copy().value();
    balance_account(&copy.contents);
    EXPECT_THAT(copy.contents.damage, IsEmpty());
    const Ledger& ledger = copy.contents.header.ledger;
    EXPECT_EQ(sum_of_cells(copy.contents), ledger.counted);
    EXPECT_LE(claimed_by_processes(copy.contents), ledger.counted + ledger.outside + ledger.full);
    Cells now = cells_of(copy.contents);
    for (const auto& [place, ticks] : last)
      ASSERT_GE(now[place], ticks) << place.first << " " << place.second;
    last = std::move(now);
  }
}

// Two moments of rest are two states of the file: whatever is counted, sampled and claimed agrees. Two ticks
// have to be further apart than a copy takes, which is the machine's and the sanitizer's: each copy that
// fails says how far.
TEST(LiveFile, BetweenTicksACopyIsOfOneMoment) {
  LiveRecording recording;
  recording.start(1, 500'000);
  LiveFile file = open(recording);
  std::set<uint64_t> moments;
  while (moments.size() < (kSanitized ? 3 : 10)) {
    const uint64_t begun = monotonic_ns();
    FileCopy copy = file.copy().value();
    const uint64_t took = monotonic_ns() - begun;
    std::this_thread::yield();  // whoever ticks may be waiting for this CPU
    if (!copy.still) {
      recording.set_pause(2 * took);
      continue;
    }
    moments.insert(copy.contents.header.ledger.samples);
    EXPECT_EQ(copy.contents.header.ledger.counted, sum_of_cells(copy.contents));
    EXPECT_EQ(balance_account(&copy.contents), 0u);
  }
}

/// While a leaf is taken out of the tree, its ticks are there twice. Each prune here lasts longer than a copy
/// takes that does not wait for its end, and is over before a copy gives up waiting.
TEST(LiveFile, ACopyMadeWhileTheTreeIsPrunedIsMadeAgain) {
  constexpr uint64_t kTicks = 1000;
  constexpr uint64_t kLongestNs = 400'000'000;
  LiveRecording recording;
  ASSERT_TRUE(add_call_paths(&recording.file(), {1 << 16, 1 << 16}));
  PathRecord* paths = call_paths(recording.file());
  const Pool pool = recording.file().pool();
  recording.file().make_room(8);
  const uint32_t root = path_child(pool, &paths->context, 0, PathPlace::mark(PathPlace::kCut, 1));
  const uint32_t leaf = path_child(pool, &paths->context, root, PathPlace::mark(PathPlace::kCut, 2));
  ASSERT_NE(leaf, 0u);
  uint64_t* from = &path_node(pool, leaf)->self;
  uint64_t* to = &path_node(pool, root)->self;
  store_relaxed(from, kTicks);
  recording.start(1, 50'000);  // so that no copy is still
  const LiveFile file = open(recording);
  for (int round = 0; round < (kSanitized ? 3 : 6); ++round, std::swap(from, to)) {
    const uint64_t begun = monotonic_ns();
    EXPECT_EQ(sum_of_paths(file.copy().value().contents.paths), kTicks);
    const uint64_t took = monotonic_ns() - begun;
    add_relaxed(&paths->prunes, 1);
    store_relaxed(to, kTicks);
    std::thread pruner([&] {
      sleep_ns(std::min(2 * took, kLongestNs));
      store_relaxed(from, 0);
      add_relaxed(&paths->prunes, 1);
    });
    EXPECT_EQ(sum_of_paths(file.copy().value().contents.paths), kTicks);
    pruner.join();
  }
}

TEST(LiveFile, ADeferredTickIsOutsideUntilItIsResolved) {
  LiveRecording recording;
  Region region;
  RegionTable table = recording.table("a", &region);
  table.deferred = recording.file().deferred();
  table.deferred_capacity = kDeferredSlots;
  tick(table, LiveRecording::kText + 1, 5);
  FileCopy copy = open(recording).copy().value();
  EXPECT_TRUE(copy.still);
  balance_account(&copy.contents);
  EXPECT_EQ(copy.contents.header.ledger.outside, 5u);
  EXPECT_EQ(copy.contents.header.ledger.resolved, 5u);
}

TEST(LiveFile, AFileCutUnderItsReaderIsAnErrorAndNotTheEnd) {
  LiveRecording recording;
  Region region;
  tick(recording.table("a", &region), 100, 3);
  LiveFile file = open(recording);
  ASSERT_EQ(truncate(recording.path().c_str(), 100), 0);
  EXPECT_FALSE(file.copy());
  ASSERT_EQ(truncate(recording.path().c_str(), 2 << 20), 0);
  EXPECT_TRUE(file.copy()) << "of a header that ends in zeroes";
  ASSERT_EQ(truncate(recording.path().c_str(), 0), 0);
  ASSERT_EQ(truncate(recording.path().c_str(), 2 << 20), 0);
  EXPECT_FALSE(file.copy()) << "all zero";
}

TEST(LiveFile, AClosedFileIsCopiedAsItIs) {
  LiveRecording recording;
  Region region;
  tick(recording.table("a", &region), 100, 3);
  LiveFile file = open(recording);
  ASSERT_TRUE(recording.file().close(true));
  FileCopy copy = file.copy().value();
  EXPECT_TRUE(copy.still);
  EXPECT_FALSE(copy.recorder_alive);
  EXPECT_EQ(copy.bytes.size(), std::filesystem::file_size(recording.path()));
}

}  // namespace
}  // namespace pctally
