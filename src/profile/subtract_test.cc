#include "profile/subtract.h"

#include <gtest/gtest.h>

#include <map>

#include "histread/file_builder_for_test.h"
#include "profile/load.h"

namespace pctally {
namespace {

Profile loaded(FileBuilder& file) { return load_profile(file.bytes()).value(); }

std::map<std::pair<std::string, uint64_t>, uint64_t> ticks_of(const Profile& profile) {
  std::map<std::pair<std::string, uint64_t>, uint64_t> ticks;
  for (const WeightedPosition& position : profile.positions)
    ticks[{profile.executables[position.executable].path, position.position}] = position.ticks;
  return ticks;
}

TEST(Subtract, IsWhatWasCountedInBetween) {
  FileBuilder file;
  uint32_t a = file.segment(file.object("/a", "id"), 0, 4096);
  file.count(a, 5, 10);
  file.count(a, 9, 1);
  file.header().ledger.outside = 4;
  file.header().started_ns = 0;
  file.header().ended_ns = 100;
  Profile earlier = loaded(file);
  file.count(a, 5, 2);
  file.count(a, 7, 3);
  // A new object comes first in the file: the numbers of the others change.
  file.count(file.segment(file.object("/b", "id"), 0, 4096), 5, 20);
  file.header().ledger.outside = 5;
  file.header().ledger.lost = 6;
  file.header().ended_ns = 350;
  Profile later = loaded(file);
  Profile between = subtract(later, earlier);
  EXPECT_EQ(ticks_of(between),
            (decltype(ticks_of(between)){{{"/a", 5}, 2}, {{"/a", 7}, 3}, {{"/a", 9}, 0}, {{"/b", 5}, 20}}));
  EXPECT_EQ(between.positions.size(), later.positions.size());
  EXPECT_EQ(between.ledger.counted, 25u);
  EXPECT_EQ(between.ledger.outside, 1u);
  EXPECT_EQ(between.ledger.lost, 6u);
  EXPECT_EQ(between.ledger.ticks(), 32u);
  EXPECT_EQ(between.ledger.samples, 25u);
  EXPECT_EQ(between.duration_ns, 250u);
}

TEST(Subtract, ObjectsAreTheSameOnlyIfTheirBuildIsAndProcessesByTurn) {
  FileBuilder old_file, new_file;
  old_file.count(old_file.segment(old_file.object("/a", "old"), 0, 64), 5, 10);
  old_file.process(7, "first", 10);
  new_file.count(new_file.segment(new_file.object("/a", "new"), 0, 64), 5, 12);
  new_file.process(7, "first", 11);
  new_file.process(7, "second", 1);
  Profile between = subtract(loaded(new_file), loaded(old_file));
  EXPECT_EQ(between.ledger.counted, 12u);
  EXPECT_EQ(between.processes[0].ticks, 1u);
  EXPECT_EQ(between.processes[1].ticks, 1u);
}

// A row that stands for many took in a process that was one of its own in the earlier copy.
TEST(Subtract, RowsOfManyAreMatchedByNameWithWhatTheyTookIn) {
  FileBuilder old_file, new_file;
  old_file.count(old_file.segment(old_file.object("/a"), 0, 64), 5, 30);
  old_file.process(0, "cc1", 10);
  old_file.process(7, "cc1", 15);
  old_file.process(8, "sh", 5);
  new_file.count(new_file.segment(new_file.object("/a"), 0, 64), 5, 35);
  new_file.process(0, "sh", 6);
  new_file.process(0, "cc1", 28);
  new_file.process(9, "new", 1);
  Profile between = subtract(loaded(new_file), loaded(old_file));
  std::map<std::string, uint64_t> ticks;
  for (const ProfileProcess& process : between.processes) ticks[process.comm] += process.ticks;
  EXPECT_EQ(ticks["sh"], 1u);
  EXPECT_EQ(ticks["cc1"], 3u);
}

TEST(Subtract, ProcessesClaimNoMoreThanTheLedgerHas) {
  FileBuilder old_file, new_file;
  for (FileBuilder* file : {&old_file, &new_file})
    file->count(file->segment(file->object("/a"), 0, 64), 5, 10);
  old_file.header().ledger.outside = 100;  // resolved since
  new_file.header().ledger.outside = 90;
  old_file.process(1, "a", 3);
  new_file.process(1, "a", 8);
  EXPECT_EQ(subtract(loaded(new_file), loaded(old_file)).processes[0].ticks, 0u);
}

/// A profile with one scope, and below it the functions at positions 1, 2, ... as (parent, self, folded).
struct PathNode {
  uint32_t parent;
  uint64_t position, self, folded;
};
Profile with_paths(const std::vector<PathNode>& nodes) {
  Profile profile;
  profile.executables.emplace_back().path = "/a";
  profile.paths.recorded = true;
  profile.paths.scopes = {{"/a", {}, PathScopeKind::kProgram}};
  profile.paths.context.push_back({.kind = PathNodeKind::kScope});
  for (const PathNode& node : nodes)
    profile.paths.context.push_back({.parent = node.parent,
                                     .kind = PathNodeKind::kCode,
                                     .position = node.position,
                                     .self = node.self,
                                     .folded = node.folded});
  return profile;
}

/// Self and folded of each function.
std::vector<std::pair<uint64_t, uint64_t>> between(const Profile& later, const Profile& earlier) {
  std::vector<std::pair<uint64_t, uint64_t>> ticks;
  const Profile difference = subtract(later, earlier);
  for (const PathTreeNode& node : difference.paths.context)
    if (node.kind == PathNodeKind::kCode) ticks.emplace_back(node.self, node.folded);
  return ticks;
}
using Ticks = std::vector<std::pair<uint64_t, uint64_t>>;

/// main calls a function whose paths are folded into it meanwhile: they ran before.
TEST(Subtract, PathsThatWereFoldedSinceRanBefore) {
  const Profile earlier = with_paths({{0, 1, 5, 10}, {1, 2, 100, 3}, {2, 3, 40, 0}});
  EXPECT_EQ(between(with_paths({{0, 1, 6, 153}}), earlier), (Ticks{{1, 0}}));
  EXPECT_EQ(between(with_paths({{0, 1, 6, 160}}), earlier), (Ticks{{1, 7}}));
  EXPECT_EQ(between(with_paths({{0, 1, 5, 10}, {1, 2, 110, 43}}), earlier), (Ticks{{0, 0}, {10, 0}}));
}

/// One that came again has only what is new, whether its caller was folded, too, or not.
TEST(Subtract, PathsThatCameAgainAreNew) {
  const Profile earlier = with_paths({{0, 1, 5, 10}, {1, 2, 100, 0}, {2, 3, 40, 0}});
  EXPECT_EQ(between(with_paths({{0, 1, 5, 10}, {1, 2, 100, 40}, {2, 3, 4, 0}}), earlier),
            (Ticks{{0, 0}, {0, 0}, {4, 0}}));
  EXPECT_EQ(between(with_paths({{0, 1, 5, 150}, {1, 2, 8, 0}, {2, 3, 2, 0}}), earlier),
            (Ticks{{0, 0}, {8, 0}, {2, 0}}));
  EXPECT_EQ(between(with_paths({{0, 1, 5, 150}, {1, 2, 8, 0}}), earlier), (Ticks{{0, 0}, {8, 0}}));
}

/// Fewer ticks than before, and nobody has them: a copy may have been cut to what was counted.
TEST(Subtract, PathsWithFewerTicksHaveNone) {
  const Profile earlier = with_paths({{0, 1, 5, 10}, {1, 2, 100, 0}});
  EXPECT_EQ(between(with_paths({{0, 1, 5, 10}, {1, 2, 99, 0}}), earlier), (Ticks{{0, 0}, {0, 0}}));
}

TEST(Subtract, OfNothingIsTheWholeAndOfMoreIsNothing) {
  FileBuilder file;
  file.count(file.segment(file.object("/a"), 0, 64), 5, 10);
  Profile whole = loaded(file);
  EXPECT_EQ(subtract(whole, Profile{}).ledger.ticks(), 10u);
  EXPECT_EQ(subtract(Profile{}, whole).ledger.ticks(), 0u);
  EXPECT_EQ(subtract(whole, whole).ledger.ticks(), 0u);
}

}  // namespace
}  // namespace pctally
