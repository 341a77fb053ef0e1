#include "profile/path_cut.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

/// An export that is read again has the cuts of the recording.
TEST(PathCut, IsKnownByItsName) {
  for (unsigned number = 1; number < kPathEnds; ++number) {
    const auto end = static_cast<PathEnd>(number);
    EXPECT_EQ(cut_named(cut_name({}, end)), end);
  }
}

TEST(PathCut, OfAnotherToolIsASampleWithoutAStack) {
  CallPaths recorded, imported;
  imported.stackless = true;
  EXPECT_STREQ(cut_reason(recorded, PathEnd::kInterrupted).id, "interrupted");
  EXPECT_STREQ(cut_reason(imported, PathEnd::kInterrupted).id, "no-stack");
  EXPECT_STREQ(cut_reason(imported, PathEnd::kNoRoom).id, "no-room");
}

TEST(PathCut, HasNoNameOfAFunction) {
  for (const char* name :
       {"", "[path ]", "[path cut]", "[lost]", "[no stack]", "main", "path cut at code without unwind table"})
    EXPECT_EQ(cut_named(name), std::nullopt) << name;
}

}  // namespace
}  // namespace pctally
