#include "report/live/live_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "histread/file_builder_for_test.h"
#include "profile/load.h"
#include "report/fake_symbolizer_for_test.h"
#include "report/print/escape.h"

namespace pctally {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr uint64_t kSecondNs = 1'000'000'000;

class LiveTextTest : public testing::Test {
 protected:
  LiveTextTest() {
    file_.header().state = FileState::kRecording;
    file_.command(std::string_view("sort\0-k 2\0", 10));
    file_.count(file_.segment(file_.object("/usr/lib/libmany.so.1"), 0, 0x4000), 0x108, 30000);
    for (uint64_t i = 0; i < 40; ++i) file_.count(segment_, 0x100 * i + 8, 100 + i);
    file_.count(file_.segment(file_.object("/bin/evil"), 0, 0x1000), 8, 500);
    look(60);
    file_.count(segment_, 0x208, 900);
    file_.count(segment_, 0x308, 90);
    file_.header().ledger.outside = 10;
    look(62);
  }
  void look(uint64_t at_s) {
    file_.header().heartbeat_ns = at_s * kSecondNs;
    Profile profile = load_profile(file_.all_bytes()).value();
    profile.recorder_alive = true;
    history_.add(std::move(profile), at_s * kSecondNs);
  }
  std::vector<LiveLine> lines(const LiveTextOptions& options, Grouping by = Grouping::kFunction) {
    return live_text(history_.latest(),
                     make_live_table(history_, names_, {.by = by, .filter = options.filter}), options);
  }
  std::string text(const LiveTextOptions& options, Grouping by = Grouping::kFunction) {
    std::string all;
    for (const LiveLine& line : lines(options, by)) all += line.text + "\n";
    return all;
  }

