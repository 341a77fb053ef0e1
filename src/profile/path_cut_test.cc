#include "profile/path_cut.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

/// An export that is read again has the cuts of the recording.
TEST(PathCut, IsKnownByItsName) {
  CallPaths imported;
  imported.ends_known = false;
  for (unsigned number = 1; number < kPathEnds; ++number) {
    const auto end = static_cast<PathEnd>(number);
    EXPECT_EQ(cut_named(cut_name({}, end)), end);
    EXPECT_EQ(cut_named(cut_name(imported, end)), end);
  }
}

TEST(PathCut, HasNoNameOfAFunction) {
  for (const char* name :
       {"", "[path ]", "[path cut]", "[lost]", "main", "path cut at code without unwind table"})
    EXPECT_EQ(cut_named(name), std::nullopt) << name;
}

}  // namespace
}  // namespace pctally
