#include "object/elf/md5.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

std::string md5(const std::string& text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  for (const uint8_t byte : md5_of({reinterpret_cast<const unsigned char*>(text.data()), text.size()}))
    digits += {kDigits[byte / 16], kDigits[byte % 16]};
  return digits;
}

/// The examples of RFC 1321, and lengths around the end of a block by md5sum.
TEST(Md5, IsThatOfTheRfc) {
  EXPECT_EQ(md5(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(md5("abcdefghijklmnopqrstuvwxyz"), "c3fcd3d76192e4007dfb496cca67e13b");
  EXPECT_EQ(md5("12345678901234567890123456789012345678901234567890123456789012345678901234567890"),
            "57edf4a22be3c955ac49da2e2107b67a");
  EXPECT_EQ(md5(std::string(55, 'x')), "04364420e25c512fd958a70738aa8f72");
  EXPECT_EQ(md5(std::string(56, 'x')), "668a72d5ba17f08e62dabcafad6db14b");
  EXPECT_EQ(md5(std::string(63, 'x')), "7dc2ca208106a2f703567bdff99d8981");
  EXPECT_EQ(md5(std::string(64, 'x')), "c1bb4f81d892b2d57947682aeb252456");
  EXPECT_EQ(md5(std::string(65, 'x')), "1bc932052302d074bdec39795fe00cf6");
  EXPECT_EQ(md5(std::string(119, 'x')), "ab347a5f68c8a443cfcddc633f12c24f");
  EXPECT_EQ(md5(std::string(120, 'x')), "fb98667f98096de92620b64f46e1c5b5");
  EXPECT_EQ(md5(std::string(128, 'x')), "d69cb61a6ee87200676eb0d4b90edbcb");
}

}  // namespace
}  // namespace pctally
