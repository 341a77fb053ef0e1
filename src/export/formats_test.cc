#include "export/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <protozero/pbf_reader.hpp>
#include <sstream>

#include "base/kernel/cpu_time_for_test.h"
#include "export/profiles_for_test.h"
#include "object/elf/elf_file.h"

#include "report/fake_symbolizer_for_test.h"

namespace pctally {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string all_formats() {
  Profile profile = sample_profile();
  Samples samples = samples_of(profile, &FakeSymbolizer::open, true);
  return folded_export(profile, samples) + callgrind_export(profile, samples) + csv_export(profile, samples) +
         speedscope_export(profile, samples);
}

TEST(Samples, AddUpToTheLedger) {
  for (bool lines : {false, true}) {
    uint64_t sum = 0;
    for (const Sample& sample : samples_of(sample_profile(), &FakeSymbolizer::open, lines).samples)
      sum += sample.ticks;
    EXPECT_EQ(sum, 22u);
  }
}

TEST(Stacks, AddUpToTheLedger) {
  uint64_t sum = 0;
  for (const Sample& sample : stacks_of(profile_with_callers(), &FakeSymbolizer::open, true).samples)
    sum += sample.ticks;
  EXPECT_EQ(sum, 22u);
}

class AscendingSymbolizer : public FakeSymbolizer {
 public:
  using FakeSymbolizer::FakeSymbolizer;
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
    EXPECT_TRUE(std::ranges::is_sorted(positions));
    return FakeSymbolizer::find_names(positions);
  }
};

/// As symbolizers want them; f4 is met before f3, which it calls.
TEST(Stacks, AreNamedByAscendingPositions) {
  Profile profile = profile_with_callers();
  std::swap(profile.paths.context[2].position, profile.paths.context[3].position);
  const OpenSymbolizer open = [](const ExecutableIdentity& identity) {
    return std::make_unique<AscendingSymbolizer>(identity);
  };
  EXPECT_FALSE(stacks_of(profile, open, true).samples.empty());
}

TEST(Stacks, HaveTheThreadBelowItsProgramAndInPprofAsALabel) {
  Profile profile = profile_with_callers();
  profile.paths.scopes = {{"/bin/prog", {}, PathScopeKind::kThread, "io"}};
  const Samples samples = stacks_of(profile, &FakeSymbolizer::open, true);
  EXPECT_THAT(folded_export(profile, samples), HasSubstr("prog;io;f1;inlined;f2;f3 12\n"));
  for (const Sample& sample : samples.samples)
    EXPECT_EQ(sample.thread, samples.place_of(sample).frames[0].function == "[lost]" ? "" : "io");
}

TEST(Stacks, WithoutCallPathsHaveTheScopeAndTheLineOfTheTick) {
  Profile profile = sample_profile();
  profile.paths.one_frame = true;
  profile.paths.scopes = {{"/system.slice/x", {}, PathScopeKind::kGroup}};
  profile.paths.context = {{.kind = PathNodeKind::kScope},
                           {.parent = 0, .kind = PathNodeKind::kCode, .position = 0x111, .self = 12}};
  const Samples samples = stacks_of(profile, &FakeSymbolizer::open, true);
  EXPECT_THAT(folded_export(profile, samples), HasSubstr("/system.slice/x;f1;inlined 12\n"));
  EXPECT_EQ(samples.place_of(samples.samples[0]).frames.back().line, 0x11u);
}

TEST(Stacks, HaveTheProgramTheCallersAndWhatWasInlinedAtTheCalls) {
  const Profile profile = profile_with_callers();
  const std::string text = folded_export(profile, stacks_of(profile, &FakeSymbolizer::open, true));
  EXPECT_THAT(text, HasSubstr("prog;f1;inlined;f2;f3 12\n"));
  EXPECT_THAT(text, HasSubstr("prog;[path cut at code without unwind table] 4\n"));
  EXPECT_THAT(text, HasSubstr("prog;f1;inlined;f4 1\n"));
  EXPECT_THAT(text, HasSubstr("prog;f1;inlined;f4;[folded];f1 1\n"));
}

