#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/fake_symbolizer_for_test.h"
#include "report/json.h"
#include "report/path_choice.h"
#include "report/scope_choice.h"
#include "report/scope_names.h"
#include "report/text.h"

namespace pctally {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

/// A profile without call paths whose ticks lie below scopes. Functions are 0x100 bytes long.
class ScopeProfile {
 public:
  explicit ScopeProfile(PathScopeKind kind) : kind_(kind) {
    profile.executables.push_back({.path = "/lib/libc.so", .build_id = {}});
    profile.period_ns = 1000000;
    profile.closed = true;
    profile.paths.one_frame = true;
  }
  /// The number of its root.
  uint32_t scope(const std::string& name, const std::string& thread = "", std::vector<uint8_t> id = {}) {
    profile.paths.scopes.push_back({name, std::move(id), kind_, thread});
    return root(profile.paths.scopes.size() - 1);
  }
  uint32_t root(uint64_t scope) {
    profile.paths.context.push_back({.kind = PathNodeKind::kScope, .position = scope});
    return static_cast<uint32_t>(profile.paths.context.size() - 1);
  }
  void tick(uint32_t parent, uint64_t position, uint64_t ticks, PathNodeKind kind = PathNodeKind::kCode) {
    profile.paths.context.push_back({.parent = parent, .kind = kind, .position = position, .self = ticks});
    if (kind == PathNodeKind::kCode) profile.positions.push_back({0, position, ticks});
    (kind == PathNodeKind::kCode ? profile.ledger.counted : profile.ledger.outside) += ticks;
    profile.ledger.samples += ticks;
    profile.ledger.weight_squares += static_cast<double>(ticks);
  }
  [[nodiscard]] Report report(Grouping by) const {
    return make_report(profile, &FakeSymbolizer::open, {.by = by});
  }

  Profile profile;