  FileBuilder file_;
  uint32_t segment_ = file_.segment(file_.object("/usr/bin/sort"), 0, 0x10000);
  NameCache names_{FakeSymbolizer::open};
  LiveHistory history_{5 * kSecondNs};
};

TEST_F(LiveTextTest, InEightyColumns) {
  EXPECT_EQ(text({.width = 80, .rows = 5, .state = "recording"}),
            "pctally top: sort '-k 2'                                             [recording]\n"
            "last 2.0 s: 1,000 ticks, 0.50 CPUs; all 62.0 s: 36,280 ticks; by function\n"
            "\n"
            "    now      ± change       all  function                           object\n"
            " 90.00%   2.03 +89.71 ▲   2.76%  f2                                 sort\n"
            "  9.00%   1.94  +8.71 ▲   0.53%  f3                                 sort\n"
            "  1.00%   0.84  +1.00 ▲   0.03%  [outside]\n"
            "  0.00%   0.39 -85.03 ▼  82.69%  f1                                 libmany.so.1\n"
            "  0.00%   0.39  -1.42 ▼   1.38%  \\x1b]0;owned\\x07\\u{202e}\\xff\\u{9…  evil\n"
            "ticks 36280 = 36270 counted + 10 outside + 0 full + 0 lost\n");
}

/// f3 may have run below f1, too; what was lost has no callees.
TEST_F(LiveTextTest, TotalsOfFoldedPathsAreTheLeastAndPseudoRowsHaveNone) {
  Profile profile;
  profile.closed = true;
  profile.period_ns = 1000000;
  profile.duration_ns = kSecondNs;
  profile.executables.push_back({.path = "/bin/a", .build_id = {}});
  profile.positions = {{0, 0x200, 600}, {0, 0x300, 300}};
  profile.ledger = {.counted = 900, .lost = 100, .samples = 1000, .weight_squares = 1000};
  profile.paths.recorded = true;
  profile.paths.scopes = {{"/bin/a", {}}};
  profile.paths.context = {{.kind = PathNodeKind::kScope},
                           {.parent = 0, .kind = PathNodeKind::kCode, .position = 0x210, .folded = 600},
                           {.parent = 0, .kind = PathNodeKind::kCode, .position = 0x300, .self = 300}};
  LiveHistory history(5 * kSecondNs);
  history.add(profile, kSecondNs);
  std::string all;
  for (const LiveLine& line : live_text(profile, make_live_table(history, names_, {}), {.width = 80}))
    all += line.text + "\n";
  EXPECT_THAT(all, HasSubstr("\n >30.0%   30.00%"));
  EXPECT_THAT(all, HasSubstr("\n 60.00%   60.00%"));
  EXPECT_THAT(all, HasSubstr("\n          10.00%"));
}

TEST_F(LiveTextTest, AsPlainLines) {
  EXPECT_EQ(text({.rows = 2}, Grouping::kObject),
            "pctally top: sort '-k 2'\n"
            "last 2.0 s: 1,000 ticks, 0.50 CPUs; all 62.0 s: 36,280 ticks; by object\n"
            "\n"
            "    now      ± change       all  object\n"
            " 99.00%   0.84 +85.45 ▲  15.90%  sort\n"
            "  1.00%   0.84  +1.00 ▲   0.03%  [outside]\n"
            "+2 rows (together now 0.00 %, all 84.07 %); --limit 0 shows them\n"
            "ticks 36280 = 36270 counted + 10 outside + 0 full + 0 lost\n");
  EXPECT_THAT(text({}, Grouping::kObject), Not(HasSubstr("--limit")));
}

TEST_F(LiveTextTest, OfAnEventSaysWhatATickIs) {
  memcpy(file_.header().event, "page-faults", 12);
  file_.header().period_ns = 7;
  look(64);
  EXPECT_THAT(text({.rows = 2}), HasSubstr("36,280 ticks of 7 page-faults; by function"));
}

TEST_F(LiveTextTest, OfAMergedFileTicksAreTime) {
  Profile profile;
  profile.closed = true;
  profile.period_ns = 1;
  profile.duration_ns = 2 * kSecondNs;
  profile.runs.resize(2);
  profile.executables.push_back({.path = "/bin/a", .build_id = {}});
  profile.positions = {{0, 0x200, 2'397'112'004}};
  profile.ledger = {.counted = 2'397'112'004, .samples = 2400};
  LiveHistory history(5 * kSecondNs);
  history.add(profile, 2 * kSecondNs);
  const auto shown = [&](size_t width) {
    std::string all;
    for (const LiveLine& line : live_text(profile, make_live_table(history, names_, {}), {.width = width}))
      all += line.text + "\n";
    return all;
  };
  EXPECT_THAT(shown(100), HasSubstr("all 2.0 s: 2397.1 ms of CPU time; by function\n"));
  EXPECT_THAT(shown(100), HasSubstr("\nns 2397112004 = 2397112004 counted + 0 outside"));
  EXPECT_THAT(shown(50), HasSubstr("all 2.0 s: 2397.1 ms\n"));
  EXPECT_THAT(shown(50), HasSubstr("\n2397112004 ns: 0 outside"));
  EXPECT_THAT(shown(100), Not(HasSubstr("ticks")));
}

TEST_F(LiveTextTest, NoLineIsWiderThanAskedAndNoneStandsBesideItsPlace) {
  for (Grouping by : {Grouping::kFunction, Grouping::kObject, Grouping::kLine, Grouping::kProcess})
    for (size_t width : {1u, 2u, 10u, 17u, 18u, 19u, 35u, 40u, 59u, 60u, 79u, 80u, 200u})
      for (bool ascii : {false, true}) {
        std::vector<LiveLine> all =
            lines({.width = width, .rows = 10, .ascii = ascii, .state = "recording"}, by);
        EXPECT_LE(all.size(), kFixedLiveLines + 10);
        for (const LiveLine& line : all) {
          EXPECT_LE(width_of(line.text), width) << line.text;
          for (char byte : line.text)
            EXPECT_TRUE((byte & 0xe0) != 0 && (!ascii || (byte & 0x80) == 0)) << line.text;
        }
      }
}

TEST_F(LiveTextTest, ANarrowTerminalKeepsShareTrendAndName) {
  EXPECT_THAT(text({.width = 40, .rows = 1}),
              HasSubstr("\n    now      ±   function\n 90.00%   2.03 ▲ f2\n"));
  EXPECT_THAT(text({.width = 40, .rows = 1}), HasSubstr("\n2.0 s: 1,000 ticks; all 62.0 s: 36,280\n"));
  EXPECT_THAT(text({.width = 40, .rows = 1}), HasSubstr("\n36280 ticks: 10 outside, 0 full, 0 lost\n"));
}

TEST_F(LiveTextTest, WithoutUtf8) {
  EXPECT_THAT(text({.width = 80, .rows = 4, .ascii = true}), HasSubstr("  0.00%   0.39 -85.03 v"));
}

TEST_F(LiveTextTest, AMessageTakesThePlaceOfWarnings) {
  EXPECT_EQ(lines({.width = 80})[2].text, "");
  std::vector<LiveLine> all = lines({.width = 80, .message = "cannot read \033[2J"});
  EXPECT_EQ(all[2].text, "cannot read \\x1b[2J");
  EXPECT_EQ(all[2].style, LineStyle::kWarning);
  file_.header().ledger.lost = 3000;
  look(63);
  EXPECT_THAT(lines({.width = 80})[2].text, StartsWith("INCOMPLETE: "));
}

TEST_F(LiveTextTest, FilterAndScrolling) {
  EXPECT_THAT(text({.width = 100, .filter = "LIBMANY"}), HasSubstr("1 of 43 rows contain \"LIBMANY\""));
  EXPECT_THAT(text({.width = 80, .rows = 2, .first = 1}), Not(HasSubstr("90.00%")));
  EXPECT_EQ(lines({.width = 80, .rows = 2, .first = 1000}).size(), kFixedLiveLines);
}

TEST_F(LiveTextTest, HelpFitsTheSmallestUsualTerminal) {
  std::vector<LiveLine> help = live_help({.width = 80});
  EXPECT_LE(help.size(), 23u);
  for (const LiveLine& line : help) {
    EXPECT_LE(width_of(line.text), 80u);
    EXPECT_THAT(line.text, Not(HasSubstr("…")));
  }
}

}  // namespace
}  // namespace pctally