/// Which of the callers had which line is not known; how many ticks each line and each caller had is.
TEST(Stacks, ShareTheLinesOfAFunctionAmongItsCallers) {
  Profile profile = sample_profile();
  profile.paths.recorded = true;
  profile.paths.scopes = {{"/bin/prog", {}}};
  profile.paths.context = {{.kind = PathNodeKind::kScope},
                           {.parent = 0, .kind = PathNodeKind::kCode, .position = 0x110},
                           {.parent = 1, .kind = PathNodeKind::kCode, .position = 0x300, .self = 31},
                           {.parent = 0, .kind = PathNodeKind::kCode, .position = 0x210},
                           {.parent = 3, .kind = PathNodeKind::kCode, .position = 0x300, .self = 29}};
  profile.positions = {{0, 0x300, 17}, {0, 0x315, 22}, {0, 0x320, 21}};
  profile.ledger = {.counted = 60, .samples = 60};
  const Samples samples = stacks_of(profile, &FakeSymbolizer::open, true);
  std::map<std::string, uint64_t> lines, callers;
  for (const Sample& sample : samples.samples) {
    const Location& place = samples.place_of(sample);
    lines[place.frames.front().function + ":" + std::to_string(place.frames.back().line)] += sample.ticks;
    callers[samples.locations[sample.stack[1]].frames.back().function] += sample.ticks;
  }
  EXPECT_EQ(lines, (decltype(lines){{"f3:48", 17}, {"inlined:49", 22}, {"f3:50", 21}}));
  EXPECT_EQ(callers, (decltype(callers){{"f1", 31}, {"f2", 29}}));
  EXPECT_THAT(folded_export(profile, samples),
              AllOf(HasSubstr("prog;f1;f3 20\n"), HasSubstr("prog;f1;f3;inlined 11\n"),
                    HasSubstr("prog;f2;f3 18\n"), HasSubstr("prog;f2;f3;inlined 11\n")));
}

TEST(Stacks, OfSpeedscopeHaveTheInnermostFrameLast) {
  const Profile profile = profile_with_callers();
  auto json =
      nlohmann::json::parse(speedscope_export(profile, stacks_of(profile, &FakeSymbolizer::open, false)));
  std::string deepest;
  const auto& run = json["profiles"][0];
  for (size_t i = 0; i < run["samples"].size(); ++i)
    if (run["weights"][i] == 12'000'000)
      deepest = json["shared"]["frames"][run["samples"][i].back().get<size_t>()]["name"];
  EXPECT_EQ(deepest, "f3");
}

TEST(Stacks, OfSpeedscopeHaveInlinedCodeBelowItsFunction) {
  const Profile profile = profile_with_callers();
  const auto json =
      nlohmann::json::parse(speedscope_export(profile, stacks_of(profile, &FakeSymbolizer::open, true)));
  const auto& run = json["profiles"][0];
  std::string deepest;
  for (size_t i = 0; i < run["samples"].size(); ++i) {
    if (run["weights"][i] != 12'000'000) continue;
    for (const auto& frame : run["samples"][i])
      deepest += json["shared"]["frames"][frame.get<size_t>()]["name"].get<std::string>() + ";";
  }
  EXPECT_EQ(deepest, "prog;f1;inlined;f2;f3;");
}

/// Of one path with so many frames, and ticks at its end alone.
uint64_t cpu_ns_of_a_path(uint32_t depth) {
  Profile profile = sample_profile();
  profile.paths.recorded = true;
  profile.paths.scopes = {{"/bin/prog", {}}};
  profile.paths.context = {{.kind = PathNodeKind::kScope}};
  for (uint32_t parent = 0; parent < depth; ++parent)
    profile.paths.context.push_back({.parent = parent, .kind = PathNodeKind::kCode, .position = 0x110});
  profile.paths.context.back().self = 14;
  const uint64_t before = process_cpu_ns();
  const Samples samples = stacks_of(profile, &FakeSymbolizer::open, false);
  const uint64_t used = process_cpu_ns() - before;
  EXPECT_EQ(samples.samples[0].stack.size(), depth + 1);
  return used;
}

/// An imported stack may have millions of frames; what has no ticks of its own is no sample, and costs none:
/// else four times as many would cost sixteen times as much, 1.8 s where these take 5 ms.
TEST(Stacks, OfADeepPathCostWhatItIsLong) {
  constexpr uint64_t kHeldNs = 100'000'000;  ///< a host may stop the CPU for so long
  EXPECT_LT(cpu_ns_of_a_path(40'000), 8 * cpu_ns_of_a_path(10'000) + kHeldNs);
}

