#include "report/rollup.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "report/fake_symbolizer_for_test.h"
#include "report/json.h"
#include "report/line_place.h"
#include "report/text.h"

namespace pctally {
namespace {

Profile two_objects() {
  Profile profile;
  profile.closed = true;
  profile.period_ns = 1'000'000;
  profile.executables = {{ExecutableKind::kFile, "/bin/a", {}, 0}, {ExecutableKind::kFile, "/lib/b", {}, 0}};
  profile.positions = {{0, 0x100, 10}, {0, 0x105, 20}, {0, 0x200, 5}, {1, 0x100, 30}};
  profile.ledger = {.counted = 65, .outside = 3, .full = 2, .lost = 1};
  profile.processes = {{.pid = 7, .parent = 0, .comm = "a", .engine = "ring", .note = "", .ticks = 60}};
  return profile;
}

/// Keeps the most positions that were asked for at once.
class CountingSymbolizer : public FakeSymbolizer {
 public:
  CountingSymbolizer(const ExecutableIdentity& identity, size_t* most)
      : FakeSymbolizer(identity), most_(most) {}
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
    *most_ = std::max(*most_, positions.size());
    return FakeSymbolizer::find_names(positions);
  }
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
    *most_ = std::max(*most_, positions.size());
    return FakeSymbolizer::find_frames(positions);
  }

 private:
  size_t* most_;
};

uint64_t total(const Report& report) {
  uint64_t sum = report.hidden_ticks;
  for (const Row& row : report.rows) sum += row.ticks;
  return sum;
}

Report make(const Profile& profile, const ReportOptions& options = {}) {
  return make_report(profile, FakeSymbolizer::open, options);
}

TEST(Rollup, AddsTheBytesOfAFunctionUp) {
  Report report = make(two_objects());
  ASSERT_EQ(report.rows.size(), 6u);
  EXPECT_EQ(report.rows[0].ticks, 30u);
  EXPECT_EQ(report.rows[0].object, "a");  // the same ticks as b's f1: by object
  EXPECT_EQ(report.rows[0].function, "f1");
  EXPECT_EQ(report.rows[1].object, "b");
  EXPECT_EQ(report.rows[2].function, "f2");
  EXPECT_EQ(report.rows[3].function, "[outside]");
  EXPECT_EQ(report.rows[4].function, "[full]");
  EXPECT_EQ(report.rows[5].function, "[lost]");
  EXPECT_DOUBLE_EQ(report.rows[0].share, 30.0 / 71);
  EXPECT_EQ(report.rows[0].nanoseconds, 30'000'000);
}

