#include "base/hex.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

TEST(Hex, IsReadAsItIsWritten) {
  char text[512], *to = text;
  for (unsigned byte = 0; byte < 256; ++byte) to = put_hex(static_cast<unsigned char>(byte), to);
  uint8_t bytes[256];
  ASSERT_EQ(from_hex(text, sizeof text, bytes, sizeof bytes), 256u);
  for (unsigned byte = 0; byte < 256; ++byte) EXPECT_EQ(bytes[byte], byte);
  EXPECT_EQ(from_hex("aB-Cd", 5, bytes, 9), 2u);
  EXPECT_EQ(bytes[0], 0xab);
  EXPECT_EQ(bytes[1], 0xcd);
}

TEST(Hex, EndsWhereNoDigitIsAndWhereNoRoomIs) {
  uint8_t bytes[3] = {9, 9, 9};
  EXPECT_EQ(from_hex("0102/03", 7, bytes, 3), 2u);
  EXPECT_EQ(from_hex("010203", 6, bytes, 1), 1u);
  EXPECT_EQ(bytes[2], 9);
  EXPECT_EQ(from_hex("123", 3, bytes, 3), 1u) << "half a byte";
}

}  // namespace
}  // namespace pctally