TEST(Samples, NamesAreFullUnlessAsked) {
  Profile profile = sample_profile();
  profile.executables[0].path = "/bin/cxx";
  auto folded = [&profile](NameStyle style) {
    return folded_export(profile, samples_of(profile, &FakeSymbolizer::open, false, style));
  };
  EXPECT_THAT(folded(NameStyle::kFull), HasSubstr("prog;cxx;void put<long>(long) 5\n"));
  EXPECT_THAT(folded(NameStyle::kShort), HasSubstr("prog;cxx;put(long) 5\n"));
  EXPECT_THAT(folded(NameStyle::kLinkage), HasSubstr("prog;cxx;_Zputl 5\n"));
}

/// As static functions of two files: the report has a row for each.
TEST(Samples, FunctionsOfOneNameShowWhereTheyStart) {
  Profile profile = profile_with_callers();
  profile.executables[0].path = "/bin/cxx";
  profile.positions = {{0, 0x410, 7}, {0, 0x510, 5}};
  profile.paths.context[3].position = 0x400;
  profile.paths.context[5].position = 0x500;
  for (const NameStyle style : {NameStyle::kFull, NameStyle::kShort, NameStyle::kLinkage}) {
    for (const auto& make : {samples_of, stacks_of}) {
      const Samples samples = make(profile, &FakeSymbolizer::open, false, style, nullptr);
      EXPECT_THAT(folded_export(profile, samples),
                  AllOf(HasSubstr("help [0x400] "), HasSubstr("help [0x500] ")));
      for (const Location& location : samples.locations) {
        if (location.frames.back().function.starts_with("help")) {
          EXPECT_EQ(location.frames.back().linkage, "help");
        }
      }
    }
  }
}

/// Their positions are numbers for names, and no addresses.
TEST(Samples, FunctionsOfAnImportShowNoStart) {
  Profile profile = sample_profile();
  profile.executables[0].path = "/bin/cxx";
  profile.positions = {{0, 0x400, 7}, {0, 0x500, 5}};
  for (const NameStyle style : {NameStyle::kFull, NameStyle::kShort}) {
    const Samples samples =
        samples_of(profile, &FakeSymbolizer::open, false, style, [](const Executable&) { return true; });
    EXPECT_THAT(folded_export(profile, samples), HasSubstr("cxx;help 12\n"));
    EXPECT_FALSE(samples.locations[0].is_placed);
  }
}

TEST(Folded, OneLineAPlaceInlinedFramesLast) {
  Profile profile = sample_profile();
  std::string text = folded_export(profile, samples_of(profile, &FakeSymbolizer::open, true));
  EXPECT_THAT(text, HasSubstr("prog;y;f1 7\n"));
  EXPECT_THAT(text, HasSubstr("prog;y;f2;inlined 5\n"));
  EXPECT_THAT(text, HasSubstr("prog;[outside] 3\n"));
  std::istringstream lines(text);
  uint64_t sum = 0;
  for (std::string line; std::getline(lines, line);) sum += std::stoull(line.substr(line.rfind(' ') + 1));
  EXPECT_EQ(sum, 22u);
}

TEST(Folded, NamesHoldNoSeparator) {
  const Profile profile = sample_profile();
  Samples samples = samples_of(profile, &FakeSymbolizer::open, false);
  samples.locations[0].frames[0].function = "operator;f";
  EXPECT_THAT(folded_export(profile, samples), HasSubstr("prog;y;operator:f 7\n"));
}

/// Two builds of a library.
TEST(Callgrind, FilesOfOnePathStayApart) {
  Profile profile = sample_profile();
  profile.executables[1].path = "/x/y";
  const Samples samples = samples_of(profile, &FakeSymbolizer::open, false);
  ASSERT_NE(samples.objects[0], samples.objects[1]);
  const std::string text = callgrind_export(profile, samples);
  for (const std::string& object : samples.objects) EXPECT_THAT(text, HasSubstr("ob=" + object + "\n"));
}

TEST(Callgrind, TotalsAreTheLedgers) {
  Profile profile = sample_profile();
  std::string text = callgrind_export(profile, samples_of(profile, &FakeSymbolizer::open, true));
  EXPECT_THAT(text, HasSubstr("summary: 22\n"));
  EXPECT_THAT(text, HasSubstr("ob=/x/y\nfl=/src/y.c\nfn=f2\nfi=/src/inlined.h\n0x211 7 5\n"));
}

