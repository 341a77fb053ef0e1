#include "report/paths/namesakes.h"

#include <gtest/gtest.h>

#include <vector>

namespace pctally {
namespace {

StackFrame frame(uint64_t address, const char* declared) {
  StackFrame frame;
  frame.object = "a.out";
  frame.function = "hash";
  frame.address = address;
  frame.declared = declared;
  return frame;
}

/// Each with what distinguishes its function from those of the others.
std::vector<StackFrame> distinguished(std::vector<StackFrame> frames) {
  Namesakes namesakes;
  for (const StackFrame& one : frames) namesakes.add(one);
  for (StackFrame& one : frames) namesakes.keep_what_distinguishes(&one);
  return frames;
}

TEST(Namesakes, AFunctionThatIsInlinedTooIsOne) {
  const auto frames =
      distinguished({frame(0x1200, "b.c:2"), frame(0, "b.c:2"), frame(0, ""), frame(0x1200, "")});
  for (const StackFrame& one : frames) EXPECT_EQ(function_of(one), function_of(frames[0]));
  EXPECT_EQ(frames[0].address, 0u);
}

TEST(Namesakes, ThoseOfTwoFilesAreTwoThoughOneIsOnlyInlined) {
  const auto frames = distinguished({frame(0x1200, "b.c:2"), frame(0, "b.c:2"), frame(0, "a.c:2")});
  EXPECT_EQ(function_of(frames[0]), function_of(frames[1]));
  EXPECT_NE(function_of(frames[0]), function_of(frames[2]));
  const auto inlined = distinguished({frame(0, "a.c:2"), frame(0, "b.c:2"), frame(0, "b.c:2")});
  EXPECT_NE(function_of(inlined[0]), function_of(inlined[1]));
  EXPECT_EQ(function_of(inlined[1]), function_of(inlined[2]));
}

TEST(Namesakes, InlinedCodeIsThatOfTheFunctionDeclaredThere) {
  const auto frames = distinguished({frame(0x1100, "a.c:2"), frame(0x1200, "b.c:2"), frame(0, "a.c:2")});
  EXPECT_EQ(function_of(frames[2]), function_of(frames[0]));
  EXPECT_NE(function_of(frames[2]), function_of(frames[1]));
}

/// A header's, compiled twice: which of the two an inlined one is nobody knows, and they are one to a reader.
TEST(Namesakes, CopiesOfOneDeclarationAreDistinguishedByTheirAddressAlone) {
  const auto frames = distinguished({frame(0x1100, "a.h:2"), frame(0x1200, "a.h:2"), frame(0, "a.h:2")});
  EXPECT_EQ(frames[0].address, 0x1100u);
  EXPECT_EQ(frames[1].address, 0x1200u);
  EXPECT_EQ(frames[2].address, 0u);
}

TEST(Namesakes, RowsOfTheTableAreFoundByTheirStart) {
  Namesakes namesakes;
  for (const StackFrame& one : {frame(0x1200, "b.c:2"), frame(0, "a.c:2")}) namesakes.add(one);
  StackFrame real = frame(0x1200, "");
  namesakes.keep_what_distinguishes(&real);
  EXPECT_EQ(function_of(namesakes.function("a.out", "hash", 0x1200)), function_of(real));
}

TEST(Namesakes, WhatRanHasToSayWhereItIsDeclaredIfOthersDo) {
  Namesakes namesakes;
  namesakes.add(frame(0x1200, ""));
  EXPECT_FALSE(namesakes.lacks_declaration(frame(0x1200, "")));
  namesakes.add(frame(0, "a.c:2"));
  EXPECT_TRUE(namesakes.lacks_declaration(frame(0x1200, "")));
  namesakes.add(frame(0x1200, "b.c:2"));
  EXPECT_FALSE(namesakes.lacks_declaration(frame(0x1200, "")));
}

}  // namespace
}  // namespace pctally
