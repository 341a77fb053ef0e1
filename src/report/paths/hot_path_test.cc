#include "report/hot_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/paths/path_profile_for_test.h"
#include "report/text.h"

namespace pctally {
namespace {

TEST(HotPath, FollowsMostTicksDownFromTheOutermost) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110);
  paths.add(paths.add(main, 0x210), 0x300, 8);
  paths.add(main, 0x400, 2);
  ObjectNames names(paths.profile, &FakeSymbolizer::open);
  std::string text;
  for (const HotFrame& frame : hot_path(paths.profile, path_functions(paths.profile, names)).frames)
    text += frame.function + " ";
  EXPECT_EQ(text, "f1 f3 ") << "of f2 and f3 with the same share the inner one";
}

std::string hot_path_text(const Profile& profile, const OpenSymbolizer& open = &FakeSymbolizer::open) {
  const std::string text = text_report(profile, make_report(profile, open, {}), {});
  const size_t start = text.find("hot path");
  return text.substr(start, text.find('\n', start) - start);
}

TEST(HotPath, GoesThroughAFunctionThatCallsItself) {
  PathProfile paths;
  paths.add(paths.add(paths.add(paths.add(0, 0x110), 0x118), 0x110), 0x200, 8);
  paths.add(0, 0x300, 2);
  EXPECT_EQ(hot_path_text(paths.profile), "hot path  f1 80 > f2 80 %");
}

TEST(HotPath, OfAChoiceIsOfItsCode) {
  PathProfile folded;
  const uint32_t main = folded.add(0, 0x110);
  folded.add(main, 0x310, 0, 50);
  folded.add(main, 0x200, 10);
  EXPECT_EQ(hot_path_text(Chosen(folded.profile, "^f2$", nullptr, nullptr).result),
            "hot path  f1 17 > f2 17 %");
  EXPECT_EQ(hot_path_text(Chosen(two_ways().profile, "^f4$", nullptr, nullptr).result), "hot path  f4 16 %");
}

TEST(HotPath, MarksWhatIsLeftOutSoThatNeighboursCallEachOther) {
  PathProfile equal;
  equal.add(equal.add(equal.add(equal.add(0, 0x110), 0x210), 0x310), 0x400, 8);
  EXPECT_EQ(hot_path_text(equal.profile), "hot path  f1 100 > … > f4 100 %");
  PathProfile deep;
  uint32_t at = 0;
  for (uint64_t i = 1; i <= 10; ++i) at = deep.add(at, i * 0x100 + 0x10, 5);
  EXPECT_EQ(hot_path_text(deep.profile),
            "hot path  f1 100 > … > f4 70 > f5 60 > f6 50 > f7 40 > f8 30 > f9 20 > fa 10 %");
  PathProfile direct;
  direct.add(direct.add(direct.add(0, 0x110, 1), 0x210, 2), 0x310, 7);
  EXPECT_EQ(hot_path_text(direct.profile), "hot path  f1 100 > f2 90 > f3 70 %");
}

/// Functions at odd hundreds are of Python.
class PythonFunctions : public FakeSymbolizer {
 public:
  using FakeSymbolizer::FakeSymbolizer;
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
    std::vector<NamedRange> ranges = FakeSymbolizer::find_names(positions);
    for (NamedRange& range : ranges)
      if (range.function.ends_with('3') || range.function.ends_with('5'))
        range.function = "py::" + range.function;
    return ranges;
  }
};

TEST(HotPath, KeepsFunctionsThatAnInterpreterRuns) {
  const auto open = [](const ExecutableIdentity& identity) {
    return std::make_unique<PythonFunctions>(identity);
  };
  PathProfile paths;
  uint32_t at = 0;
  for (const uint64_t function : {1, 3, 4, 5, 6}) at = paths.add(at, function * 0x100 + 0x10);
  paths.add(at, 0x700, 9);
  paths.add(0, 0x800, 1);
  EXPECT_EQ(hot_path_text(paths.profile, open), "hot path  f1 90 > … > py::f5 > … > f7 90 %")
      << "of py::f3 and py::f5, and of the interpreter's f6 and f7, the inner one";
}