/// As of a profile of another tool: their positions are numbers for frames.
TEST(Formats, WithoutPlacesHaveNoAddress) {
  const Profile profile = sample_profile();
  Samples samples = samples_of(profile, &FakeSymbolizer::open, true);
  for (Location& location : samples.locations) location.is_placed = false;
  EXPECT_THAT(csv_export(profile, samples), HasSubstr("y,f1,/src/y.c,17,,7,0.007\r\n"));
  const std::string text = callgrind_export(profile, samples);
  EXPECT_THAT(text, HasSubstr("positions: line\n"));
  EXPECT_THAT(text, HasSubstr("ob=/x/y\nfl=/src/y.c\nfn=f2\nfi=/src/inlined.h\n7 5\n"));
  EXPECT_THAT(text, Not(HasSubstr("0x")));
}

/// What is no CPU time has the unit it came with.
TEST(Speedscope, OfAnImportHasItsUnit) {
  Profile profile = sample_profile();
  profile.period_ns = 1;
  for (const auto& [event, unit, type, shown] : {std::tuple{"inuse_space", "bytes", "inuse_space", "bytes"},
                                                 {"delay-ns", "nanoseconds", "delay", "nanoseconds"},
                                                 {"cost-fortnights", "fortnights", "cost", "none"},
                                                 {"page-faults", "", "page-faults", "none"}}) {
    profile.event = event;
    profile.event_unit = unit;
    const ValueKind kind = value_kind(profile);
    EXPECT_EQ(kind.type, type);
    EXPECT_EQ(kind.unit, *unit == '\0' ? "count" : unit);
    const Samples samples = samples_of(profile, &FakeSymbolizer::open, false);
    EXPECT_EQ(nlohmann::json::parse(speedscope_export(profile, samples))["profiles"][0]["unit"], shown);
  }
}

TEST(Speedscope, WeightsAreNanoseconds) {
  Profile profile = sample_profile();
  auto json =
      nlohmann::json::parse(speedscope_export(profile, samples_of(profile, &FakeSymbolizer::open, true)));
  uint64_t sum = 0;
  for (uint64_t weight : json["profiles"][0]["weights"]) sum += weight;
  EXPECT_EQ(sum, 22'000'000u);
  EXPECT_EQ(json["profiles"][0]["endValue"], 22'000'000u);
  EXPECT_EQ(json["profiles"][0]["samples"].size(), json["profiles"][0]["weights"].size());
}

TEST(Csv, HasTheInnermostFrame) {
  const Profile profile = sample_profile();
  EXPECT_THAT(csv_export(profile, samples_of(profile, &FakeSymbolizer::open, true)),
              HasSubstr("y,inlined,/src/inlined.h,7,0x211,5,0.005\r\n"));
}

TEST(Csv, EventsHaveAllTheirDigits) {
  Profile profile = sample_profile();
  profile.event = "instructions";
  profile.period_ns = 1'234'567'891;
  const Samples samples = samples_of(profile, &FakeSymbolizer::open, true);
  EXPECT_THAT(csv_export(profile, samples), HasSubstr(",7,8641975237\r\n"));
}

TEST(Csv, QuotesAndStartsNoFormula) {
  Profile profile = sample_profile();
  Samples samples = samples_of(profile, &FakeSymbolizer::open, false);
  samples.locations[0].frames[0].function = "f(int, \"x\")";
  samples.locations[1].frames[0].function = "=cmd()";
  std::string text = csv_export(profile, samples);
  EXPECT_THAT(text, HasSubstr("y,\"f(int, \"\"x\"\")\",,,0x110,7,0.007\r\n"));
  EXPECT_THAT(text, HasSubstr("y,'=cmd(),"));
}

// Functions of C++ templates may differ after 1,024 bytes.
TEST(Formats, NamesOfAnyLengthStayApart) {
  const std::string head = "f<" + std::string(2000, 'x') + ";\033";
  Profile profile = sample_profile();
  Samples samples;
  samples.objects = {"y"};
  for (const char* end : {"1>", "2>"}) {
    samples.samples.push_back({{static_cast<uint32_t>(samples.locations.size())}, 5, ""});
    samples.locations.push_back({.executable = 0, .frames = {{head + end, "", 0}}});
  }
  for (const std::string& text :
       {folded_export(profile, samples), callgrind_export(profile, samples), csv_export(profile, samples)}) {
    EXPECT_THAT(text, AllOf(HasSubstr("b1>"), HasSubstr("b2>")));
    EXPECT_THAT(text, Not(HasSubstr("\033")));
  }
}