TEST(Rollup, PositionsWithoutNumberAreNamedAFewAtATime) {
  Profile profile = two_objects();
  profile.positions.clear();
  for (uint32_t executable : {0, 1})
    for (uint64_t position = 0x100; position < 0x100 + 60'000; ++position)
      profile.positions.push_back({executable, position, 1});
  profile.ledger = {.counted = 120'000};
  for (Grouping by : {Grouping::kFunction, Grouping::kLine}) {
    size_t most = 0;
    auto open = [&most](const ExecutableIdentity& identity) {
      return std::make_unique<CountingSymbolizer>(identity, &most);
    };
    Report batched = make_report(profile, open, {.by = by});
    EXPECT_GT(most, 0u);
    EXPECT_LT(most, 50'000u);
    EXPECT_EQ(total(batched), 120'000u);
    if (by == Grouping::kFunction) {
      EXPECT_EQ(batched.rows.size(), 2 * 235u) << "none is cut in two";
    }
  }
}

TEST(Rollup, LinesAreThoseOfTheInnermostFrame) {
  Report report = make(two_objects(), {.by = Grouping::kLine});
  EXPECT_EQ(report.rows[1].function, "inlined");
  EXPECT_EQ(report.rows[1].file, "/src/inlined.h");
  EXPECT_EQ(report.rows[1].line, 7u);
  EXPECT_EQ(report.rows[1].ticks, 20u);
}

TEST(Rollup, ALineIsOneRowHoweverUnitsCallItsFile) {
  Profile profile;
  profile.executables = {{ExecutableKind::kFile, "/bin/units", {}, 0}};
  profile.positions = {{0, 0x101, 30}, {0, 0x1101, 20}};
  profile.ledger = {.counted = 50};
  const Report report = make(profile, {.by = Grouping::kLine});
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_EQ(report.rows[0].file, "/src/inlined.h");
  EXPECT_EQ(report.rows[0].ticks, 50u);
}

/// Debug information names a local function of a namespace without it.
class LocalFunctions : public FakeSymbolizer {
 public:
  using FakeSymbolizer::FakeSymbolizer;
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
    std::vector<NamedRange> ranges = FakeSymbolizer::find_names(positions);
    for (NamedRange& range : ranges) {
      range.linkage = "_Z" + range.function;
      range.function = "app::" + range.function + "(int)";
    }
    return ranges;
  }
};

TEST(Rollup, ALineThatIsNotKnownIsNoLine0) {
  Profile profile = two_objects();
  profile.positions[0].position = 0;
  EXPECT_NE(text_report(profile, make(profile, {.by = Grouping::kLine}), {}).find("a.c:? "),
            std::string::npos);
}

/// Without lines; two functions of the object have one name.
class NoLines : public FakeSymbolizer {
 public:
  using FakeSymbolizer::FakeSymbolizer;
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
    return std::vector<std::vector<Frame>>(positions.size());
  }
};

TEST(Rollup, FunctionsWithoutLinesAreTheRowsThatTheyAreByFunction) {
  Profile profile = two_objects();
  profile.executables = {{ExecutableKind::kFile, "/bin/cxx", {1}, 0},
                         {ExecutableKind::kFile, "/bin/cxx", {2}, 0}};
  profile.positions = {{0, 0x400, 10}, {0, 0x410, 20}, {0, 0x500, 5}, {1, 0x400, 30}};  // "help", "help"
  const auto open = [](const ExecutableIdentity& identity) { return std::make_unique<NoLines>(identity); };
  for (const Grouping by : {Grouping::kFunction, Grouping::kLine}) {
    std::vector<uint64_t> ticks;
    std::set<std::string> names;
    for (const Row& row : make_report(profile, open, {.by = by}).rows) {
      if (row.function != "help") continue;
      ticks.push_back(row.ticks);
      names.insert(row.object + row.short_function);
    }
    EXPECT_EQ(ticks.size(), 3u);
    EXPECT_EQ(std::ranges::count(ticks, 30u), 2);
    EXPECT_GE(names.size(), 2u);
  }
}

TEST(Rollup, AFunctionHasTheSameNameByLineAsByFunction) {
  const auto open = [](const ExecutableIdentity& identity) {
    return std::make_unique<LocalFunctions>(identity);
  };
  for (const Grouping by : {Grouping::kFunction, Grouping::kLine}) {
    const Report report = make_report(two_objects(), open, {.by = by});
    EXPECT_EQ(report.rows[0].function, "app::f1(int)");
    EXPECT_EQ(report.rows[0].linkage, "_Zf1");
  }
}

TEST(Rollup, TicksOfNoProcessHaveARow) {
  Report report = make(two_objects(), {.by = Grouping::kProcess});
  ASSERT_EQ(report.rows.size(), 3u);
  EXPECT_EQ(report.rows[1].process, "[no process]");
  EXPECT_EQ(report.rows[1].ticks, 10u);
}

TEST(Rollup, ProcessesOfOneNameAreOneCommand) {
  Profile profile = two_objects();
  profile.processes.clear();
  const auto add = [&](int32_t pid, const char* comm, uint64_t ticks) {
    ProfileProcess& process = profile.processes.emplace_back();
    process.pid = pid;
    process.comm = comm;
    process.ticks = ticks;
  };
  add(11, "cc1", 10);
  add(12, "cc1", 0);
  add(12, "cc1", 20);  // it executed another program of that name
  add(13, "as", 5);
  add(0, "as", 5);
  const Report report = make(profile, {.by = Grouping::kCommand});
  const auto cc1 = std::ranges::find(report.rows, "cc1", &Row::process);
  ASSERT_NE(cc1, report.rows.end());
  EXPECT_EQ(cc1->ticks, 30u);
  EXPECT_EQ(cc1->processes, 2u);
  const auto as = std::ranges::find(report.rows, "as", &Row::process);
  ASSERT_NE(as, report.rows.end());
  EXPECT_EQ(as->ticks, 10u);
  EXPECT_EQ(as->processes, 0u) << "a row of the file without a pid stands for any number";
}

TEST(Rollup, TwoFunctionsOfOneNameStayTwoAndJitCopiesBecomeOne) {
  Profile profile = two_objects();
  auto open = [](const ExecutableIdentity& identity) -> std::unique_ptr<Symbolizer> {
    struct OneName : FakeSymbolizer {
      using FakeSymbolizer::FakeSymbolizer;
      std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
        std::vector<NamedRange> ranges = FakeSymbolizer::find_names(positions);
        for (NamedRange& range : ranges) range.function = "init";
        return ranges;
      }
    };
    return std::make_unique<OneName>(identity);
  };
  profile.ledger = {.counted = 65};
  EXPECT_EQ(make_report(profile, open, {}).rows.size(), 3u);
  for (Executable& executable : profile.executables) executable.kind = ExecutableKind::kPrivate;
  EXPECT_EQ(make_report(profile, open, {}).rows.size(), 1u);
}

/// A kernel lies elsewhere in each boot: its functions have other addresses.
TEST(Rollup, TheKernelsOfTwoBootsAreOne) {
  Profile profile = two_objects();
  const auto kernel = [](uint8_t boot) {
    return Executable{.kind = ExecutableKind::kKernel, .path = "[kernel]", .build_id = {}, .boot_id = {boot}};
  };
  profile.executables = {kernel(1), kernel(2)};
  profile.positions = {{0, 0x100, 10}, {0, 0x200, 5}, {1, 0x10100, 30}, {1, 0x10200, 20}};
  const auto open = [](const ExecutableIdentity& identity) -> std::unique_ptr<Symbolizer> {
    struct Moved : FakeSymbolizer {
      using FakeSymbolizer::FakeSymbolizer;
      std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
        std::vector<NamedRange> ranges = FakeSymbolizer::find_names(positions);
        for (NamedRange& range : ranges) range.function = range.start % 0x10000 == 0x100 ? "read" : "write";
        return ranges;
      }
      std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t>) override { return {}; }
    };
    return std::make_unique<Moved>(identity);
  };
  const Report by_object = make_report(profile, open, {.by = Grouping::kObject});
  EXPECT_EQ(by_object.rows[0].object, "[kernel]");
  EXPECT_EQ(by_object.rows[0].ticks, 65u);
  for (Grouping by : {Grouping::kFunction, Grouping::kLine}) {
    const Report report = make_report(profile, open, {.by = by});
    EXPECT_EQ(report.rows[0].short_function, "read");
    EXPECT_EQ(report.rows[0].object, "[kernel]");
    EXPECT_EQ(report.rows[0].ticks, 40u);
    EXPECT_EQ(report.rows[1].ticks, 25u);
  }
  profile.executables[1] = {ExecutableKind::kFile, "/lib/b", {}, 0};
  EXPECT_EQ(make_report(profile, open, {}).rows[0].address, 0x10100u);
  EXPECT_EQ(make_report(profile, open, {}).rows[2].address, 0x100u) << "of one boot namesakes stay apart";
}

