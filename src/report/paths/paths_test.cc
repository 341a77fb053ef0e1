#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "profile/positions.h"
#include "report/hot_path.h"
#include "report/json.h"
#include "report/paths/path_profile_for_test.h"
#include "report/scope_names.h"
#include "report/text.h"

namespace pctally {
namespace {

TEST(PathChoice, IgnoreIsTheOpposite) {
  Chosen chosen(two_ways().profile, nullptr, "^f3$", nullptr);
  EXPECT_EQ(chosen.self["f2"], 10u);
  EXPECT_FALSE(chosen.self.contains("f3"));
  EXPECT_EQ(chosen.self["[paths left out]"], 25u);
}

TEST(PathChoice, AHiddenFunctionsTicksAreItsCallers) {
  Chosen chosen(two_ways().profile, nullptr, nullptr, "^f3$");
  EXPECT_EQ(chosen.self["f1"], 20u);
  EXPECT_EQ(chosen.self["f2"], 15u);
  EXPECT_EQ(chosen.total["f1"], 35u);
  EXPECT_FALSE(chosen.self.contains("f3"));
  EXPECT_EQ(chosen.result.ledger.ticks(), 43u);
}

TEST(PathChoice, IsByTheNamesThatAreShown) {
  PathProfile it;
  it.profile.executables[0].path = "/bin/cxx";
  const uint32_t main = it.add(0, 0x410);
  it.add(it.add(main, 0x110), 0x300, 5);  // void put<int>(int) calls std::__cxx11::list<int>::sort()
  it.add(main, 0x700, 2);
  const Chosen focus(it.profile, "^put$", nullptr, nullptr), hide(it.profile, nullptr, nullptr, "^std::list");
  EXPECT_EQ(focus.self.at("[paths left out]"), 2u);
  EXPECT_EQ(Chosen(it.profile, "^_Zputi$", nullptr, nullptr).self.at("[paths left out]"), 2u);
  EXPECT_EQ(hide.self.at("void put<int>(int)"), 5u);
}

TEST(PathChoice, OfAFocusThatNoFunctionHasIsNone) {
  const PathProfile it = two_ways();
  ObjectNames names(it.profile, &FakeSymbolizer::open);
  const NamePattern focus = *NamePattern::compile("^g");
  EXPECT_FALSE(chosen_paths(it.profile, names, {.focus = &focus}));
}

TEST(PathChoice, WhatWasFoldedHasARowOfItsOwn) {
  PathProfile it;
  it.add(it.add(0, 0x110), 0x310, 0, 4);
  Chosen chosen(it.profile, "f1", nullptr, nullptr);
  EXPECT_EQ(chosen.self["[inner functions not kept]"], 4u);
  EXPECT_EQ(chosen.total["f3"], 4u);
}

/// Below f3, in 5 ticks that were folded, f2 may have run.
TEST(PathChoice, WhetherFoldedPathsHaveTheFocusIsNotKnown) {
  PathProfile it;
  const uint32_t main = it.add(0, 0x110);
  it.add(main, 0x310, 0, 5);
  it.add(main, 0x200, 10);
  it.add(main, 0x400, 3);
  Chosen chosen(it.profile, "^f2$", nullptr, nullptr);
  EXPECT_EQ(chosen.self["[paths left out]"], 3u);
  EXPECT_EQ(chosen.self["[inner functions not kept]"], 5u);
  for (const Row& row : make_report(chosen.result, &FakeSymbolizer::open, {}).rows) {
    if (row.object.starts_with('[')) continue;
    EXPECT_EQ(row.total.low, 10u) << row.function;
    EXPECT_EQ(row.total.high, 15u) << row.function;
  }
  for (const Row& row : make_report(chosen.result, &FakeSymbolizer::open, {.by = Grouping::kProgram}).rows)
    EXPECT_EQ(row.ticks, row.program == "prog" ? 10u : row.program == kLeftOut ? 3u : 5u) << row.program;
  for (const Row& row :
       make_report(chosen.result, &FakeSymbolizer::open, {.by = Grouping::kProgramFunction}).rows)
    EXPECT_EQ(row.program, row.ticks == 3 ? kLeftOut : "prog") << row.function;
}

TEST(PathChoice, WhatIsIgnoredForSureIsLeftOutThoughItWasFolded) {
  PathProfile it;
  const uint32_t main = it.add(0, 0x110);
  it.add(main, 0x310, 0, 5);
  it.add(main, 0x200, 10);
  Chosen chosen(it.profile, "^f2$", "^f3$", nullptr);
  EXPECT_EQ(chosen.self["[paths left out]"], 5u);
  EXPECT_FALSE(chosen.self.contains("[inner functions not kept]"));
}

TEST(PathAccount, IsOfAllPathsWhereSomeAreChosen) {
  PathProfile it;
  it.add(it.add(0, 0x110), 0x310, 0, 5);
  it.add(it.add_cut(PathEnd::kNoUnwindTable), 0x400, 3);
  const Chosen chosen(it.profile, "^f1$", nullptr, nullptr);
  const Report report = make_report(chosen.result, &FakeSymbolizer::open, {});
  EXPECT_EQ(report.paths.folded, 5u);
  ASSERT_EQ(report.paths.cuts.size(), 1u);
}

TEST(PathTotals, OfAFunctionAreTheTicksWithItOnTheStack) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110);
  paths.add(paths.add(main, 0x210), 0x300, 6);
  paths.add(main, 0x300, 3);
  paths.add(main, 0x200, 1);
  auto totals = paths.totals();
  EXPECT_EQ(totals["f1"].low, 10u);
  EXPECT_EQ(totals["f2"].low, 7u);
  EXPECT_EQ(totals["f3"].low, 9u);
  for (const auto& [name, total] : totals) EXPECT_EQ(total.high, total.low) << name;
}

