#include "report/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/fake_symbolizer_for_test.h"
#include "report/print/escape.h"

namespace pctally {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Profile small_profile() {
  Profile profile;
  profile.closed = true;
  profile.engine = "ring";
  profile.command = {"my prog", "-x", "it's", ""};
  profile.period_asked_ns = profile.period_ns = 1'000'000;
  profile.duration_ns = 13'000'000'000;
  profile.kernel_observed = profile.cpu_known = true;
  profile.cpu_user_ns = 12'400'000'000;
  profile.executables = {{ExecutableKind::kFile, "/bin/prog", {}, 0}};
  profile.positions = {{0, 0x100, 12'340}};
  profile.ledger = {.counted = 12'340, .outside = 5, .samples = 12'345, .weight_squares = 12'345};
  return profile;
}

std::string shown(const Profile& profile, const TextOptions& options = {}, const ReportOptions& rows = {}) {
  return text_report(profile, make_report(profile, FakeSymbolizer::open, rows), options);
}

TEST(Text, EndsWithTheTwoAccounts) {
  EXPECT_THAT(shown(small_profile()),
              HasSubstr("\nticks     12345 = 12340 counted + 5 outside + 0 full + 0 lost\n"
                        "CPU time  12.40 s, all sampled (12.35 s in ticks)\n"));
}

/// Where their periods differ, a tick of the sum is an event.
TEST(Text, ASumOfEventsHasThemInOneColumn) {
  Profile profile = small_profile();
  profile.event = "page-faults";
  EXPECT_THAT(shown(profile), HasSubstr("    events ticks  function"));
  profile.period_asked_ns = profile.period_ns = 1;
  profile.runs.resize(2);
  EXPECT_THAT(shown(profile), AllOf(HasSubstr("      events  function"), HasSubstr("      12340  f1")));
}

TEST(Text, TheCpuAccountAddsUpAsPrinted) {
  Profile profile = small_profile();
  profile.cpu_user_ns = 12'754'900'000;
  EXPECT_THAT(shown(profile), HasSubstr("12.75 s = 12.35 sampled + 0.00 lost + 0.40 unsampled"));
  profile.cpu_user_ns = 12'001'000'000;
  EXPECT_THAT(shown(profile), HasSubstr("12.00 s = 12.35 sampled + 0.00 lost - 0.35 unsampled"));
  profile.machine_cpus = 2;
  EXPECT_THAT(shown(profile),
              HasSubstr("12.00 s = 12.35 sampled + 0.00 lost - 0.35 unsampled (± 0.16 by chance)"));
  profile.cpu_known = false;
  EXPECT_THAT(shown(profile), HasSubstr("CPU time  unknown: 12.35 s sampled"));
}

TEST(Text, AGapOfOnePercentIsWorthItsFigures) {
  Profile profile = small_profile();
  profile.cpu_user_ns = 12'460'000'000;
  EXPECT_THAT(shown(profile), HasSubstr("CPU time  12.46 s, all sampled (12.35 s in ticks)\n"));
  profile.cpu_user_ns = 12'480'000'000;
  EXPECT_THAT(shown(profile), HasSubstr("CPU time  12.48 s = 12.35 sampled + 0.00 lost + 0.13 unsampled\n"));
  profile.ledger.outside = 0;
  EXPECT_THAT(shown(profile), HasSubstr("\nticks     12340, all counted\n"));
}

TEST(Text, WithoutATickNoTimeIsAllSampled) {
  Profile profile = small_profile();
  profile.positions.clear();
  profile.ledger = {};
  profile.machine_cpus = 2;
  profile.cpu_user_ns = 2'000'000;
  EXPECT_THAT(shown(profile), HasSubstr("CPU time  0.002 s = 0.000 sampled + 0.000 lost + 0.002 unsampled"));
}

TEST(Text, SaysWhatRanAndHowItWasSampled) {
  EXPECT_THAT(shown(small_profile()),
              AllOf(HasSubstr("command   'my prog' -x 'it'\\''s' ''\n"),
                    HasSubstr("ring, 995.6 ticks per CPU second (1000 asked)"),
                    HasSubstr("12.40 s of CPU time, 13.00 s elapsed, 12,345 ticks"), HasSubstr("self time")));
  Profile profile = small_profile();
  profile.exit_status = 9;
  EXPECT_THAT(shown(profile), HasSubstr("ended by signal 9"));
  profile.exit_status = 3 << 8;
  EXPECT_THAT(shown(profile), HasSubstr("exit status 3"));
}

/// The kernel's clock gave one sample for two or three of the ticks asked for.
TEST(Text, TheRateIsOfTicksAndOfTheSamplesThatStandForThem) {
  Profile profile = small_profile();
  profile.engine = "timer";
  profile.ledger.samples = 4'960;
  EXPECT_THAT(shown(profile), HasSubstr("timer, 995.6 ticks in 400.0 samples per CPU second (1000 asked)"));
  profile.ledger.samples = 12'300;
  EXPECT_THAT(shown(profile), HasSubstr("timer, 991.9 ticks per CPU second (1000 asked)"));
}

TEST(Text, OfSamplesOfAnotherToolWithUnequalPeriodsTicksAreTime) {
  Profile profile = small_profile();
  profile.engine = "perf";
  profile.period_asked_ns = 0;
  profile.period_ns = 1;
  profile.cpu_known = false;
  profile.ledger = {.counted = 12'340'000'000, .samples = 12'340, .weight_squares = 12'340'000'000e6};
  profile.positions = {{0, 0x100, 12'340'000'000}};
  EXPECT_THAT(
      shown(profile),
      AllOf(HasSubstr("perf, 1000.0 samples per sampled second"), HasSubstr(" elapsed, 12,340 samples\n"),
            HasSubstr("\nns        12340000000, all counted\n"), Not(HasSubstr("ticks"))));
  profile.runs = {profile, profile};
  EXPECT_THAT(shown(profile), AllOf(HasSubstr(", 24,680 samples\n"), Not(HasSubstr("ticks"))));
}

TEST(Text, OfAnEventItCountsEventsAndNoTime) {
  Profile profile = small_profile();
  profile.event = "cache-misses";
  profile.period_asked_ns = 10'000;
  profile.period_ns = 9'700;
  profile.machine_cpus = 2;
  std::string text = shown(profile);
  EXPECT_THAT(text,
              HasSubstr("ring, a tick per 10,000 cache-misses (9,700 drawn at random near it), 995.6 ticks "
                        "per CPU second\n"));
  EXPECT_THAT(text, HasSubstr("shares    cache-misses, not of callees; ± is a 95 % confidence interval"));
  EXPECT_THAT(text, HasSubstr("   share      ±      events ticks"));
  EXPECT_THAT(text, HasSubstr("   119698000 12340"));
  EXPECT_THAT(text, HasSubstr("\nticks     12345 = 12340 counted + 5 outside + 0 full + 0 lost\n"
                              "events    119746500 cache-misses = 119746500 sampled + 0 lost\n"));
  for (const char* time : {"self time", "seconds ", "unsampled", "CPU time  ", "chance"})
    EXPECT_THAT(text, Not(HasSubstr(time)));
}

TEST(Text, EventsTakeTheRoomTheyNeed) {
  Profile profile = small_profile();
  profile.event = "cycles";
  profile.period_ns = 1'000'000'000;
  EXPECT_THAT(shown(profile), AllOf(HasSubstr("   share      ±         events ticks"), HasSubstr(" % "),
                                    HasSubstr(" 12340000000000 12340")));
}

TEST(Text, TruncationIsLoud) {
  EXPECT_THAT(shown(small_profile(), {}, {.limit = 1}),
              HasSubstr("+1 row of 0.04 % or less (0.04 % together, 5 ticks); --limit 0 shows it\n"));
}

TEST(Text, WideNamesAreCutOnlyToFitATerminal) {
  struct Wide : FakeSymbolizer {
    using FakeSymbolizer::FakeSymbolizer;
    std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
      return std::vector<NamedRange>(positions.size(), NamedRange{std::string(300, 'w'), 0, 0});
    }
  };
  auto open = [](const ExecutableIdentity& identity) -> std::unique_ptr<Symbolizer> {
    return std::make_unique<Wide>(identity);
  };
  Profile profile = small_profile();
  Report report = make_report(profile, open, {});
  EXPECT_THAT(text_report(profile, report, {}), HasSubstr(std::string(300, 'w') + "  prog\n"));
  EXPECT_THAT(text_report(profile, report, {.width = 80}), HasSubstr("w…  prog\n"));
  for (Row& row : report.rows) row.object = "libofalongname-with-a-version.so.1.2.345";
  for (const size_t width : {40, 64, 80}) {
    std::string table = text_report(profile, report, {.width = width});
    table = table.substr(table.find("   share"));
    table.resize(table.find("\n\n"));
    for (size_t start = 0; start < table.size();) {
      size_t end = std::min(table.find('\n', start), table.size());
      EXPECT_LE(width_of(table.substr(start, end - start)), width);
      start = end + 1;
    }
  }
}

TEST(Text, ANarrowTerminalLosesTicksThenObjectsThenTimes) {
  Profile profile = small_profile();
  profile.executables[0].path = "/lib/libofalongname-with-a-version-and-more-than-that.so.1.2.345";
  const auto titles = [&](size_t width) {
    const std::string text = shown(profile, {.width = width});
    const size_t start = text.find("   share");
    return text.substr(start, text.find('\n', start) - start);
  };
  EXPECT_THAT(titles(100), HasSubstr("seconds ticks  function"));
  EXPECT_THAT(titles(99), AllOf(HasSubstr("seconds  function"), HasSubstr("object")));
  EXPECT_THAT(titles(56), AllOf(HasSubstr("seconds  function"), Not(HasSubstr("object"))));
  EXPECT_THAT(titles(40), AllOf(HasSubstr("±   function"), Not(HasSubstr("seconds"))));
}

TEST(Text, ColorsNothingUnlessAsked) {
  EXPECT_THAT(shown(small_profile()), Not(HasSubstr("\033")));
  EXPECT_THAT(shown(small_profile(), {.color = true}), HasSubstr("\033[1m"));
}

TEST(Text, NamesCannotSteerTheTerminal) {
  Profile profile = small_profile();
  profile.command = {"\033[2J"};
  profile.engine = "\033[2J";
  profile.executables[0].path = "/bin/evil";
  profile.processes = {{.comm = "\033]0;x\a", .engine = "", .note = "\033"}};
  profile.damage = {"\u202e"};
  for (Grouping by : {Grouping::kFunction, Grouping::kLine, Grouping::kProcess, Grouping::kObject})
    EXPECT_THAT(shown(profile, {}, {.by = by}), AllOf(Not(HasSubstr("\033")), Not(HasSubstr("\u202e"))));
}

}  // namespace
}  // namespace pctally
