#include "path/path_memo.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

class PathMemoTest : public testing::Test {
 protected:
  /// Asks for the words of a stack, with a pc.
  const std::vector<PathFrame>* find(const std::vector<uint64_t>& words, uint64_t pc = 0x100) {
    StackSample stack;
    stack.attempted = attempted_;
    stack.registers.pc = pc;
    stack.registers.base = stack.registers.link = link_;  // of aarch64, of x86-64
    stack.registers.scratch = scratch_;
    stack.chunks = words;
    return memo_.find(version_, stack, behind_);
  }

  PathMemo memo_;
  uint64_t version_ = 1, link_ = 0, scratch_ = 1;
  bool behind_ = false, attempted_ = true;
  // Two chunks: of two words at 0x1000, of one at 0x2000.
  std::vector<uint64_t> words_ = {0x1001, 7, 0x4000, 0x2000, 0x5000};
  std::vector<PathFrame> frames_ = {{1, 2}, {3, 4}};
};

TEST_F(PathMemoTest, TheSameReturnAddressesAreTheSamePath) {
  EXPECT_EQ(find(words_), nullptr);
  memo_.put(frames_);
  std::vector<uint64_t> elsewhere = {0x3001, 9, 0x4000, 0x2ff8, 0x5000};
  const auto* found = find(elsewhere);
  ASSERT_NE(found, nullptr) << "where the stack lies and what registers were saved does not matter";
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[1].function, 4u);
}

TEST_F(PathMemoTest, AnythingElseIsAnotherPath) {
  (void)find(words_);
  memo_.put(frames_);
  EXPECT_EQ(find(words_, 0x101), nullptr);
  EXPECT_EQ(find({0x1001, 7, 0x4000, 0x2000, 0x5001}), nullptr);
  EXPECT_EQ(find({0x1001, 7, 0x4000}), nullptr);
  EXPECT_EQ(find({0x1000, 0x4000, 0x2000, 0x5000}), nullptr) << "other words were read";
  version_ = 2;
  EXPECT_EQ(find(words_), nullptr);
  version_ = 1;
  link_ = 0x6000;
  EXPECT_EQ(find(words_), nullptr) << "a return address in a register";
  link_ = 0;
  scratch_ = 0;
  EXPECT_EQ(find(words_) == nullptr, kReturnsInRegister) << "the child of clone has no caller";
  scratch_ = 1;
  behind_ = true;
  EXPECT_EQ(find(words_), nullptr);
  behind_ = false;
  EXPECT_NE(find(words_), nullptr);
}

/// There are far more paths than places for them.
TEST_F(PathMemoTest, APathInThePlaceOfAnotherIsNotTheOther) {
  (void)find(words_);
  memo_.put(frames_);
  for (uint64_t i = 0; i < 100'000; ++i)
    ASSERT_EQ(find({0x1001, 7, 0x4000, 0x2000, 0x6000 + i}), nullptr) << i;
}

TEST_F(PathMemoTest, WhatCannotBeToldApartIsNotRemembered) {
  version_ = 0;
  EXPECT_EQ(find(words_), nullptr);
  memo_.put(frames_);
  EXPECT_EQ(find(words_), nullptr);
  version_ = 1;
  attempted_ = false;
  EXPECT_EQ(find(words_), nullptr);
  memo_.put(frames_);
  EXPECT_EQ(find(words_), nullptr);
  attempted_ = true;
  EXPECT_EQ(find({}), nullptr);
  memo_.put(frames_);
  EXPECT_EQ(find({}), nullptr);
}

TEST_F(PathMemoTest, WordsThatEndTooEarlyAreReadToTheirEnd) {
  EXPECT_EQ(find({0x1007, 1, 2}), nullptr);
  memo_.put(frames_);
  EXPECT_NE(find({0x1007, 1, 2}), nullptr);
}

}  // namespace
}  // namespace pctally