 private:
  PathScopeKind kind_;
};

std::vector<std::pair<std::string, uint64_t>> programs(const Report& report) {
  std::vector<std::pair<std::string, uint64_t>> rows;
  for (const Row& row : report.rows) rows.emplace_back(row.program, row.ticks);
  return rows;
}

/// The choice of those programs.
Profile programs_called(const Profile& profile, const char* pattern) {
  const NamePattern program = *NamePattern::compile(pattern);
  const std::optional<Profile> chosen = chosen_scopes(profile, {.program = &program});
  EXPECT_TRUE(chosen);
  return chosen.value();
}

uint64_t sum_of(const Report& report) {
  uint64_t sum = report.hidden_ticks + report.filtered_ticks;
  for (const Row& row : report.rows) sum += row.ticks;
  return sum;
}

TEST(Scopes, ThreadsOfOneProgramAddUpByProgramAndStayApartByThread) {
  ScopeProfile file(PathScopeKind::kThread);
  file.tick(file.scope("/bin/server", "io"), 0x100, 5);
  file.tick(file.scope("/bin/server", "worker"), 0x100, 3);
  file.tick(file.scope("/bin/sh", "io"), 0x200, 2);
  EXPECT_THAT(programs(file.report(Grouping::kProgram)), ElementsAre(Pair("server", 8), Pair("sh", 2)));
  const Report threads = file.report(Grouping::kThread);
  ASSERT_EQ(threads.rows.size(), 3u);
  EXPECT_EQ(threads.rows[0].thread, "io");
  EXPECT_EQ(threads.rows[0].program, "server");
  EXPECT_EQ(threads.rows[0].ticks, 5u);
  EXPECT_EQ(sum_of(threads), 10u);
}

TEST(Scopes, OneFunctionOfTwoProgramsIsTwoRows) {
  ScopeProfile file(PathScopeKind::kProgram);
  file.tick(file.scope("/bin/a"), 0x110, 5);
  file.tick(file.scope("/bin/b"), 0x120, 3);
  const Report report = file.report(Grouping::kProgramFunction);
  ASSERT_EQ(report.rows.size(), 2u);
  for (const Row& row : report.rows) EXPECT_EQ(row.short_function, "f1");
  EXPECT_THAT(programs(report), ElementsAre(Pair("a", 5), Pair("b", 3)));
  EXPECT_DOUBLE_EQ(report.rows[0].share, 5. / 8);
  EXPECT_LT(report.rows[0].interval.low, 5. / 8);
  EXPECT_GT(report.rows[0].interval.high, 5. / 8);
}

TEST(Scopes, ProgramsOfOneNameShowTheirPathsAndBuildsAreApart) {
  ScopeProfile file(PathScopeKind::kProgram);
  file.tick(file.scope("/bin/a", "", {1}), 0x110, 5);
  file.tick(file.scope("/opt/a", "", {1}), 0x110, 4);
  file.tick(file.scope("/bin/b", "", {1}), 0x110, 3);
  file.tick(file.scope("/bin/b", "", {2}), 0x110, 2);
  EXPECT_THAT(programs(file.report(Grouping::kProgram)),
              ElementsAre(Pair("/bin/a", 5), Pair("/opt/a", 4), Pair("b", 3), Pair("b", 2)));
}

TEST(Scopes, ANameOfAProcessMayHaveSlashes) {
  ScopeProfile file(PathScopeKind::kProgram);
  file.tick(file.scope("ksoftirqd/0"), 0x110, 5);
  file.tick(file.scope("kworker/0:2-events"), 0x110, 4);
  file.tick(file.scope("/bin/a"), 0x110, 3);
  EXPECT_THAT(programs(file.report(Grouping::kProgram)),
              ElementsAre(Pair("ksoftirqd/0", 5), Pair("kworker/0:2-events", 4), Pair("a", 3)));
}

TEST(Scopes, TicksWithoutAScopeAreRowsWithTheReason) {
  ScopeProfile file(PathScopeKind::kProgram);
  file.tick(file.scope("/bin/a"), 0x110, 5);
  const uint32_t unknown = file.root(UINT32_MAX);
  file.tick(unknown, 0x110, 4);
  file.tick(unknown, static_cast<uint64_t>(PathEnd::kInterrupted), 3, PathNodeKind::kCut);
  file.profile.ledger.full = file.profile.paths.no_room = 2;
  file.profile.ledger.lost = 1;
  const Report report = file.report(Grouping::kProgram);
  EXPECT_THAT(programs(report),
              ElementsAre(Pair("a", 5), Pair("[program not known]", 4), Pair("[not read by the recorder]", 3),
                          Pair("[no room]", 2), Pair("[lost]", 1)));
  EXPECT_EQ(sum_of(report), file.profile.ledger.ticks());
}

TEST(Scopes, RowsNeverHoldMoreTicksThanThereAre) {
  ScopeProfile file(PathScopeKind::kProgram);
  file.tick(file.scope("/bin/a"), 0x110, 5);
  file.tick(file.scope("/bin/b"), 0x110, 3);
  file.profile.ledger.counted = 6;
  EXPECT_EQ(sum_of(file.report(Grouping::kProgram)), 6u);
  file.profile.ledger.counted = 0;
  EXPECT_EQ(sum_of(file.report(Grouping::kProgram)), 0u);
}

TEST(Scopes, ChosenTicksAndThoseOfOthersAreAllOfThem) {
  ScopeProfile file(PathScopeKind::kThread);
  file.tick(file.scope("/bin/server", "io"), 0x111, 5);
  file.tick(file.scope("/bin/server", "worker"), 0x210, 3);
  file.tick(file.scope("/bin/sh", "sh"), 0x310, 2);
  const NamePattern program = *NamePattern::compile("^server$"), thread = *NamePattern::compile("^io"),
                    nothing = *NamePattern::compile("xyzzy");
  std::optional<Profile> chosen = chosen_scopes(file.profile, {.program = &program});
  ASSERT_TRUE(chosen);
  Report report = make_report(*chosen, &FakeSymbolizer::open, {});
  std::vector<std::pair<std::string, uint64_t>> rows;
  for (const Row& row : report.rows) rows.emplace_back(row.function, row.ticks);
  EXPECT_THAT(rows, ElementsAre(Pair("f1", 5), Pair("f2", 3), Pair("f0", 2)));  // the fake has no brackets
  EXPECT_EQ(report.rows[2].object, "[other programs]");
  EXPECT_THAT(programs(make_report(*chosen, &FakeSymbolizer::open, {.by = Grouping::kProgram})),
              ElementsAre(Pair("server", 8), Pair("[other programs]", 2)));
  chosen = chosen_scopes(file.profile, {.program = &program, .thread = &thread});
  ASSERT_TRUE(chosen);
  report = make_report(*chosen, &FakeSymbolizer::open, {.by = Grouping::kLine});
  EXPECT_EQ(sum_of(report), 10u);
  EXPECT_TRUE(std::ranges::any_of(report.rows, [](const Row& row) { return row.file == "/src/inlined.h"; }));
  EXPECT_FALSE(chosen_scopes(file.profile, {.thread = &nothing}));
}

/// By its name, or by its path.
TEST(Scopes, AProgramMayBeChosenByItsPath) {
  ScopeProfile file(PathScopeKind::kProgram);
  file.tick(file.scope("/opt/a/bin/x"), 0x111, 5);
  file.tick(file.scope("/usr/bin/y"), 0x210, 3);
  const Profile chosen = programs_called(file.profile, "^/opt/");
  EXPECT_THAT(programs(make_report(chosen, &FakeSymbolizer::open, {.by = Grouping::kProgram})),
              ElementsAre(Pair("x", 5), Pair("[other programs]", 3)));
}

/// In both programs f1 calls f2; a's paths were folded, and the call plane has all of them.
TEST(Scopes, TotalsOfAChoiceAreThoseOfItsPrograms) {
  ScopeProfile file(PathScopeKind::kProgram);
  CallPaths& paths = file.profile.paths;
  paths.recorded = true;
  paths.one_frame = false;
  for (const auto& [name, ticks] : {std::pair("/bin/a", 6u), {"/bin/b", 90u}}) {
    const uint32_t root = file.scope(name);
    file.tick(root, 0x110, ticks);
    paths.context.back().folded = std::exchange(paths.context.back().self, 0);
    paths.plane.push_back({.kind = PathNodeKind::kScope, .position = paths.scopes.size() - 1});
    const auto plane = static_cast<uint32_t>(paths.plane.size() - 1);
    for (const uint64_t function : {0x100, 0x200})
      paths.plane.push_back(
          {.parent = plane, .kind = PathNodeKind::kCode, .position = function, .self = ticks});
  }
  const NamePattern program = *NamePattern::compile("^a$");
  const Report report =
      make_report(*chosen_scopes(file.profile, {.program = &program}), &FakeSymbolizer::open, {});
  EXPECT_EQ(sum_of(report), 96u);
  size_t functions = 0;
  for (const Row& row : report.rows) {
    if (row.object != "libc.so") continue;
    ++functions;
    EXPECT_EQ(row.total.low, 6u) << row.function;
    EXPECT_EQ(row.total.high, 6u) << row.function;
  }
  EXPECT_EQ(functions, 2u);
}

/// They may be of the program that was asked for.
TEST(Scopes, TicksOfAnUnknownProgramAreNoOtherPrograms) {
  ScopeProfile file(PathScopeKind::kProgram);
  file.tick(file.scope("/bin/a"), 0x110, 5);
  file.tick(file.scope("/bin/b"), 0x110, 2);
  const uint32_t unknown = file.root(UINT32_MAX);
  file.tick(unknown, 0x110, 4);
  file.tick(unknown, static_cast<uint64_t>(PathEnd::kInterrupted), 3, PathNodeKind::kCut);
  file.tick(file.scope(kOtherScopes), 0x110, 1);
  const Profile chosen = programs_called(file.profile, "^a$");
  EXPECT_THAT(
      programs(make_report(chosen, &FakeSymbolizer::open, {.by = Grouping::kProgram})),
      testing::UnorderedElementsAre(Pair("a", 5), Pair("[program not known]", 5),
                                    Pair("[not read by the recorder]", 3), Pair("[other programs]", 2)));
  EXPECT_EQ(sum_of(make_report(chosen, &FakeSymbolizer::open, {})), 15u);
}

TEST(Scopes, FoldedTicksOfAnUnknownProgramAreNoOtherPrograms) {
  ScopeProfile file(PathScopeKind::kProgram);
  file.tick(file.scope("/bin/a"), 0x110, 5);
  file.tick(file.root(UINT32_MAX), 0x110, 6);
  PathTreeNode& node = file.profile.paths.context.back();
  node.folded = std::exchange(node.self, 2) - 2;
  const Profile chosen = programs_called(file.profile, "^a$");
  EXPECT_THAT(programs(make_report(chosen, &FakeSymbolizer::open, {.by = Grouping::kProgram})),
              ElementsAre(Pair("[program not known]", 6), Pair("a", 5)));
}

TEST(Scopes, TheAccountAndTheWarningsOfAChoiceAreThoseOfTheWhole) {
  ScopeProfile file(PathScopeKind::kProgram);
  file.tick(file.scope("/bin/a"), 0x111, 50);
  const uint32_t other = file.scope("/bin/b");
  file.tick(other, 0x210, 20);
  file.tick(other, static_cast<uint64_t>(PathEnd::kNoUnwindTable), 10, PathNodeKind::kCut);
  file.profile.executables.push_back(
      {.kind = ExecutableKind::kStart, .path = "[process start]", .build_id = {}});
  file.profile.paths.context.push_back(
      {.parent = other, .kind = PathNodeKind::kCode, .executable = 1, .self = 15});
  file.profile.positions.push_back({1, 0, 15});
  file.profile.ledger.counted += 15;
  file.profile.ledger.full = file.profile.paths.no_room = 4;
  file.profile.ledger.lost = 1;
  const Profile chosen = programs_called(file.profile, "^a$");
  const Report whole = file.report(Grouping::kFunction),
               part = make_report(chosen, &FakeSymbolizer::open, {});
  EXPECT_DOUBLE_EQ(part.account.effective_samples, whole.account.effective_samples);
  EXPECT_EQ(part.rows[0].interval.low, whole.rows[0].interval.low);
  ASSERT_EQ(part.warnings.size(), whole.warnings.size());
  for (size_t i = 0; i < whole.warnings.size(); ++i) EXPECT_EQ(part.warnings[i].text, whole.warnings[i].text);
  for (const char* field : {"\"counted\": 85", "\"outside\": 10", "\"full\": 4", "\"complete\": false"})
    EXPECT_THAT(json_report(chosen, part), HasSubstr(field));
  EXPECT_THAT(text_report(chosen, part, {}), HasSubstr("100 = 85 counted + 10 outside + 4 full + 1 lost"));
  EXPECT_EQ(sum_of(part), 100u);
  EXPECT_TRUE(
      std::ranges::any_of(part.rows, [](const Row& row) { return row.object == kNoPath && row.ticks == 4; }));
}

TEST(Scopes, PathsOfOthersAreNoCompletePathsOfTheChosen) {
  ScopeProfile file(PathScopeKind::kProgram);
  file.profile.paths.recorded = true;
  file.profile.paths.one_frame = false;
  file.profile.engine = "ring";
  for (const auto& [program, ticks] : {std::pair("/bin/a", 10u), {"/bin/b", 90u}}) {
    const uint32_t root = file.scope(program);
    file.profile.paths.context.push_back(
        {.parent = root, .kind = PathNodeKind::kCut, .position = static_cast<uint64_t>(PathEnd::kShortDump)});
    file.tick(static_cast<uint32_t>(file.profile.paths.context.size() - 1), 0x100, ticks);
  }
  const NamePattern program = *NamePattern::compile("^a$");
  const Profile chosen = chosen_scopes(file.profile, {.program = &program}).value();
  const Report report = make_report(chosen, &FakeSymbolizer::open, {});
  EXPECT_THAT(text_report(chosen, report, {}), HasSubstr("paths     0 of 100 ticks complete; 100 cut"));
  EXPECT_TRUE(std::ranges::any_of(report.warnings, [](const Warning& warning) {
    return warning.text.starts_with("100 % of the call paths are cut");
  }));
}

TEST(Scopes, WhatAProfileTellsDependsOnItsScopes) {
  const auto tells = [](PathScopeKind kind, Grouping by) {
    ScopeProfile file(kind);
    file.scope("/x");
    return has_scopes_for(file.profile.paths, by);
  };
  EXPECT_TRUE(tells(PathScopeKind::kThread, Grouping::kProgramFunction));
  EXPECT_TRUE(tells(PathScopeKind::kThread, Grouping::kThread));
  EXPECT_FALSE(tells(PathScopeKind::kProgram, Grouping::kThread));
  EXPECT_FALSE(tells(PathScopeKind::kGroup, Grouping::kProgram));
  EXPECT_FALSE(tells(PathScopeKind::kProgram, Grouping::kGroup));
  EXPECT_TRUE(tells(PathScopeKind::kGroup, Grouping::kGroupFunction));
  EXPECT_FALSE(has_scopes_for({}, Grouping::kProgram));
  EXPECT_TRUE(has_scopes_for({}, Grouping::kFunction));
}

TEST(Scopes, WithoutCallPathsThereIsNoTotalAndNoAccountOfPaths) {
  ScopeProfile file(PathScopeKind::kThread);
  file.tick(file.scope("/bin/server", "io\033[1m"), 0x111, 5);
  const std::string text = text_report(file.profile, file.report(Grouping::kFunction), {});
  EXPECT_THAT(text, testing::Not(HasSubstr("total")));
  EXPECT_THAT(text, testing::Not(HasSubstr("paths")));
  const std::string threads = text_report(file.profile, file.report(Grouping::kThreadFunction), {});
  EXPECT_THAT(threads, HasSubstr("function  thread"));
  EXPECT_THAT(threads, testing::Not(HasSubstr("\033[1m")));
  const std::string json = json_report(file.profile, file.report(Grouping::kThreadFunction));
  EXPECT_THAT(json, HasSubstr("\"by\": \"thread,function\""));
  EXPECT_THAT(json, HasSubstr("\"program_path\": \"/bin/server\""));
}

}  // namespace
}  // namespace pctally
