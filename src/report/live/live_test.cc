#include "report/live/live.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sanitizer.h"
#include "histread/file_builder_for_test.h"
#include "profile/load.h"
#include "report/fake_symbolizer_for_test.h"

namespace pctally {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

/// A recording that is looked at now and then. Function fN of object "a" starts at N * 0x100.
class Live : public testing::Test {
 protected:
  Live() { file_.header().state = FileState::kRecording; }

  void count(uint64_t function, uint64_t ticks) { file_.count(segment_, function * 0x100 + 8, ticks); }
  void look(uint64_t at_s) {
    file_.header().heartbeat_ns = at_s * kSecond;
    Profile profile = load_profile(file_.all_bytes()).value();
    profile.recorder_alive = profile.closed == false;
    history_.add(std::move(profile), (100 + at_s) * kSecond);
  }
  LiveTable table(const LiveOptions& options = {}) { return make_live_table(history_, names_, options); }
  static const LiveRow& row(const LiveTable& table, const std::string& function) {
    static const LiveRow kNone;
    for (const LiveRow& row : table.rows)
      if (row.all.function == function) return row;
    ADD_FAILURE() << "no row " << function;
    return kNone;
  }
  static uint64_t sum_now(const LiveTable& table) {
    uint64_t sum = 0;
    for (const LiveRow& row : table.rows) sum += row.now_ticks;
    return sum;
  }

  FileBuilder file_;
  uint32_t segment_ = file_.segment(file_.object("/bin/a"), 0, 0x10000);
  NameCache names_{FakeSymbolizer::open};
  LiveHistory history_{5 * kSecond};
};

TEST_F(Live, AYoungRecordingIsShownAsAWhole) {
  count(1, 300);
  count(2, 100);
  look(2);
  LiveTable table = this->table();
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].all.function, "f1");
  EXPECT_DOUBLE_EQ(table.rows[0].now_share, 0.75);
  EXPECT_DOUBLE_EQ(table.rows[0].all.share, 0.75);
  EXPECT_LT(table.rows[0].now_interval.low, 0.75);
  EXPECT_EQ(table.rows[0].trend, Trend::kUnknown);
  EXPECT_EQ(table.window_ns, 2 * kSecond);
}

TEST_F(Live, AnOldRecordingHasNoWindowAtTheFirstLookAndATrendAtTheSecond) {
  count(1, 30000);
  look(60);
  EXPECT_EQ(table().now_ledger.ticks(), 0u);
  EXPECT_EQ(table().window_ns, 0u);
  EXPECT_DOUBLE_EQ(table().rows.at(0).all.share, 1);
  EXPECT_EQ(table().rows.at(0).trend, Trend::kUnknown);
  count(2, 1000);
  look(61);
  LiveTable table = this->table();
  EXPECT_EQ(table.rows.at(0).all.function, "f2") << "most of the window first";
  EXPECT_EQ(table.window_ns, kSecond);
  EXPECT_EQ(row(table, "f2").trend, Trend::kUp);
  EXPECT_DOUBLE_EQ(row(table, "f2").change, 1);
  EXPECT_EQ(row(table, "f1").trend, Trend::kDown);
}

TEST_F(Live, TheWindowMovesAlong) {
  for (uint64_t second = 1; second <= 20; ++second) {
    count(second, 100);
    look(second);
    LiveTable table = this->table();
    uint64_t seconds = std::min<uint64_t>(second, 5);
    EXPECT_EQ(table.window_ns, seconds * kSecond);
    EXPECT_EQ(table.now_ledger.ticks(), 100 * seconds) << second;
    EXPECT_EQ(sum_now(table), 100 * seconds);
  }
}

TEST_F(Live, ManyLooksKeepFewCopies) {
  constexpr uint64_t kASecond = kSanitized ? 25 : 100, kLooks = 20 * kASecond;
  for (uint64_t look = 0; look < kLooks; ++look) {
    count(1, 1);
    file_.header().heartbeat_ns = look * kSecond / kASecond;
    Profile profile = load_profile(file_.all_bytes()).value();
    profile.recorder_alive = true;
    history_.add(std::move(profile), look * kSecond / kASecond);
    EXPECT_LE(history_.window_ns(), 6 * kSecond);
  }
  EXPECT_GE(history_.window_ns(), 5 * kSecond);
  EXPECT_EQ(history_.latest().ledger.counted, kLooks);
}

TEST_F(Live, ASmallChangeIsChanceAndALargeOneIsNot) {
  count(1, 5000);
  count(2, 5000);
  look(60);
  count(1, 260);
  count(2, 240);
  look(61);
  EXPECT_EQ(row(table(), "f1").trend, Trend::kSteady);
  EXPECT_NEAR(row(table(), "f1").change, 0.02, 1e-12);
  count(1, 240);
  look(62);
  EXPECT_EQ(row(table(), "f1").trend, Trend::kUp);
  EXPECT_EQ(row(table(), "f2").trend, Trend::kDown);
}