TEST(Formats, HostileNamesSteerNothing) { EXPECT_THAT(all_formats(), Not(HasSubstr("\033"))); }

TEST(Firefox, HasEveryTickAndTheFramesOfInlinedCode) {
  const Profile profile = profile_with_callers();
  const auto json =
      nlohmann::json::parse(firefox_export(profile, stacks_of(profile, &FakeSymbolizer::open, true)));
  uint64_t sum = 0;
  for (const auto& each : json["threads"])
    for (const auto& weight : each["samples"]["weight"]) sum += weight.get<uint64_t>();
  EXPECT_EQ(sum, 22u);
  const auto& thread = json["threads"][0];
  std::string stack;
  const auto& stacks = thread["stackTable"];
  for (auto at = thread["samples"]["stack"][0]; !at.is_null(); at = stacks["prefix"][at.get<size_t>()]) {
    const size_t frame = stacks["frame"][at.get<size_t>()];
    const size_t function = thread["frameTable"]["func"][frame];
    const size_t name = thread["funcTable"]["name"][function];
    stack += thread["stringArray"][name].get<std::string>() + ";";
  }
  EXPECT_EQ(stack, "f3;f2;inlined;f1;");
  for (size_t frame = 0; frame < thread["frameTable"]["func"].size(); ++frame) {
    const size_t name = thread["funcTable"]["name"][thread["frameTable"]["func"][frame].get<size_t>()];
    EXPECT_EQ(thread["frameTable"]["inlineDepth"][frame], thread["stringArray"][name] == "inlined" ? 1 : 0);
  }
}

TEST(Firefox, HasAThreadForEachScope) {
  Profile profile = profile_with_callers();
  profile.paths.scopes = {{"/bin/prog", {}, PathScopeKind::kThread, "io"},
                          {"/bin/prog", {}, PathScopeKind::kThread, "main"}};
  profile.paths.context.push_back({.kind = PathNodeKind::kScope, .position = 1});
  const auto scope = static_cast<uint32_t>(profile.paths.context.size() - 1);
  profile.paths.context.push_back(
      {.parent = scope, .kind = PathNodeKind::kCode, .position = 0x500, .self = 9});
  const auto json =
      nlohmann::json::parse(firefox_export(profile, stacks_of(profile, &FakeSymbolizer::open, true)));
  std::string text;
  for (const auto& thread : json["threads"]) {
    uint64_t sum = 0;
    for (const auto& weight : thread["samples"]["weight"]) sum += weight.get<uint64_t>();
    text += thread["pid"].get<std::string>() + " " + thread["processName"].get<std::string>() + " " +
            thread["name"].get<std::string>() + (thread["isMainThread"] ? " first " : " ") +
            std::to_string(sum) + "\n";
  }
  EXPECT_EQ(text, "1 prog io first 18\n1 prog main 9\n2 [lost] [lost] first 4\n");
}

/// A tick of a sum of unlike periods is an event.
TEST(Markdown, OfASumOfEventsHasThemInOneColumn) {
  Profile profile = sample_profile();
  profile.event = "page-faults";
  EXPECT_THAT(markdown_export(profile, {}, NameStyle::kFull), HasSubstr("| events | ticks | function |"));
  profile.period_asked_ns = profile.period_ns = 1;
  profile.runs.resize(2);
  EXPECT_THAT(markdown_export(profile, {}, NameStyle::kFull),
              HasSubstr("| events | function | object |\n|--:|--:|--:|:--|:--|\n"));
}

TEST(Markdown, KeepsNamesInTheirCells) {
  Profile profile = sample_profile();
  profile.command = {"a|b`c", "\n| x |"};
  profile.positions.push_back({1, 0x400, 2});
  profile.ledger.counted += 2;
  const Report report = make_report(profile, &FakeSymbolizer::open, {.limit = 5});
  const std::string text = markdown_export(profile, report, NameStyle::kFull);
  EXPECT_THAT(text, HasSubstr("| 4 | `[lost]` |  |"));
  EXPECT_THAT(text, HasSubstr("| 24 | **all** |"));
  EXPECT_THAT(text, HasSubstr("| 3 | 2 more rows |"));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_EQ(text.find('\n'), text.find("\n\n"));  // the command is one line
  EXPECT_THAT(text, HasSubstr("`` 'a|b`c' "));
}

