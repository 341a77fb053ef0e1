#include "tool/terminal/suggest.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

const std::vector<std::string> kCommands = {"record",  "report", "top", "snapshot",
                                            "engines", "gperf",  "prof"};

TEST(Suggest, FindsTheWordBehindASlip) {
  EXPECT_EQ(nearest("recrod", kCommands), "record");  // swapped
  EXPECT_EQ(nearest("recod", kCommands), "record");   // missing
  EXPECT_EQ(nearest("reportt", kCommands), "report");
  EXPECT_EQ(nearest("tob", kCommands), "top");
  EXPECT_EQ(nearest("snap", kCommands), "snapshot");  // begun
}

TEST(Suggest, SaysNothingWhereNothingIsNear) {
  for (const char* word : {"diff", "annotate", "ls", "x", "", "perl"})
    EXPECT_EQ(nearest(word, kCommands), "") << word;
}

TEST(Suggest, OfSeveralTakesTheNearest) {
  EXPECT_EQ(nearest("repord", kCommands), "record");  // the first of two that are as near
  EXPECT_EQ(nearest("--freq", {"--force", "--frequency", "--for"}), "--frequency");
}

}  // namespace
}  // namespace pctally