TEST_F(Live, ATickOfARowThatHasHardlyAnyIsChance) {
  for (uint64_t function : {1, 2, 3}) count(function, 20000);
  look(60);
  for (uint64_t function : {1, 2, 3}) count(function, 167);
  count(4, 1);
  look(61);
  EXPECT_EQ(row(table(), "f4").trend, Trend::kSteady);
  count(4, 2);
  look(62);
  EXPECT_EQ(row(table(), "f4").trend, Trend::kUp);
}

/// A program that ran only before the window has no row in it: its neighbour's ticks are not taken
/// for its own.
TEST_F(Live, RowsByProgramHaveTheirOwnTicksOfTheWindow) {
  Profile profile;
  profile.recorder_alive = true;
  profile.period_ns = 1000000;
  profile.executables.push_back({.path = "/bin/a", .build_id = {}});
  profile.paths.one_frame = true;
  profile.paths.scopes = {{"/bin/first", {}}, {"/bin/second", {}}};
  profile.paths.context = {{.kind = PathNodeKind::kScope},
                           {.parent = 0, .kind = PathNodeKind::kCode, .position = 0x100, .self = 70},
                           {.kind = PathNodeKind::kScope, .position = 1},
                           {.parent = 2, .kind = PathNodeKind::kCode, .position = 0x100, .self = 30}};
  for (uint64_t at_s : {60, 61}) {
    profile.duration_ns = at_s * kSecond;
    const uint64_t ticks = profile.paths.context[1].self + profile.paths.context[3].self;
    profile.positions = {{0, 0x100, ticks}};
    profile.ledger.counted = profile.ledger.samples = ticks;
    profile.ledger.weight_squares = static_cast<double>(ticks);
    history_.add(profile, at_s * kSecond);
    profile.paths.context[3].self += 25;
  }
  const LiveTable table = this->table({.by = Grouping::kProgram, .filter = {}});
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].all.program, "second");
  EXPECT_EQ(table.rows[0].now_ticks, 25u);
  EXPECT_EQ(table.rows[0].all.ticks, 55u);
  EXPECT_EQ(table.rows[1].now_ticks, 0u);
  EXPECT_EQ(this->table({.by = Grouping::kProgram, .filter = "FIRST"}).rows.size(), 1u);
}

TEST_F(Live, TwoBuildsOfAProgramHaveEachItsOwnTicksOfTheWindow) {
  Profile profile;
  profile.period_ns = 1'000'000;
  profile.recorder_alive = true;
  profile.duration_ns = 60 * kSecond;
  profile.executables.push_back({.path = "/bin/a", .build_id = {}});
  profile.paths.one_frame = true;
  profile.paths.scopes = {{"/bin/first", {1}}, {"/bin/first", {2}}};
  for (const uint64_t scope : {0u, 1u}) {
    profile.paths.context.push_back({.kind = PathNodeKind::kScope, .position = scope});
    profile.paths.context.push_back({.parent = static_cast<uint32_t>(2 * scope),
                                     .kind = PathNodeKind::kCode,
                                     .position = 0x108,
                                     .self = 300});
  }
  profile.positions = {{0, 0x108, 600}};
  profile.ledger = {.counted = 600, .samples = 600, .weight_squares = 600};
  history_.add(profile, 100 * kSecond);
  profile.paths.context[3].self += 50;
  profile.positions[0].ticks += 50;
  profile.ledger = {.counted = 650, .samples = 650, .weight_squares = 650};
  profile.duration_ns = 62 * kSecond;
  history_.add(profile, 102 * kSecond);
  const LiveTable table = this->table({.by = Grouping::kProgram, .filter = {}});
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].all.ticks, 350u);
  EXPECT_EQ(table.rows[0].now_ticks, 50u);
  EXPECT_EQ(table.rows[1].now_ticks, 0u);
}

/// A recording of /bin/a that goes on.
Profile with_call_paths() {
  Profile profile;
  profile.recorder_alive = true;
  profile.period_ns = 1000000;
  profile.executables.push_back({.path = "/bin/a", .build_id = {}});
  profile.paths.recorded = true;
  profile.paths.scopes = {{"/bin/a", {}}};
  return profile;
}

/// With call paths, too: f1, which only calls f3, is no row of a window in which f3 did not run.
TEST_F(Live, RowsWithTotalsHaveTheirOwnTicksOfTheWindow) {
  Profile profile = with_call_paths();
  profile.paths.context = {{.kind = PathNodeKind::kScope},
                           {.parent = 0, .kind = PathNodeKind::kCode, .position = 0x110},
                           {.parent = 1, .kind = PathNodeKind::kCode, .position = 0x300, .self = 70},
                           {.parent = 0, .kind = PathNodeKind::kCode, .position = 0x200, .self = 30}};
  for (uint64_t at_s : {60, 61}) {
    profile.duration_ns = at_s * kSecond;
    const uint64_t third = profile.paths.context[2].self, second = profile.paths.context[3].self;
    profile.positions = {{0, 0x200, second}, {0, 0x300, third}};
    profile.ledger.counted = profile.ledger.samples = second + third;
    profile.ledger.weight_squares = static_cast<double>(second + third);
    history_.add(profile, at_s * kSecond);
    profile.paths.context[3].self += 25;
    profile.ledger.lost = 1;
  }
  const LiveTable table = this->table();
  EXPECT_EQ(row(table, "f3").now_ticks, 0u);
  EXPECT_EQ(row(table, "f2").now_ticks, 25u);
  EXPECT_EQ(row(table, "f2").now_total, 25u);
  EXPECT_EQ(row(table, "f2").all.ticks, 55u);
  EXPECT_EQ(sum_now(table), table.now_ledger.ticks());
}