/// The records of a gmon.out: low address, high address, counters.
std::vector<std::tuple<uint64_t, uint64_t, std::vector<uint16_t>>> gmon_records(const std::string& bytes) {
  std::vector<std::tuple<uint64_t, uint64_t, std::vector<uint16_t>>> records;
  for (size_t at = 20; at < bytes.size();) {
    uint64_t range[2];
    uint32_t count = 0;
    EXPECT_EQ(bytes[at], 0);
    memcpy(range, &bytes[at + 1], sizeof range);
    memcpy(&count, &bytes[at + 17], sizeof count);
    std::vector<uint16_t> counters(count);
    memcpy(counters.data(), &bytes[at + 41], 2 * size_t{count});
    records.emplace_back(range[0], range[1], std::move(counters));
    at += 41 + 2 * size_t{count};
  }
  return records;
}

// gprof adds equal ranges up, and refuses ranges that overlap in part.
TEST(Gmon, RecordsOfCountersAboveTheirLimitAreRepeated) {
  Profile profile = sample_profile();
  const uint64_t text = ElfFile::open("/proc/self/exe")->segment(PT_LOAD)->offset;
  profile.executables = {{ExecutableKind::kFile, std::filesystem::read_symlink("/proc/self/exe"), {}, 0}};
  profile.positions = {{0, text, 3},     {0, text + 1, 4},         {0, text + 6, 200'000},
                       {0, text + 8, 1}, {0, text + 4000, 65'535}, {0, text + 5000, 65'536}};
  uint64_t sum = 0;
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const auto& [low, high, counters] : gmon_records(gmon_export(profile, 0).value())) {
    EXPECT_EQ(high - low, 2 * counters.size());
    for (const uint16_t counter : counters) sum += counter;
    ranges.emplace_back(low, high);
  }
  EXPECT_EQ(sum, 7u + 200'000 + 1 + 65'535 + 65'536);
  EXPECT_EQ(ranges.size(), 9u);  // before, four of the large one, after, far away, two of the last
  for (size_t i = 1; i < ranges.size(); ++i)
    EXPECT_TRUE(ranges[i] == ranges[i - 1] || ranges[i].first >= ranges[i - 1].second);
}

/// gprof divides by whole hertz.
TEST(Gmon, HasTheSecondsOfTheReport) {
  Profile profile = sample_profile();
  const uint64_t text = ElfFile::open("/proc/self/exe")->segment(PT_LOAD)->offset;
  profile.executables = {{ExecutableKind::kFile, std::filesystem::read_symlink("/proc/self/exe"), {}, 0}};
  profile.positions = {{0, text, 5}};
  for (const uint64_t period : std::initializer_list<uint64_t>{1, 1'000'000, 33'400'000, 300'000'000,
                                                               700'000'000, 2'500'000'000, 77'000'000'000}) {
    profile.period_ns = period;
    const std::string bytes = gmon_export(profile, 0).value();
    uint32_t hertz = 0;
    memcpy(&hertz, &bytes[41], sizeof hertz);
    const uint16_t counter = std::get<2>(gmon_records(bytes).at(0)).at(0);
    const double seconds = 5e-9 * static_cast<double>(period);
    EXPECT_NEAR(counter / static_cast<double>(hertz), seconds, 0.0101 * seconds) << period;
  }
  profile.period_ns = UINT64_MAX;
  EXPECT_THAT(gmon_export(profile, 0).error().text, HasSubstr("more than gprof can add up"));
}

TEST(Gmon, HoldsCpuTimeOfOnePeriodOfTheFileThatRan) {
  Profile profile = sample_profile();
  profile.executables[0].path = "/proc/self/exe";
  EXPECT_THAT(gmon_export(profile, 0).error().text, HasSubstr("rebuilt"));
  profile.event = "page-faults";
  EXPECT_STREQ(gmon_export(profile, 0).error().text, "gmon.out holds CPU time, and this profile page-faults");
  profile.event = "";
  profile.period_ns = 1;
  profile.runs.resize(2);
  EXPECT_THAT(gmon_export(profile, 0).error().text, HasSubstr("periods differ"));
}

}  // namespace
}  // namespace pctally