TEST(PathTotals, ATickCountsOnceUnderRecursion) {
  PathProfile paths;
  paths.add(paths.add(paths.add(paths.add(0, 0x110), 0x210), 0x110), 0x200, 5);
  EXPECT_EQ(paths.totals()["f1"].low, 5u);
  EXPECT_EQ(paths.totals()["f2"].low, 5u);
}

TEST(PathTotals, AreARangeWhereFoldedPathsMayHideTheFunction) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110, 0, 4);
  paths.add(main, 0x200, 6);
  EXPECT_EQ(paths.totals()["f2"].low, 6u);
  EXPECT_EQ(paths.totals()["f2"].high, 10u);
  EXPECT_EQ(paths.totals()["f1"].high, 10u);
}

TEST(PathTotals, AreExactWhereTheCallPlaneHasOneEntry) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110, 0, 4);
  paths.add(main, 0x200, 6);
  paths.add_plane(0x100, 10);
  paths.add_plane(0x200, 8);
  EXPECT_EQ(paths.totals()["f2"].low, 8u);
  EXPECT_EQ(paths.totals()["f2"].high, 8u);
}

TEST(PathTotals, AreAtLeastTheTicksOfTheFunctionItself) {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x200, 1);
  paths.profile.positions[0].ticks = 4;  // three more of its paths were folded into f1's
  paths.profile.ledger.counted = 4;
  paths.profile.paths.context[1].folded = 3;
  EXPECT_EQ(paths.totals()["f2"].low, 4u);
}

/// Some entries found no room, but none of f2's: it has one.
TEST(PathTotals, AreExactWhereOtherFunctionsFoundNoRoom) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110, 0, 4);
  paths.add(main, 0x200, 6);
  paths.add_plane(0x100, 10);
  paths.add_plane(0x200, 8);
  paths.profile.paths.plane[0].folded = 3;
  EXPECT_EQ(paths.totals()["f2"].low, 8u);
  EXPECT_EQ(paths.totals()["f2"].high, 8u);
}

/// A third entry of f2 may have found none.
TEST(PathTotals, OfSeveralEntriesMayHaveOneMoreWhereSomeFoundNoRoom) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110, 0, 9);
  paths.add(main, 0x200, 4);
  paths.add(main, 0x220, 2);
  paths.add_plane(0x200, 5);
  paths.add_plane(0x220, 3);
  paths.profile.paths.plane[0].folded = 3;
  EXPECT_EQ(paths.totals()["f2"].low, 6u);
  EXPECT_EQ(paths.totals()["f2"].high, 11u);
}

/// Entries end with their executable: what another one calls is not theirs.
TEST(PathTotals, AreExactBeforeAnExecutableWhoseFunctionsFoundNoRoom) {
  PathProfile paths;
  paths.profile.executables.push_back({.path = "/lib/c.so", .build_id = {}});
  const uint32_t f3 = paths.add(paths.add(0, 0x110), 0x310, 0, 5);
  paths.profile.paths.context[paths.add(f3, 0x410, 6)].executable = 1;
  paths.profile.positions.back().executable = 1;
  paths.add_plane(0x100, 11);
  paths.add_plane(0x300, 11);
  paths.profile.paths.plane[0].folded = 11;
  EXPECT_EQ(paths.totals()["f3"].low, 11u);
  EXPECT_EQ(paths.totals()["f3"].high, 11u);
}

