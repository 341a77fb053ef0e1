#include "report/diff/matching_lines.h"

#include <gmock/gmock.h>

namespace pctally {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

MatchingObjects another_build() { return {}; }

MatchingObjects one_build() { return {.renamed = {}, .same_build = {"y"}}; }

Row row(const std::string& function, uint32_t start, uint32_t line, const std::string& file = "/src/a.cc") {
  Row row;
  row.object = "y";
  row.function = function;
  row.linkage = function.find('(') == std::string::npos ? "" : "_Z";
  row.file = file;
  row.line = line;
  row.start_line = start;
  return row;
}

using Rows = std::vector<Row>;

std::vector<Report> runs_of(const std::vector<Rows>& runs) {
  std::vector<Report> reports;
  for (const Rows& rows : runs) reports.emplace_back().rows = rows;
  return reports;
}

/// For each line of the first old run, those of the first new run that it is compared with.
std::vector<std::vector<uint32_t>> pairs(const std::vector<Rows>& before, const std::vector<Rows>& after,
                                         const MatchingObjects& objects = another_build()) {
  const MatchingLines lines(runs_of(before), runs_of(after), objects);
  std::vector<std::vector<uint32_t>> pairs;
  for (const Row& old_row : before[0]) {
    pairs.emplace_back();
    for (const Row& new_row : after[0])
      if (lines.key_of(old_row, "y").name == lines.key_of(new_row, "y").name)
        pairs.back().push_back(new_row.line);
  }
  return pairs;
}

/// Whether no two rows of a run are called the same in it.
bool are_apart(const std::vector<Rows>& before, const std::vector<Rows>& after) {
  const MatchingLines lines(runs_of(before), runs_of(after), another_build());
  for (const auto* side : {&before, &after})
    for (const Rows& rows : *side) {
      std::set<std::string> names;
      for (const Row& row : rows) names.insert(lines.key_of(row, "y").name);
      if (names.size() != rows.size()) return false;
    }
  return true;
}

TEST(MatchingLines, AFunctionTakesItsLinesWithIt) {
  const Rows before = {row("f", 10, 10), row("f", 10, 12), row("g", 20, 25)},
             after = {row("f", 13, 13), row("f", 13, 15), row("g", 28, 33)};
  EXPECT_THAT(pairs({before}, {after}), ElementsAre(ElementsAre(13), ElementsAre(15), ElementsAre(33)));
  EXPECT_THAT(pairs({before}, {after}, one_build()), ElementsAre(IsEmpty(), IsEmpty(), IsEmpty()));
}

TEST(MatchingLines, AnotherDirectoryIsTheSameFile) {
  EXPECT_THAT(pairs({{row("f", 10, 12, "/old/a.cc")}}, {{row("f", 13, 15, "/new/a.cc")}}),
              ElementsAre(ElementsAre(15)));
  EXPECT_THAT(pairs({{row("f", 10, 12, "/old/a.cc")}}, {{row("f", 13, 15, "/old/b.cc")}}),
              ElementsAre(IsEmpty()));
}

/// Old archives and files of other profilers have no starts; code of a macro lies above its function, and
/// that of another file has no start.
TEST(MatchingLines, WithoutAStartTheNumberCounts) {
  EXPECT_THAT(pairs({{row("f", 0, 12)}}, {{row("f", 13, 15), row("f", 13, 12)}}),
              ElementsAre(ElementsAre(12)));
  EXPECT_THAT(
      pairs({{row("f", 10, 12)}}, {{row("f", 13, 12), row("f", 13, 15), row("f", 0, 4, "/src/b.inc")}}),
      ElementsAre(ElementsAre(15)));
  EXPECT_THAT(pairs({{row("f", 10, 4), row("f", 10, 14)}}, {{row("f", 14, 4), row("f", 14, 8)}}),
              ElementsAre(ElementsAre(4), IsEmpty()));
}

TEST(MatchingLines, OneSideWithoutAStartInOneRunIsByNumber) {
  const Rows known = {row("f", 13, 15)}, old_archive = {row("f", 0, 15)};
  EXPECT_THAT(pairs({known}, {known, old_archive}), ElementsAre(ElementsAre(15)));
  EXPECT_THAT(pairs({{row("f", 10, 12)}}, {known, old_archive}), ElementsAre(IsEmpty()));
}

TEST(MatchingLines, OverloadsAreFunctionsOfTheirOwn) {
  const Rows before = {row("f(int)", 10, 11), row("f(long)", 20, 21)},
             after = {row("f(int)", 13, 14), row("f(long)", 23, 24)};
  EXPECT_THAT(pairs({before}, {after}), ElementsAre(ElementsAre(14), ElementsAre(24)));
  EXPECT_TRUE(are_apart({before}, {after}));
  EXPECT_THAT(pairs({{before[0]}}, {{after[1]}}), ElementsAre(IsEmpty())) << "what ran is another function";
}

TEST(MatchingLines, InstancesOfATemplateAreOneFunction) {
  const Rows before = {row("void put<int>(int)", 10, 11)},
             after = {row("void put<int>(int)", 13, 14), row("void put<long>(long)", 13, 14)};
  EXPECT_THAT(pairs({before}, {after}), ElementsAre(ElementsAre(14, 14)));
  const Rows only_long = {row("void put<long>(long)", 10, 11)};
  EXPECT_THAT(pairs({only_long}, {after}), ElementsAre(ElementsAre(14, 14)));
}

/// Two files of one name have a static function each: which of them is which, nobody knows.
TEST(MatchingLines, NamesakesAreByNumber) {
  const Rows two = {row("f", 10, 12, "/a/main.c"), row("f", 30, 32, "/b/main.c")};
  EXPECT_TRUE(are_apart({two}, {{row("f", 33, 35, "/b/main.c")}}));
  EXPECT_THAT(pairs({two}, {{row("f", 33, 35, "/b/main.c")}}), ElementsAre(IsEmpty(), IsEmpty()));
  EXPECT_THAT(pairs({two}, {two}), ElementsAre(ElementsAre(12), ElementsAre(32)));
}

/// f(int) was at line 15 and is counted from its start, f(short) is new and at line 15 by its number.
TEST(MatchingLines, TwoLinesOfASideAreNeverOne) {
  const Rows before = {row("f(int)", 10, 15), row("f(short)", 0, 18), row("g", 10, 15), row("f(int)", 10, 8)},
             after = {row("f(int)", 13, 18), row("f(short)", 0, 15), row("g", 13, 18), row("f(int)", 13, 8)};
  EXPECT_TRUE(are_apart({before}, {after}));
  EXPECT_THAT(pairs({before}, {after}),
              ElementsAre(ElementsAre(18), IsEmpty(), ElementsAre(18), ElementsAre(8)));
}

TEST(MatchingLines, SaysHowALineIsMatched) {
  const Rows before = {row("f", 10, 12), row("f", 10, 8), row("gone", 20, 22), row("f", 10, 0)},
             after = {row("f", 13, 15), row("made", 30, 31)};
  const MatchingLines lines(runs_of({before}), runs_of({after}), another_build());
  const auto match_of = [&](const Row& row) { return lines.key_of(row, "y").match; };
  EXPECT_EQ(match_of(before[0]), LineMatch::kFollowed);
  EXPECT_EQ(match_of(before[1]), LineMatch::kByNumber);
  EXPECT_EQ(match_of(before[2]), LineMatch::kAlone);
  EXPECT_EQ(match_of(before[3]), LineMatch::kUnmoved);
  EXPECT_EQ(match_of(after[1]), LineMatch::kAlone);
}

TEST(MatchingLines, RunsOfOneSideMayBeOfSeveralBuilds) {
  const Rows first = {row("f", 10, 12)}, second = {row("f", 11, 13)}, after = {row("f", 20, 22)};
  EXPECT_THAT(pairs({first, second}, {after}), ElementsAre(ElementsAre(22)));
  EXPECT_THAT(pairs({second, first}, {after}), ElementsAre(ElementsAre(22)));
}

}  // namespace
}  // namespace pctally