TEST(HotPath, HasTheNamesOfTheTable) {
  PathProfile alike;
  alike.profile.executables[0].path = "/bin/cxx";
  alike.add(alike.add(0, 0x110), 0x400, 9);
  alike.add(0, 0x200, 1);
  EXPECT_EQ(hot_path_text(alike.profile), "hot path  put(int) 90 > help 90 %");
  PathProfile objects;
  objects.profile.executables.push_back({.path = "/lib/c.so", .build_id = {}});
  const uint32_t inner = objects.add(objects.add(0, 0x210), 0x200, 10);
  objects.profile.paths.context[inner].executable = 1;
  objects.profile.positions.back().executable = 1;
  EXPECT_EQ(hot_path_text(objects.profile), "hot path  f2 (prog) 100 > f2 (c.so) 100 %");
}

/// Sources are /src/prog.c:POSITION/16; at odd positions /src/inlined.h:7 is inlined.
std::optional<HotLine> hot_line_of(const PathProfile& paths) {
  return make_report(paths.profile, &FakeSymbolizer::open, {.hot_line = true}).hot_line;
}

TEST(HotLine, IsTheLineWithMostTicksAndCallsOfTheInnermostFunction) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110);
  paths.add(paths.add(main, 0x210), 0x300, 3);  // line 33 of f2
  paths.add(paths.add(main, 0x220), 0x400, 2);  // line 34
  paths.add(main, 0x200, 0);
  paths.profile.paths.context.back().self = 4;  // f2 itself, at line 34
  paths.profile.positions.push_back({0, 0x224, 4});
  paths.profile.ledger.counted += 4;
  const auto line = hot_line_of(paths);
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->file, "/src/prog.c");
  EXPECT_EQ(line->line, 0x22u);
  EXPECT_DOUBLE_EQ(line->share, 6.0 / 9);
  EXPECT_FALSE(line->calls) << "two of six ticks are in what it calls";
  EXPECT_LT(line->interval.low, line->share);
  EXPECT_FALSE(make_report(paths.profile, &FakeSymbolizer::open, {}).hot_line)
      << "only where it is asked for";
}

TEST(HotLine, StandsAboveTheTableWithItsText) {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x200, 0);
  paths.profile.paths.context.back().self = 9;
  paths.profile.positions.push_back({0, 0x210, 9});
  paths.profile.ledger.counted += 9;
  const Report report = make_report(paths.profile, &FakeSymbolizer::open, {.hot_line = true});
  const TextOptions terminal{.width = 80, .hot_source = "  \tcall(\033);"}, pipe{};
  EXPECT_THAT(text_report(paths.profile, report, terminal),
              testing::HasSubstr("\nhot line  prog.c:33 100.0 % ± 29.9  call(\\x1b);\n\n"));
  EXPECT_THAT(text_report(paths.profile, report, pipe),
              testing::HasSubstr("\nhot line  /src/prog.c:33 100.0 % ± 29.9\n\n"));
  const TextOptions long_line{.hot_source = std::string(300, 'x')};
  EXPECT_THAT(text_report(paths.profile, report, long_line),
              testing::HasSubstr("± 29.9  " + std::string(99, 'x') + "…\n\n"));
}

TEST(HotLine, CountsATickOnceUnderRecursion) {
  PathProfile paths;
  const uint32_t outer = paths.add(0, 0x110),
                 inner = paths.add(outer, 0x118);  // f1 calls f1, both in line 17
  paths.add(inner, 0x100, 0);
  paths.profile.paths.context.back().self = 10;
  paths.profile.positions.push_back({0, 0x11c, 10});  // and runs in that line
  paths.profile.ledger.counted += 10;
  paths.add(0, 0x300, 8);
  const auto line = hot_line_of(paths);
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->line, 0x11u);
  EXPECT_DOUBLE_EQ(line->share, 10.0 / 18);
  EXPECT_DOUBLE_EQ(line->most, 1.0) << "what runs in the line need not be what the line calls";
}