/// f3 has ticks whose paths found no room: the tree does not have it.
PathProfile without_room_for_f3() {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110, 0, 5);
  paths.add(main, 0x200, 6);
  paths.profile.positions.push_back({0, 0x310, 2});
  paths.profile.ledger.counted += 2;
  paths.profile.paths.no_room = 2;
  return paths;
}

TEST(PathTotals, OfAFunctionWithoutAPathAreItsTicksWhereTheCallPlaneHasAllOthers) {
  PathProfile paths = without_room_for_f3();
  paths.add_plane(0x100, 11);
  paths.add_plane(0x200, 11);
  EXPECT_EQ(paths.totals()["f3"].low, 2u);
  EXPECT_EQ(paths.totals()["f3"].high, 2u);
}

// f2 and another entry of f2 (its cold part) on one stack: adding their totals would be wrong.
TEST(PathTotals, OfSeveralEntriesAreNeverAdded) {
  PathProfile paths;
  paths.add(paths.add(0, 0x210), 0x220, 6);
  paths.add_plane(0x200, 6);
  paths.add_plane(0x220, 6);
  EXPECT_EQ(paths.totals()["f2"].low, 6u);
  EXPECT_EQ(paths.totals()["f2"].high, 6u);
}

/// f2 may run below f3, too. No interval around 40 % says that.
TEST(PathTotals, ARangeIsWrittenAsOneWithItsReason) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110);
  paths.add(main, 0x310, 0, 6000);
  paths.add(main, 0x200, 4000);
  const Report report = make_report(paths.profile, &FakeSymbolizer::open, {});
  for (const Row& row : report.rows) EXPECT_EQ(row.total_is_range, row.function == "f2") << row.function;
  const std::string text = text_report(paths.profile, report, {});
  EXPECT_THAT(text, testing::HasSubstr(" 39.0 to 100.0 %  "));
  EXPECT_THAT(text, testing::HasSubstr("total \"x to y %\": paths that were folded may hold more of it\n"));
}

TEST(PathTotals, AreNotOfRowsThatAreNoCode) {
  PathProfile it;
  const uint32_t main = it.add(0, 0x110);
  it.add(main, 0x310, 0, 5);
  it.add(main, 0x200, 10);
  it.add(main, 0x400, 3);
  it.profile.ledger.lost = 7;
  const Chosen chosen(it.profile, "^f2$", nullptr, nullptr);
  const Report report = make_report(chosen.result, &FakeSymbolizer::open, {});
  std::set<std::string> without;
  for (const Row& row : report.rows)
    if (row.total.high == 0) without.insert(row.object.empty() ? row.function : row.object);
  EXPECT_EQ(without, (std::set<std::string>{kLeftOut, kInnerNotKept, "[lost]"}));
  std::istringstream lines(text_report(chosen.result, report, {}));
  std::set<size_t> columns;
  for (std::string line; std::getline(lines, line);)
    for (const char* name : {"  f2  ", "  [lost]"})
      if (line.find(name) != std::string::npos) columns.insert(line.find(name));
  EXPECT_EQ(columns.size(), 1u) << "names stand in one column";
}

TEST(PathTotals, SayWhatTheyCouldGainFromCutPaths) {
  PathProfile paths;
  paths.add(0, 0x100, 7);
  paths.add(paths.add_cut(PathEnd::kShortDump), 0x200, 3);
  EXPECT_EQ(paths.totals()["f1"].cut, 3u);
  EXPECT_EQ(paths.totals()["f2"].cut, 0u);
}

/// A node of the kernel, or of a process's start.
uint32_t add_of(PathProfile* paths, ExecutableKind kind, uint32_t parent, uint64_t self) {
  const auto executable = static_cast<uint32_t>(paths->profile.executables.size());
  const char* name = kind == ExecutableKind::kKernel ? "[kernel]" : "[process start]";
  paths->profile.executables.push_back({.kind = kind, .path = name, .build_id = {}});
  const uint32_t node = paths->add(parent, 0x100 * executable, self);
  paths->profile.paths.context[node].executable = executable;
  paths->profile.positions.back().executable = executable;
  return node;
}