TEST(Rollup, ObjectsOfOneNameAreToldApart) {
  Profile profile = two_objects();
  profile.executables[1].path = "/opt/a";
  Report report = make(profile, {.by = Grouping::kObject});
  EXPECT_EQ(report.rows[0].object, "/bin/a");
  EXPECT_EQ(report.rows[1].object, "/opt/a");
  profile.executables[1] = {ExecutableKind::kFile, "/bin/a", {0xab, 0xcd, 0xef, 0x01, 0x23}, 0};
  report = make(profile, {.by = Grouping::kObject});
  EXPECT_EQ(report.rows[1].object, "/bin/a (build abcdef01)");
  profile.executables[1] = {ExecutableKind::kFile, "/bin/a", {}, 0};
  profile.executables[1].stamp.inode = 77;
  report = make(profile, {.by = Grouping::kObject});
  EXPECT_EQ(report.rows[1].object, "/bin/a (inode 77)");
}

TEST(Rollup, AFilterIsOfTheLinesInsideToo) {
  const NamePattern pattern = *NamePattern::compile("inlined\\.h:7");
  const Report report =
      make(two_objects(), {.by = Grouping::kLine, .lines = {.inlines = true}, .filter = &pattern});
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_EQ(report.rows[0].file, "/src/a.c");
  EXPECT_EQ(report.rows[0].ticks, 20u);
}

/// As many lines of a header are inlined at a line of a.c as the position says.
class SymbolizerOfHeaders : public FakeSymbolizer {
 public:
  static std::unique_ptr<Symbolizer> open(const ExecutableIdentity& identity) {
    return std::make_unique<SymbolizerOfHeaders>(identity);
  }
  using FakeSymbolizer::FakeSymbolizer;
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
    std::vector<std::vector<Frame>> all;
    for (uint64_t position : positions) {
      std::vector<Frame>& frames = all.emplace_back();
      for (auto line = static_cast<uint32_t>(position % 16); line > 0; --line)
        frames.push_back({"at", "/usr/include/h.h", line});
      frames.push_back({"f", "/src/a.c", static_cast<uint32_t>(position / 16)});
    }
    return all;
  }
};