/// f1 calls f2 in line 33, whose paths were folded; so were paths that begin elsewhere.
TEST(HotLine, IsARangeWherePathsWereFolded) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110);
  paths.add(main, 0x210, 0);
  paths.profile.paths.context.back().folded = 60;
  paths.add(0, 0x300, 20);
  paths.profile.paths.context[main].folded = 20;
  paths.profile.positions.push_back({0, 0x404, 80});
  paths.profile.ledger.counted += 80;
  const Report report = make_report(paths.profile, &FakeSymbolizer::open, {.hot_line = true});
  ASSERT_TRUE(report.hot_line);
  EXPECT_EQ(report.hot_line->line, 0x21u);
  EXPECT_DOUBLE_EQ(report.hot_line->share, 0.6);
  EXPECT_DOUBLE_EQ(report.hot_line->most, 0.8);
  EXPECT_THAT(text_report(paths.profile, report, {}),
              testing::HasSubstr("\nhot line  /src/prog.c:33, with its calls 38.7 to 91.9 %\n"));
}

/// Three lines of f2 have 20 ticks each; the first byte of f3 has 30.
TEST(HotLine, IsNotOfTheNextFunction) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110);
  paths.add(main, 0x200, 60);
  paths.add(main, 0x300, 30);
  paths.profile.positions = {{0, 0x210, 20}, {0, 0x220, 20}, {0, 0x230, 20}, {0, 0x300, 30}};
  const auto line = hot_line_of(paths);
  ASSERT_TRUE(line.has_value());
  EXPECT_DOUBLE_EQ(line->share, 20.0 / 90);
}

/// f2 has 64 ticks, four in each of its lines.
TEST(HotLine, IsThatOfTheCallWhereEachLineHasLittle) {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x200, 64);
  paths.add(0, 0x300, 36);
  paths.profile.positions.clear();
  for (uint64_t line = 0; line < 16; ++line) paths.profile.positions.push_back({0, 0x200 + 16 * line, 4});
  paths.profile.positions.push_back({0, 0x300, 36});
  const auto line = hot_line_of(paths);
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->line, 0x11u);
  EXPECT_DOUBLE_EQ(line->share, 0.64);
  EXPECT_TRUE(line->calls);
}

TEST(HotLine, IsInTheReadersOwnSourceBeforeALibrarys) {
  PathProfile paths;
  paths.profile.executables.push_back({.path = "/usr/lib/library.so", .build_id = {}});
  const uint32_t main = paths.add(0, 0x110), call = paths.add(main, 0x210);
  paths.add(call, 0x300, 8);
  paths.profile.paths.context.back().executable = 1;
  paths.profile.positions.back().executable = 1;
  auto open = [](const ExecutableIdentity& identity) -> std::unique_ptr<Symbolizer> {
    struct Library : FakeSymbolizer {
      using FakeSymbolizer::FakeSymbolizer;
      std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
        return {positions.size(), {Frame{"inner", "/usr/src/library.c", 5, ""}}};
      }
    };
    if (identity.path.starts_with("/usr")) return std::make_unique<Library>(identity);
    return FakeSymbolizer::open(identity);
  };
  auto line = make_report(paths.profile, open, {.hot_line = true}).hot_line;
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->file, "/src/prog.c");
  EXPECT_EQ(line->line, 0x21u);
  paths.profile.executables[0].path = "/lib/stripped.so";  // without lines
  line = make_report(paths.profile, open, {.hot_line = true}).hot_line;
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->file, "/usr/src/library.c");
  paths.profile.executables[1].path = "/lib/stripped.so";
  EXPECT_FALSE(make_report(paths.profile, open, {.hot_line = true}).hot_line);
}

}  // namespace
}  // namespace pctally