/// Ticks inside programs are counted at once. The recorder reads their paths later: of the window's 25 ticks
/// it has read those of 10.
TEST_F(Live, ATotalIsAShareOfTheTicksWhosePathsWereRead) {
  Profile profile = with_call_paths();
  const auto look_with = [&](uint64_t at_s, uint64_t counted, uint64_t read) {
    profile.paths.context = {{.kind = PathNodeKind::kScope},
                             {.parent = 0, .kind = PathNodeKind::kCode, .position = 0x110},
                             {.parent = 1, .kind = PathNodeKind::kCode, .position = 0x300, .self = read},
                             {.parent = 0,
                              .kind = PathNodeKind::kCut,
                              .position = static_cast<uint64_t>(PathEnd::kInterrupted),
                              .self = counted - read}};
    profile.duration_ns = at_s * kSecond;
    profile.positions = {{0, 0x300, counted}};
    profile.ledger.counted = profile.ledger.samples = counted;
    profile.ledger.weight_squares = static_cast<double>(counted);
    history_.add(profile, at_s * kSecond);
  };
  look_with(60, 100, 100);
  look_with(61, 125, 110);
  const LiveTable table = this->table();
  EXPECT_DOUBLE_EQ(row(table, "f3").now_total_share, 1.0) << "its own 25 of 25";
  EXPECT_EQ(row(table, "f1").now_total, 10u);
  EXPECT_DOUBLE_EQ(row(table, "f1").now_total_share, 1.0) << "10 of 10";
}

TEST_F(Live, EveryTickHasARowWhateverTheGrouping) {
  file_.process(7, "a", 40);
  count(1, 50);
  file_.header().ledger.outside = 4;
  file_.header().ledger.full = 3;
  look(60);
  count(2, 10);
  file_.header().ledger.outside = 6;
  file_.header().ledger.lost = 9;
  look(61);
  for (Grouping by : {Grouping::kFunction, Grouping::kObject, Grouping::kLine, Grouping::kProcess}) {
    LiveTable table = this->table({.by = by, .filter = {}});
    EXPECT_EQ(sum_now(table), table.now_ledger.ticks());
    EXPECT_EQ(table.now_ledger.ticks(), 21u);
    uint64_t all = 0;
    for (const LiveRow& row : table.rows) all += row.all.ticks;
    EXPECT_EQ(all, table.ledger.ticks());
  }
}

TEST_F(Live, FunctionsOfOneNameStayApart) {
  FileBuilder file;
  // Two builds of one object: same names, two rows each.
  uint32_t first = file.segment(file.object("/bin/a", "1"), 0, 4096);
  uint32_t second = file.segment(file.object("/bin/a", "2"), 0, 4096);
  file.count(first, 0x108, 10);
  file.count(second, 0x108, 20);
  file.header().state = FileState::kRecording;
  auto look = [&](uint64_t at) {
    Profile profile = load_profile(file.all_bytes()).value();
    profile.recorder_alive = true;
    profile.duration_ns = 60 * kSecond;
    history_.add(std::move(profile), at * kSecond);
  };
  look(60);
  file.count(second, 0x108, 5);
  look(61);
  LiveTable table = this->table();
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].now_ticks, 5u);
  EXPECT_EQ(table.rows[0].all.ticks, 25u);
  EXPECT_EQ(table.rows[1].now_ticks, 0u);
}

TEST_F(Live, TheFilterHidesRowsAndChangesNoShare) {
  count(1, 300);
  count(0x1a, 100);
  look(2);
  LiveTable table = this->table({.by = Grouping::kFunction, .filter = "F1A"});
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.all_rows, 2u);
  EXPECT_DOUBLE_EQ(table.rows[0].now_share, 0.25);
  EXPECT_EQ(this->table({.by = Grouping::kFunction, .filter = "nothing"}).rows.size(), 0u);
}

TEST_F(Live, AClosedFileIsShownAsAWhole) {
  count(1, 30000);
  file_.header().state = FileState::kClosed;
  file_.header().ended_ns = 60 * kSecond;
  look(60);
  EXPECT_EQ(table().now_ledger.ticks(), 30000u);
  EXPECT_EQ(table().window_ns, 60 * kSecond);
}

}  // namespace
}  // namespace pctally