TEST(PathTotals, GainNothingFromThreadsOfTheKernelAndStartsOfProcesses) {
  PathProfile paths;
  paths.add(0, 0x100, 10);
  add_of(&paths, ExecutableKind::kKernel, paths.add_cut(PathEnd::kNotAttempted), 20);
  add_of(&paths, ExecutableKind::kStart, paths.add_cut(PathEnd::kInterrupted), 30);
  for (const auto& [name, total] : paths.totals()) EXPECT_EQ(total.cut, 0u) << name;
}

/// The recorder was killed: it has not read which calls in the kernel there were.
TEST(PathTotals, OfTheKernelGainFromPathsThatWereNotRead) {
  PathProfile paths;
  add_of(&paths, ExecutableKind::kKernel, 0, 20);
  paths.profile.paths.context[paths.add_cut(PathEnd::kInterrupted)].self = 30;
  EXPECT_EQ(paths.totals()["f1"].cut, 30u);
}

/// A thread of the kernel, which has no other code, and the start of its process.
TEST(PathTotals, GainNothingFromThreadsOfTheKernelThatHaveAStart) {
  PathProfile paths;
  paths.add(0, 0x800, 10);
  const uint32_t cut = paths.add_cut(PathEnd::kNotAttempted);
  add_of(&paths, ExecutableKind::kKernel, cut, 20);
  add_of(&paths, ExecutableKind::kStart, cut, 30);
  EXPECT_EQ(paths.totals()["f8"].cut, 0u);
}

TEST(PathTotals, GainFromCutPathsThatWereFolded) {
  PathProfile paths;
  paths.add(0, 0x100, 7);
  paths.add(paths.add_cut(PathEnd::kShortDump), 0x200, 0, 3);
  EXPECT_EQ(paths.totals()["f1"].cut, 3u);
}

/// Code of a program, of the kernel and of a process's start whose paths found no room.
TEST(PathTotals, OfCodeWithoutAPathGainFromCutPathsToo) {
  PathProfile paths;
  paths.profile.executables.push_back({.kind = ExecutableKind::kKernel, .path = "[kernel]", .build_id = {}});
  paths.profile.executables.push_back(
      {.kind = ExecutableKind::kStart, .path = "[process start]", .build_id = {}});
  paths.add(paths.add_cut(PathEnd::kTooDeep), 0x700, 20, 10);
  const uint32_t cut = paths.add_cut(PathEnd::kInterrupted);
  paths.profile.paths.context[paths.add(cut, 0, 40)].executable = 2;
  paths.profile.positions.back() = {2, 0, 40};
  for (uint32_t executable = 0; executable < 2; ++executable)
    paths.profile.positions.push_back({executable, 0x900 + 0x100 * uint64_t{executable}, 2});
  paths.profile.ledger.counted += 4;
  paths.profile.paths.no_room = 4;
  std::ranges::sort(paths.profile.positions, {}, &WeightedPosition::executable);
  auto totals = paths.totals();
  EXPECT_EQ(totals["f9"].cut, 30u) << "not the start of a process";
  EXPECT_EQ(totals["fa"].cut, 0u) << "of the kernel";
}

/// The recorder has not read 20 paths, and f1 has 10 ticks that no path has: at least 7, for 3 were folded.
TEST(PathTotals, HaveTicksWithoutAPathBesideThoseThatMayBeFolded) {
  PathProfile paths;
  paths.add(paths.add(0, 0x110), 0x200, 5);
  paths.add(0, 0x410, 0, 3);
  paths.profile.paths.context[paths.add_cut(PathEnd::kInterrupted)].self = 20;
  paths.profile.positions = {{0, 0x100, 10}, {0, 0x200, 5}};
  paths.profile.ledger.counted = 28;
  const PathTotal total = paths.totals()["f1"];
  EXPECT_EQ(total.low, 12u);
  EXPECT_EQ(total.high, 15u);
  EXPECT_EQ(total.cut, 13u);
}

/// Nor is a process's start on a stack, or the kernel in that of a program.
TEST(PathTotals, OfTheKernelGainNothingFromStacksOfPrograms) {
  PathProfile paths;
  add_of(&paths, ExecutableKind::kKernel, 0, 20);
  add_of(&paths, ExecutableKind::kStart, 0, 20);
  paths.add(paths.add_cut(PathEnd::kTooDeep), 0x700, 30);
  paths.add(0, 0x800, 30);
  for (const auto& [name, total] : paths.totals()) EXPECT_EQ(total.cut, name == "f8" ? 30u : 0u) << name;
}