TEST(Rollup, AnOwnLineHasItsHottestChainBesideIt) {
  Profile profile;
  profile.executables.push_back({ExecutableKind::kFile, "/bin/a", {}, 0});
  profile.positions = {{0, 0x100, 5}, {0, 0x101, 10}, {0, 0x102, 30}, {0, 0x200, 7}, {0, 0x301, 3}};
  profile.ledger = {.counted = 55, .samples = 55, .weight_squares = 55};
  const auto rows = [&](const LineOptions& lines) {
    return make_report(profile, &SymbolizerOfHeaders::open, {.by = Grouping::kLine, .lines = lines}).rows;
  };
  const std::vector<Row> own = rows({.own = "/src"});
  ASSERT_EQ(own.size(), 3u) << "no row is split";
  EXPECT_EQ(own[0].ticks, 45u);
  EXPECT_EQ(own[0].hot_chain.lines, (InlinedLines{{"/usr/include/h.h", 1}, {"/usr/include/h.h", 2}}));
  EXPECT_EQ(own[0].hot_chain.ticks, 30u);
  EXPECT_EQ(own[0].hot_chain.others, 1u);
  EXPECT_EQ(line_place(own[0], false), "/src/a.c:16 < h.h:1 < h.h:2 (67 %, 1 more)");
  EXPECT_EQ(line_place(own[1], true), "a.c:32");
  EXPECT_EQ(line_place(own[2], true), "a.c:48 < h.h:1");
  const ReportOptions options{.by = Grouping::kLine, .lines = {.own = "/src"}};
  const std::string json = json_report(profile, make_report(profile, &SymbolizerOfHeaders::open, options));
  EXPECT_NE(json.find("\"others\": 1"), std::string::npos);
  EXPECT_EQ(rows({.own = "/src", .inlines = true}).size(), 5u);
  for (const LineOptions& lines : {LineOptions{.own = "/src", .inlines = true}, LineOptions{}})
    for (const Row& row : rows(lines)) EXPECT_TRUE(row.hot_chain.lines.empty());
}

TEST(Rollup, HidesTheSmallestAndSaysHowMuch) {
  Report report = make(two_objects(), {.order = RowOrder::kName, .limit = 2});
  ASSERT_EQ(report.rows.size(), 2u);
  EXPECT_EQ(report.rows[0].object, "a");
  EXPECT_EQ(report.hidden_rows, 4u);
  EXPECT_EQ(report.hidden_ticks, 11u);
  EXPECT_DOUBLE_EQ(report.hidden_share, 5.0 / 71);
  EXPECT_EQ(make(two_objects(), {.min_share = 0.06}).rows.size(), 3u);
  EXPECT_EQ(make(two_objects(), {.min_share = 1}).rows.size(), 0u);
}

TEST(Rollup, ByTotalsWhatIsNoFunctionHasItsTicksPlace) {
  Profile profile = two_objects();
  profile.ledger.lost = 500;
  profile.paths.recorded = true;
  const Report report = make(profile, {.order = RowOrder::kTotal, .min_share = 0.5});
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_EQ(report.rows[0].function, "[lost]");
  EXPECT_LT(report.hidden_share, 0.5);
  EXPECT_EQ(make(profile, {.order = RowOrder::kTotal, .limit = 1}).rows.at(0).function, "[lost]");
}

TEST(Rollup, SaysWhichOptionShowsTheRest) {
  const auto says = [](const ReportOptions& options, const std::string& what) {
    const std::string text = text_report(two_objects(), make(two_objects(), options), {});
    return text.find("); " + what + " shows them\n") != std::string::npos;
  };
  EXPECT_TRUE(says({.limit = 2}, "--limit 0"));
  EXPECT_TRUE(says({.min_share = 0.5}, "--min-share 0"));
  EXPECT_TRUE(says({.limit = 1, .min_share = 0.06}, "--limit 0 --min-share 0"));
}

/// As names that several recordings have kept: functions of one start, one after the other.
class TwoNamesOfOneStart : public FakeSymbolizer {
 public:
  using FakeSymbolizer::FakeSymbolizer;
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
    std::vector<NamedRange> ranges = FakeSymbolizer::find_names(positions);
    for (size_t i = 0; i < ranges.size(); ++i)
      if (positions[i] % 0x100 >= 0x80) ranges[i].function += "_2";
    return ranges;
  }
};

TEST(Rollup, FunctionsOfOneStartAndTwoNamesAreTwo) {
  Profile profile;
  profile.executables.push_back({.path = "/bin/a", .build_id = {}});
  profile.positions = {{0, 0x110, 5}, {0, 0x190, 3}};
  profile.ledger.counted = 8;
  const auto open = [](const ExecutableIdentity& identity) {
    return std::make_unique<TwoNamesOfOneStart>(identity);
  };
  const Report report = make_report(profile, open, {});
  ASSERT_EQ(report.rows.size(), 2u);
  EXPECT_EQ(report.rows[0].ticks, 5u);
  EXPECT_EQ(report.rows[1].function, "f1_2");
}

