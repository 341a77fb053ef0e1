#include "histread/path_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "profile/load.h"
#include "profile/path_file_for_test.h"

namespace pctally {
namespace {

TEST(PathReader, ReadsScopesCallsAndCuts) {
  PathFile file;
  const uint32_t root = file.root(), call = file.child(root, PathPlace::code(file.segment, 0x123));
  const uint32_t cut = file.child(root, PathPlace::mark(PathPlace::kCut, 4));
  file.count(file.child(call, PathPlace::code(file.segment, 0x200)), 5);
  file.count(file.child(cut, PathPlace::code(file.segment, 0x300)), 2);
  const FileContents contents = file.read();
  EXPECT_TRUE(contents.damage.empty());
  ASSERT_TRUE(contents.paths.recorded);
  ASSERT_EQ(contents.paths.scopes.size(), 1u);
  EXPECT_EQ(contents.paths.scopes[0].name, "/bin/x");
  EXPECT_EQ(sum_of_paths(contents.paths), 7u);
  ASSERT_EQ(contents.paths.context.size(), 5u);
  for (size_t i = 0; i < contents.paths.context.size(); ++i) {
    const PathTreeNode& node = contents.paths.context[i];
    EXPECT_TRUE(node.parent == PathTreeNode::kNoParent || node.parent < i);
    EXPECT_TRUE(node.self != 5 || node.position == 0x200);
    EXPECT_TRUE(node.kind != PathNodeKind::kCut ||
                node.position == static_cast<uint64_t>(PathEnd::kShortDump));
  }
}

/// Else the function's own ticks would be those of the line that was interrupted.
TEST(PathReader, AFunctionThatRanAndItsFirstByteThatTheKernelInterruptedAreTwoNodes) {
  PathFile file;
  const uint64_t start = PathPlace::code(file.segment, 0x200);
  const uint32_t both = file.child(file.root(), start), pruned = file.child(both, start);
  file.count(both, 96);
  file.count(file.child(both, PathPlace::code(file.segment, 0x900)), 2);
  file.count(pruned, 3);
  file.node(pruned).folded = 1;
  file.builder.count(file.segment, 0x40, 1);  // the folded one
  const FileContents contents = file.read();
  EXPECT_TRUE(contents.damage.empty());
  std::map<PathTreeNode::Key, PathTreeNode> nodes;
  for (const PathTreeNode& node : contents.paths.context) EXPECT_TRUE(nodes.emplace(node.key(), node).second);
  EXPECT_EQ(nodes.size(), 6u);
  std::set<std::tuple<uint64_t, uint64_t, bool>> ends;  // self, folded, whether others lie below
  for (size_t i = 0; i < contents.paths.context.size(); ++i) {
    const PathTreeNode& node = contents.paths.context[i];
    EXPECT_EQ(node.is_end, node.self != 0);
    const bool is_parent = std::ranges::any_of(contents.paths.context,
                                               [i](const PathTreeNode& other) { return other.parent == i; });
    if (node.position == 0x200) ends.insert({node.self, node.folded, is_parent});
  }
  EXPECT_EQ(ends, (std::set<std::tuple<uint64_t, uint64_t, bool>>{
                      {96, 0, false}, {0, 0, true}, {3, 0, false}, {0, 1, false}}));
}

/// The recorder was killed before the scope was in its chain, or a program wrote over the file.
TEST(PathReader, APathOfAnUnknownScopeIsOfNoOther) {
  PathFile file;
  file.count(file.child(0, PathPlace::mark(PathPlace::kScope, file.scope + 1)), 5);
  const FileContents contents = file.read();
  ASSERT_EQ(contents.paths.context.size(), 1u);
  EXPECT_EQ(contents.paths.context[0].kind, PathNodeKind::kScope);
  EXPECT_EQ(contents.paths.context[0].position, UINT32_MAX);
}

TEST(PathReader, ACutForNoReasonThatIsKnownIsNone) {
  PathFile file;
  file.paths().no_room = UINT64_MAX;
  file.count(file.child(file.root(), PathPlace::mark(PathPlace::kCut, kPathEnds)), 5);
  const FileContents contents = file.read();
  ASSERT_EQ(contents.paths.context.size(), 2u);
  EXPECT_EQ(contents.paths.context[1].kind, PathNodeKind::kUnknown);
  EXPECT_LT(contents.paths.no_room, UINT64_MAX);
}

/// Whoever walks the tree may call itself at each level.
TEST(PathReader, NodesBelowTwoThousandOthersAreLeftOut) {
  PathFile file;
  PathTreeHead& tree = file.paths().context;
  tree.most_nodes = 4000;
  tree.slots_log2 = 8;
  tree.directory = pool_take(file.builder.pool(), 16);
  uint32_t node = file.root();
  for (int i = 0; i < 3000; ++i) node = file.child(node, PathPlace::code(file.segment, 0x200));
  file.count(node, 1);
  const FileContents contents = file.read();
  EXPECT_EQ(contents.paths.context.size(), 2048u);
  ASSERT_EQ(contents.damage.size(), 1u);
  EXPECT_THAT(contents.damage[0], testing::HasSubstr("node(s) of call paths"));
}

TEST(PathReader, ReadsThreadsAndThatThereAreNoCallPaths) {
  PathFile file;
  file.paths().one_frame = 1;
  auto& scope = file.builder.edit<ScopeRecord>(file.scope);
  scope.kind = ScopeKind::kThread;
  memcpy(reinterpret_cast<char*>(&scope) + offsetof(ScopeRecord, device), "sixteen bytes!!!",
         kThreadNameBytes);
  file.count(file.child(file.root(), PathPlace::code(file.segment, 0x200)), 5);
  const Profile profile = load_profile(file.builder.bytes()).value();
  EXPECT_FALSE(profile.paths.recorded);
  EXPECT_TRUE(profile.paths.has_scopes());
  EXPECT_EQ(profile.paths.scopes[0].kind, PathScopeKind::kThread);
  EXPECT_EQ(profile.paths.scopes[0].thread, "sixteen bytes!!!");
  EXPECT_EQ(sum_of_paths(profile.paths), 5u);
  scope.kind = static_cast<ScopeKind>(77);  // of a later version
  EXPECT_EQ(load_profile(file.builder.bytes())->paths.scopes[0].kind, PathScopeKind::kProgram);
}

TEST(PathReader, ReadsTheNodesOfAllDirectories) {
  PathFile file;
  const uint32_t before = file.child(file.root(), PathPlace::code(file.segment, 0x10));
  const uint32_t unit = file.add_directory();
  const uint32_t after = file.child(file.root(), PathPlace::code(file.segment, 0x20));
  EXPECT_EQ(file.child(file.root(), PathPlace::code(file.segment, 0x10)), before)
      << "found where it was made";
  file.count(file.child(before, PathPlace::code(file.segment, 0x30)), 5);
  file.count(after, 2);
  const FileContents contents = file.read();
  EXPECT_TRUE(contents.damage.empty());
  EXPECT_EQ(contents.paths.context.size(), 4u);
  EXPECT_EQ(sum_of_paths(contents.paths), 7u);

  // A chain of directories that leads back, or out of the file, ends.
  for (const uint32_t more : {unit, uint32_t{1} << 30}) {
    file.builder.edit<PathDirectory>(unit).more = more;
    const FileContents damaged = file.read();
    EXPECT_EQ(sum_of_paths(damaged.paths), 7u);
    EXPECT_THAT(damaged.damage, testing::Contains("1 node(s) of call paths cannot be read"));
  }
}

TEST(PathReader, NodesInACircleAreLeftOutAndSaidToBe) {
  PathFile file;
  const uint32_t root = file.root(), a = file.child(root, PathPlace::code(file.segment, 1)),
                 b = file.child(a, PathPlace::code(file.segment, 2));
  file.count(b, 5);
  file.node(a).parent = b;
  const FileContents contents = file.read();
  EXPECT_EQ(contents.paths.context.size(), 1u);
  ASSERT_EQ(contents.damage.size(), 1u);
  EXPECT_EQ(contents.damage[0], "2 node(s) of call paths cannot be read");
}

TEST(PathReader, AChainThatLeadsBackIsReadOnce) {
  PathFile file;
  const uint32_t root = file.root();
  file.node(root).next = root;
  EXPECT_EQ(file.read().paths.context.size(), 1u);
}

TEST(PathReader, ImpossibleCountsAreNone) {
  PathFile file;
  file.node(file.root()).self = UINT64_MAX;
  const FileContents contents = file.read();
  EXPECT_EQ(sum_of_paths(contents.paths), 0u);
  EXPECT_FALSE(contents.damage.empty());
}

TEST(PathReader, APlaceBehindItsSegmentIsUnknown) {
  PathFile file;
  const uint32_t node = file.child(file.root(), PathPlace::code(file.segment, 0x10000));
  file.count(node, 1);
  const FileContents contents = file.read();
  EXPECT_EQ(contents.paths.context[1].kind, PathNodeKind::kUnknown);
  EXPECT_EQ(sum_of_paths(contents.paths), 1u);
}

// A recorder killed while it pruned: the node's counts are its parent's, too, or in part. It makes room for
// ticks that are in cells already.
TEST(PathReader, ANodeThatWasBeingPrunedCountsOnce) {
  for (const uint32_t without_path : {0u, 1u, 5u, 100u}) {
    for (int step = 0; step < 4; ++step) {
      PathFile file;
      const uint32_t root = file.root(), node = file.child(root, PathPlace::code(file.segment, 1));
      file.count(node, 5);
      file.node(node).self = 3;
      file.node(node).folded = 2;
      file.node(root).folded = 7;
      file.builder.count(file.segment, 0x40, without_path + 7);
      file.paths().pruning = node;
      file.paths().pruned_to = 7 + 5;
      if (step > 0) file.node(root).folded += 5;
      if (step > 1) file.node(node).self = 0;
      if (step > 2) file.node(node).folded = 0;
      EXPECT_EQ(sum_of_paths(file.read().paths), 5u + 7u) << "step " << step << ", " << without_path;
    }
  }
}

TEST(PathReader, WhatARecorderKilledBeforeThePathLeftOutIsACut) {
  PathFile file;
  file.count(file.root(), 5);
  file.builder.count(file.segment, 0x40, 1);
  const Profile profile = load_profile(std::span<const unsigned char>(file.builder.bytes())).value();
  EXPECT_EQ(sum_of_paths(profile.paths), 6u);
  EXPECT_EQ(profile.paths.context.back().kind, PathNodeKind::kCut);
  EXPECT_EQ(profile.paths.context.back().position, static_cast<uint64_t>(PathEnd::kInterrupted));
}

TEST(PathReader, ACopyWithPathsOfTicksThatItsCellsDoNotHaveHasNoTotalAboveAll) {
  PathFile file;
  const uint32_t root = file.root();
  const uint64_t main = PathPlace::code(file.segment, 0x10);
  file.count(file.child(file.child(root, main), PathPlace::code(file.segment, 0x40)), 500);
  file.node(file.child(file.child(root, main), PathPlace::code(file.segment, 0x80))).self = 100;
  const uint32_t plane_root =
      path_child(file.builder.pool(), &file.paths().plane, 0, PathPlace::mark(PathPlace::kScope, file.scope));
  file.node(path_child(file.builder.pool(), &file.paths().plane, plane_root, main)).self = 600;
  const auto load = [&] {
    return load_profile(std::span<const unsigned char>(file.builder.bytes())).value();
  };
  for (const bool snapshot : {false, true}) {
    file.builder.header().state = snapshot ? FileState::kClosed : FileState::kRecording;
    file.builder.header().snapshot = snapshot ? 1 : 0;
    const Profile profile = load();
    EXPECT_TRUE(profile.damage.empty());
    EXPECT_EQ(sum_of_paths(profile.paths), 500u);
    EXPECT_EQ(profile.paths.plane.at(1).self, 500u);
  }
  file.builder.header().snapshot = 0;
  EXPECT_FALSE(load().damage.empty()) << "of a recording that has ended they are of the same ticks";
}

TEST(PathReader, AnyByteMayBeAnything) {
  PathFile file;
  file.root();
  file.add_directory();
  for (unsigned i = 0; i < 20; ++i)
    file.count(file.child(file.child(file.root(), PathPlace::code(file.segment, i)),
                          PathPlace::code(file.segment, 99)),
               1);
  const std::vector<unsigned char> sound = file.builder.bytes();
  std::mt19937 random(3);
  for (unsigned i = 0; i < 3000; ++i) {
    std::vector<unsigned char> bytes = sound;
    for (unsigned k = 0; k < 1 + i % 5; ++k) {
      const size_t at = kHeaderBytes + random() % (bytes.size() - kHeaderBytes);
      bytes[at] = static_cast<unsigned char>(random());
    }
    const auto contents = read_file_contents(bytes);
    if (!contents) continue;
    for (size_t k = 0; k < contents->paths.context.size(); ++k) {
      const uint32_t parent = contents->paths.context[k].parent;
      ASSERT_TRUE(parent == PathTreeNode::kNoParent || parent < k);
    }
    (void)load_profile(std::span<const unsigned char>(bytes));
  }
}

}  // namespace
}  // namespace pctally