/// A program of 32 bits has code, but no paths.
TEST(PathTotals, MayBeLargerByPathsOfProgramsOfAnotherWordSize) {
  PathProfile paths;
  paths.add(0, 0x100, 10);
  paths.add(paths.add_cut(PathEnd::kNotAttempted), 0x700, 20);
  EXPECT_EQ(paths.totals()["f1"].cut, 20u);
}

TEST(PathTotals, EachSayHowMuchTheyCouldGain) {
  PathProfile paths;
  paths.add(0, 0x100, 835);
  paths.add(paths.add_cut(PathEnd::kTooDeep), 0x200, 160);
  paths.add(0, 0x300, 5);
  const Report report = make_report(paths.profile, &FakeSymbolizer::open, {});
  for (const Row& row : report.rows) EXPECT_LE(row.total_share + row.cut_share, 1) << row.function;
  const std::string text = text_report(paths.profile, report, {});
  EXPECT_THAT(text, testing::ContainsRegex(" 83\\.50 %   [0-9.]+ \\+16\\.0 .*  f1"));
  EXPECT_THAT(text, testing::HasSubstr("cut: so many points more may be in call paths that are cut\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("+0.0")));
}

/// No other program maps a program's own file; any may map a library.
TEST(PathTotals, OfAProgramsFunctionGainNothingFromPathsOfOtherPrograms) {
  PathProfile paths;
  CallPaths& all = paths.profile.paths;
  paths.profile.executables.push_back({.path = "/bin/gz", .build_id = {}});
  paths.profile.executables.push_back({.path = "/lib/libc.so", .build_id = {}});
  all.scopes.push_back({"/bin/gz", {}});
  paths.add(paths.add_cut(PathEnd::kShortDump), 0x200, 3);
  paths.add(0, 0x100, 10);
  for (const uint64_t scope : {uint64_t{1}, uint64_t{UINT32_MAX}}) {
    all.context.push_back({.kind = PathNodeKind::kScope, .position = scope});
    const auto root = static_cast<uint32_t>(all.context.size() - 1);
    for (const uint32_t executable : {1u, 2u}) {
      if (scope != 1) break;
      all.context[paths.add(root, 0x400 + 0x100 * executable, 20)].executable = executable;
      paths.profile.positions.back().executable = executable;
    }
    const uint32_t cut = paths.add_cut(PathEnd::kShortDump);
    all.context[cut].parent = root;
    paths.add(cut, 0x200, scope == 1 ? 5 : 1);
  }
  add_up(&paths.profile.positions);
  EXPECT_EQ(paths.totals()["f1"].cut, 3u + 1) << "of prog, and of an unknown program";
  EXPECT_EQ(paths.totals()["f5"].cut, 5u + 1) << "of gz";
  EXPECT_EQ(paths.totals()["f6"].cut, 3u + 5 + 1) << "of libc.so";
}

/// Programs beyond the bound are one scope, and a control group is no program: whose a cut path is there is
/// not known.
TEST(PathTotals, OfAProgramsFunctionGainFromPathsOfUnknownPrograms) {
  for (const PathScope& scope :
       {PathScope{kOtherScopes, {}}, PathScope{"/system.slice", {}, PathScopeKind::kGroup, {}}}) {
    PathProfile paths;
    paths.add(0, 0x100, 10);
    paths.profile.paths.scopes.push_back(scope);
    paths.profile.paths.context.push_back({.kind = PathNodeKind::kScope, .position = 1});
    const uint32_t root = 2, cut = paths.add_cut(PathEnd::kShortDump);
    paths.profile.paths.context[cut].parent = root;
    paths.add(cut, 0x200, 5);
    EXPECT_EQ(paths.totals()["f1"].cut, 5u) << scope.name;
  }
}

/// f8 and f9 have most below them, and no ticks of their own; f1 has little.
TEST(Rows, OfRowsWithAsManyTicksThoseWithTheLargerTotalComeFirst) {
  PathProfile paths;
  paths.add(paths.add(paths.add(0, 0x810), 0x910), 0x200, 20);
  paths.add(paths.add(0, 0x110), 0x300, 1);
  const Report report = make_report(paths.profile, &FakeSymbolizer::open, {.limit = 4});
  std::vector<std::string> names;
  for (const Row& row : report.rows) names.push_back(row.function);
  EXPECT_EQ(names, (std::vector<std::string>{"f2", "f3", "f8", "f9"}));
  const std::string text = text_report(paths.profile, report, {});
  EXPECT_NE(text.find("\n+1 row without own ticks; --limit 0 shows it\n"), std::string::npos) << text;
}

/// f2 may have 1 to 51 of 52 ticks.
TEST(Rows, NoRowIsHiddenAsSmallThatMayBeLarge) {
  PathProfile paths;
  const uint32_t main = paths.add(0, 0x110, 0, 50);
  paths.add(main, 0x200, 1);
  paths.add(main, 0x300, 1);
  const Report report =
      make_report(paths.profile, &FakeSymbolizer::open, {.order = RowOrder::kTotal, .min_share = 0.9});
  EXPECT_EQ(report.rows.size(), 3u);
  EXPECT_NEAR(
      make_report(paths.profile, &FakeSymbolizer::open, {.order = RowOrder::kTotal, .limit = 1}).hidden_share,
      51. / 52, 1e-9);
}

/// Of a function's own ticks those are without a path that neither paths have nor those that were folded.
TEST(PathAccount, TicksAreWithoutAPathOnlyAsFarAsTheyMustBe) {
  PathProfile paths;
  paths.add(0, 0x100, 5, 2);
  EXPECT_FALSE(TicksWithoutPath(paths.profile.paths).any());
  paths.profile.paths.no_room = 4;
  paths.profile.paths.context[paths.add_cut(PathEnd::kInterrupted)].self = 3;
  const TicksWithoutPath without(paths.profile.paths);
  EXPECT_EQ(without.of(7, 5), 0u) << "two may be folded";
  EXPECT_EQ(without.of(9, 5), 2u);
  EXPECT_EQ(without.of(100, 5), 7u) << "there are no more";
}

TEST(PathAccount, EveryTickIsCompleteOrCutForAReason) {
  PathProfile paths;
  paths.add(0, 0x100, 7, 2);
  paths.add(paths.add_cut(PathEnd::kShortDump), 0x200, 3);
  paths.profile.paths.no_room = 1;
  paths.profile.paths.stack_bytes = 8192;
  const PathAccount account = path_account(paths.profile.paths);
  EXPECT_EQ(account.ticks, 13u);
  EXPECT_EQ(account.complete, 9u);
  EXPECT_EQ(
      path_account_text(account),
      "9 of 13 ticks complete; 3 cut where the stack is deeper than the 8 KiB copied of it; 1 without room; "
      "2 folded into their callers");
  paths.profile.paths.context[paths.add_cut(PathEnd::kInterrupted)].self = 2;
  EXPECT_NE(path_account_text(path_account(paths.profile.paths)).find("; 2 not read by the recorder;"),
            std::string::npos)
      << "a recorder that goes on was not killed";
  paths.profile.paths.first_come = true;
  const std::string text = path_account_text(path_account(paths.profile.paths));
  EXPECT_NE(text.find("2 folded into their callers, for they came when the tree was full"),
            std::string::npos);
}

TEST(PathAccount, CallsNoPathOfAnotherToolComplete) {
  PathProfile paths;
  paths.add(0, 0x100, 7);
  paths.profile.paths.ends_known = false;
  EXPECT_EQ(path_account_text(path_account(paths.profile.paths)), "not known which of 7 ticks are complete");
  paths.add(paths.add_cut(PathEnd::kUnknownMapping), 0x200, 3);
  EXPECT_EQ(path_account_text(path_account(paths.profile.paths)),
            "not known which of 10 ticks are complete; 3 cut at code in no known mapping");
  paths.profile.paths.stackless = true;
  paths.profile.paths.context[paths.add_cut(PathEnd::kInterrupted)].self = 2;
  const PathAccount account = path_account(paths.profile.paths);
  EXPECT_EQ(path_account_text(account),
            "not known which of 12 ticks are complete; "
            "3 cut at code in no known mapping; 2 without a stack");
  EXPECT_STREQ(account.cuts.back().id, "no-stack") << "no recorder was there to read it";
  const Report report = make_report(paths.profile, &FakeSymbolizer::open, {});
  EXPECT_THAT(json_report(paths.profile, report), testing::HasSubstr("\"complete\": null"));
}

}  // namespace
}  // namespace pctally
