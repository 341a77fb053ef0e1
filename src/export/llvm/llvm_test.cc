#include <gtest/gtest.h>

#include "export/llvm/control_flow.h"
#include "export/llvm/dominators.h"
#include "export/llvm/sample_tree.h"

namespace pctally {
namespace {

/// Code of one-byte instructions at 100, 101, ...: '.' goes on, 'r' returns, 'j' jumps to `to` and 'c' jumps
/// there or goes on; 'x' jumps nobody knows where.
std::vector<Instruction> code(const std::string& kinds, const std::vector<size_t>& to = {}) {
  std::vector<Instruction> result;
  size_t jump = 0;
  for (char kind : kinds) {
    Instruction instruction{.address = 100 + result.size(), .length = 1};
    if (kind == 'j' || kind == 'c' || kind == 'x') instruction.kind = Instruction::Kind::kJump;
    if (kind == 'j' || kind == 'c') instruction.target = 100 + to[jump++];
    instruction.falls_through = kind == '.' || kind == 'c';
    result.push_back(instruction);
  }
  return result;
}

TEST(EquallyOften, BothSidesOfABranchAreClassesOfTheirOwn) {
  // 0 c->4 | 2 j->5 | 4 | 5 r
  const std::vector<uint32_t> of = equally_often(code(".c.j.r", {4, 5}));
  EXPECT_EQ(of, (std::vector<uint32_t>{0, 0, 1, 1, 2, 0}));
}

TEST(EquallyOften, ALoopIsNotWhatIsAroundIt) {
  // 0 | 1 2 c->1 | 3 r: all three dominate and post-dominate one another
  const std::vector<uint32_t> of = equally_often(code("..c.r", {1}));
  EXPECT_EQ(of, (std::vector<uint32_t>{0, 1, 1, 0, 0}));
}

TEST(EquallyOften, HeadAndLatchOfALoopAreOneClassAndTheInnerLoopAnother) {
  // 0 | head 1 | inner 2 c->2 | latch 3 c->1 | 4 r
  const std::vector<uint32_t> of = equally_often(code("..cc.r", {2, 1}));
  EXPECT_EQ(of[1], of[3]);
  EXPECT_NE(of[1], of[2]);
  EXPECT_EQ(of[0], of[4]);
  EXPECT_NE(of[0], of[1]);
}

TEST(EquallyOften, ATableOfJumpsLeavesBlocksAlone) {
  const std::vector<uint32_t> of = equally_often(code(".c.j.x", {4, 5}));
  EXPECT_EQ(of, (std::vector<uint32_t>{0, 0, 1, 1, 2, 3}));
}

TEST(EquallyOften, AnEndlessLoopAndCodeNobodyReachesDoNoHarm) {
  EXPECT_EQ(equally_often(code(".j.r", {0})), (std::vector<uint32_t>{0, 0, 1, 1}));
  EXPECT_TRUE(equally_often({}).empty());
}

TEST(Dominators, OfTheExampleOfCooperHarveyAndKennedy) {
  const Graph graph{{}, {2}, {1, 3}, {2}, {2, 3}, {1}, {4, 5}};  // irreducible: figure 4 of the paper
  const Dominators dominators(graph, reversed(graph), 6);
  for (uint32_t node : {1, 2, 3, 4, 5}) EXPECT_EQ(dominators.above(node), 6u);
  EXPECT_TRUE(dominators.dominates(6, 1));
  EXPECT_FALSE(dominators.dominates(2, 1));
  EXPECT_FALSE(dominators.dominates(0, 0));  // not reached
}

/// llvm::DILocation::encodeDiscriminator() of LLVM 19.
TEST(Discriminator, IsTakenApart) {
  EXPECT_EQ(base_discriminator(0), 0u);
  EXPECT_EQ(base_discriminator(2), 1u);
  EXPECT_EQ(base_discriminator(31 << 1), 31u);
  EXPECT_EQ(base_discriminator(((100 & 31) | 0x20 | ((100 >> 5) << 6)) << 1), 100u);
  EXPECT_EQ(duplication_factor(2), 1u);
  EXPECT_EQ(duplication_factor(2 | (4 << 1) << 7), 4u);  // block 1, four copies
  EXPECT_EQ(duplication_factor(1 | (4 << 1) << 1), 4u);  // block 0, four copies
  EXPECT_EQ(base_discriminator(1 | (4 << 1) << 1), 0u);
}

TEST(SourceName, HasNothingOfTheOptimiser) {
  EXPECT_EQ(source_name("f.cold"), "f");
  EXPECT_EQ(source_name("f.part.0.cold"), "f");
  EXPECT_EQ(source_name("_ZL1gv.llvm.1234"), "_ZL1gv");
  EXPECT_EQ(source_name(".cold"), ".cold");
}

TEST(SampleTree, WritesWhatLlvmReads) {
  SampleTree tree;
  const CompilerFrame main{"main", 12, 10, 0}, call{"main", 13, 10, 2}, inner{"f.llvm.7", 5, 3, 0};
  EXPECT_TRUE(tree.add(std::vector{main}, 7));
  EXPECT_TRUE(tree.add(std::vector{main}, 5));
  EXPECT_TRUE(tree.add(std::vector{inner, call}, 100));
  tree.entered("main", 3);
  EXPECT_EQ(tree.text(), "main:107:3\n 2: 7\n 3.1: f:100\n  2: 100\n");
}

/// A loop that was unrolled, and code that two passes have: each copy has a part of the count.
TEST(SampleTree, CopiesOfALineCountTogether) {
  SampleTree tree;
  EXPECT_TRUE(tree.add(std::vector<CompilerFrame>{{"f", 12, 10, 2 | (4 << 1) << 7}}, 7));
  EXPECT_EQ(tree.text(), "f:28:0\n 2.1: 28\n");
}

TEST(SampleTree, ALineInFrontOfItsFunctionWrapsAsTheCompilerDoes) {
  SampleTree tree;
  EXPECT_TRUE(tree.add(std::vector<CompilerFrame>{{"f", 9, 10, 0}}, 1));
  EXPECT_EQ(tree.text(), "f:1:0\n 65535: 1\n");
}

TEST(SampleTree, RefusesWhatHasNoPlace) {
  SampleTree tree;
  for (const CompilerFrame& frame :
       {CompilerFrame{"f", 0, 10, 0}, CompilerFrame{"f", 11, 0, 0}, CompilerFrame{"", 11, 10, 0},
        CompilerFrame{"f\n 1: 5", 11, 10, 0}, CompilerFrame{"[f]", 11, 10, 0}})
    EXPECT_FALSE(tree.add(std::vector{frame}, 1));
  EXPECT_TRUE(tree.empty());
}

}  // namespace
}  // namespace pctally
