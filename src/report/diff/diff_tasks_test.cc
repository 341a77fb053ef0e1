// Comparisons of processes and of programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/diff/diff_for_test.h"
#include "report/diff/limit.h"
#include "report/diff/output.h"

namespace pctally {
namespace {

using Programs = std::vector<std::pair<std::string, uint64_t>>;

/// A run without call paths whose programs have so many ticks, all in one function.
Profile run_of_programs(const Programs& programs) {
  Profile profile = run_of({});
  profile.paths.one_frame = true;
  for (const auto& [path, ticks] : programs) {
    PathTree& tree = profile.paths.context;
    tree.push_back({.kind = PathNodeKind::kScope, .position = profile.paths.scopes.size()});
    const auto root = static_cast<uint32_t>(tree.size() - 1);
    profile.paths.scopes.push_back({path, {}, PathScopeKind::kProgram, {}});
    tree.push_back({.parent = root, .kind = PathNodeKind::kCode, .position = 0x108, .self = ticks});
    profile.ledger.counted += ticks;
  }
  profile.positions.push_back({0, 0x108, profile.ledger.counted});
  profile.ledger.samples = profile.ledger.counted;
  return profile;
}

TEST(Diff, ComparesProgramsByTheNamesOfTheirFiles) {
  const Profile before = run_of_programs({{"/old/bin/cc1", 4000}, {"/usr/bin/ld", 900}, {"/bin/sh", 50}}),
                after = run_of_programs(
                    {{"/new/bin/cc1", 9000}, {"/usr/bin/ld (deleted)", 900}, {"/bin/sh", 50}});
  const Diff diff = diff_of({before}, {after}, {.by = Grouping::kProgram});
  ASSERT_EQ(diff.rows.size(), 3u);
  EXPECT_EQ(diff.rows[0].name, "cc1");
  EXPECT_EQ(diff.rows[0].verdict, Verdict::kMore);
  EXPECT_DOUBLE_EQ(diff.rows[0].amount.before, 4000);
  EXPECT_DOUBLE_EQ(diff.rows[0].amount.after, 9000);
  EXPECT_DOUBLE_EQ(row_of(diff, "ld").amount.difference, 0);
  EXPECT_EQ(check_limit(diff, *parse_limit("seconds(cc1) > +20%"))->outcome, LimitResult::Outcome::kFail);
  EXPECT_THAT(diff_json(diff, {}), testing::HasSubstr("\"by\": \"program\""));
}

TEST(Diff, ComparesTheSameProgramOfTwoBuilds) {
  Profile before = run_of_programs({{"/x/old", 4000}}), after = run_of_programs({{"/x/new", 4000}});
  before.executables[0].path = "/x/old", before.command = {"/x/old"};
  after.executables[0].path = "/x/new", after.command = {"/x/new"};
  after.executables[0].build_id = {2};
  const Diff diff = diff_of({before}, {after}, {.by = Grouping::kProgram});
  ASSERT_EQ(diff.rows.size(), 1u);
  EXPECT_EQ(diff.rows[0].name, "new");
}

ProfileProcess process_with(uint64_t ticks) {
  ProfileProcess process;
  process.comm = "cc1";
  process.ticks = ticks;
  return process;
}

TEST(Diff, ComparesCommands) {
  Profile before = run_of({0, 3000}), after = run_of({0, 3000});
  before.processes = {process_with(1000), process_with(2000)};
  after.processes = {process_with(2900)};
  const Diff diff = diff_of({before}, {after}, {.by = Grouping::kCommand});
  ASSERT_EQ(diff.rows.size(), 2u);
  EXPECT_DOUBLE_EQ(row_of(diff, "cc1").amount.before, 3000);
  EXPECT_DOUBLE_EQ(row_of(diff, "[no process]").amount.after, 100);
  EXPECT_THAT(diff_text(diff, {}), testing::HasSubstr("command"));
}

/// What a program ran in the kernel is part of it.
TEST(Diff, OfProgramsLeavesNoKernelCodeOut) {
  Profile sees = run_of_programs({{"/bin/sh", 1000}}), blind = sees;
  sees.executables.push_back({ExecutableKind::kKernel, "[kernel]", {}, 0});
  sees.positions[0].executable = 1;
  sees.kernel_observed = true;
  blind.kernel_observed = false;
  const Diff diff = diff_of({sees}, {blind}, {.by = Grouping::kProgram});
  EXPECT_EQ(diff.blind_to_kernel, "");
  EXPECT_TRUE(diff.is_in_doubt());
}

}  // namespace
}  // namespace pctally
