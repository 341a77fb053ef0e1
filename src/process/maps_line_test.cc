#include "process/maps_line.h"

#include <gtest/gtest.h>

#include <string>

namespace pctally {
namespace {

TEST(MapsLine, HasTheFieldsOfTheKernels) {
  const std::string text = "7f12a0bc1000-7f12a0bd4000 r-xp 0001b000 fd:0a 1311768  /a b/c (deleted)";
  const MapsLine line = parse_maps_line(text.c_str());
  EXPECT_EQ(line.start, 0x7f12a0bc1000u);
  EXPECT_EQ(line.end, 0x7f12a0bd4000u);
  EXPECT_TRUE(line.executable);
  EXPECT_EQ(line.offset, 0x1b000u);
  EXPECT_EQ(line.device, uint64_t{0xfd} << 32 | 0x0a);
  EXPECT_EQ(line.inode, 1311768u);
  EXPECT_STREQ(line.path, "/a b/c (deleted)");
}

TEST(MapsLine, MemoryWithoutAFileHasNoPath) {
  const MapsLine line = parse_maps_line("1000-2000 rw-p 00000000 00:00 0 ");
  EXPECT_FALSE(line.executable);
  EXPECT_EQ(line.device, 0u);
  EXPECT_EQ(line.inode, 0u);
  EXPECT_STREQ(line.path, "");
}

TEST(MapsLine, WhatIsCutOffIsReadToItsEnd) {
  const std::string whole = "1000-2000 r-xp 00000000 08:01 12 /a";
  for (size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    const std::string text = whole.substr(0, bytes);
    const MapsLine line = parse_maps_line(text.c_str());
    EXPECT_LE(line.path, text.c_str() + bytes) << text;
    EXPECT_EQ(*line.path == '/', bytes == whole.size() || bytes + 1 == whole.size()) << text;
  }
}

}  // namespace
}  // namespace pctally