/// The same line of a header that two units have compiled, which see its function begin at other lines.
TEST(Rollup, OfALineWhoseUnitsDisagreeTheStartOfItsFunctionIsNotKnown) {
  class Units : public FakeSymbolizer {
   public:
    using FakeSymbolizer::FakeSymbolizer;
    std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
      std::vector<std::vector<Frame>> frames;
      for (const uint64_t position : positions)
        frames.push_back({{.function = "f",
                           .file = "/src/x.h",
                           .line = 9,
                           .linkage = "",
                           .start_line = position < 0x130 ? 5u : 7u}});
      return frames;
    }
  };
  const auto open = [](const ExecutableIdentity& identity) { return std::make_unique<Units>(identity); };
  Profile profile;
  profile.executables.push_back({.path = "/bin/a", .build_id = {}});
  profile.positions = {{0, 0x110, 5}, {0, 0x120, 3}};
  profile.ledger.counted = 8;
  EXPECT_EQ(make_report(profile, open, {.by = Grouping::kLine}).rows.at(0).start_line, 5u);
  profile.positions.push_back({0, 0x138, 1});
  EXPECT_EQ(make_report(profile, open, {.by = Grouping::kLine}).rows.at(0).start_line, 0u);
}

TEST(Rollup, AnEmptyProfileIsAReport) {
  Profile profile;
  for (Grouping by :
       {Grouping::kFunction, Grouping::kObject, Grouping::kLine, Grouping::kProcess, Grouping::kCommand}) {
    Report report = make(profile, {.by = by});
    EXPECT_EQ(report.rows.size(), 0u);
    EXPECT_FALSE(text_report(profile, report, {}).empty());
    EXPECT_FALSE(json_report(profile, report).empty());
  }
}

TEST(Rollup, RowsAlwaysAddUpToTheLedger) {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    Profile profile;
    profile.closed = true;
    profile.period_ns = 1 + random() % 2'000'000;
    profile.ledger = {.outside = random() % 3, .full = random() % 2, .lost = random() % 4};
    for (uint32_t executable = 0; executable < random() % 5; ++executable) {
      profile.executables.push_back(
          {ExecutableKind{static_cast<int>(random() % 4)}, "/x/" + std::to_string(random() % 3), {}, 0});
      for (uint64_t position = 0; position < 2000; position += 1 + random() % 300) {
        profile.positions.push_back({executable, position, 1 + random() % 9});
        profile.ledger.counted += profile.positions.back().ticks;
      }
    }
    for (Grouping by :
         {Grouping::kFunction, Grouping::kObject, Grouping::kLine, Grouping::kProcess, Grouping::kCommand}) {
      ReportOptions options{.by = by, .limit = random() % 6, .min_share = random() % 2 * 0.03};
      EXPECT_EQ(total(make(profile, options)), profile.ledger.ticks());
    }
  }
}

TEST(Rollup, ASymbolizerThatReturnsTooLittleLosesNoTick) {
  auto open = [](const ExecutableIdentity& identity) -> std::unique_ptr<Symbolizer> {
    struct Silent : FakeSymbolizer {
      using FakeSymbolizer::FakeSymbolizer;
      std::vector<NamedRange> find_names(std::span<const uint64_t>) override { return {}; }
      std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t>) override { return {}; }
    };
    return std::make_unique<Silent>(identity);
  };
  for (Grouping by : {Grouping::kFunction, Grouping::kLine})
    EXPECT_EQ(total(make_report(two_objects(), open, {.by = by})), 71u);
}

TEST(Rollup, NamesDoNotChangeTheRows) {
  Profile profile;
  profile.executables.push_back({ExecutableKind::kFile, "/bin/cxx", {1}, 0});
  for (uint64_t i = 0; i < 9; ++i) profile.positions.push_back({0, 0x100 * i, 10});
  profile.ledger.counted = 90;
  Report report = make_report(profile, &FakeSymbolizer::open, {});
  EXPECT_EQ(report.rows.size(), 9u);
  std::set<std::string> shown;
  uint64_t sum = 0;
  for (const Row& row : report.rows) {
    shown.insert(row.short_function);
    sum += row.ticks;
  }
  EXPECT_EQ(shown.size(), 9u) << "look-alikes are distinguished";
  EXPECT_EQ(sum, 90u);
}

}  // namespace
}  // namespace pctally
