#include "object/elf/demangle.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

TEST(Demangle, Cxx) {
  EXPECT_EQ(demangle("_ZN4deep9outermostEi"), "deep::outermost(int)");
  EXPECT_EQ(demangle("_ZNSt6vectorIiSaIiEE9push_backEOi"),
            "std::vector<int, std::allocator<int> >::push_back(int&&)");
  EXPECT_EQ(demangle("_ZN4deep9outermostEi.cold"), "deep::outermost(int) [clone .cold]");
}

TEST(Demangle, RustLegacyLosesItsHashOnly) {
  EXPECT_EQ(demangle("_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE"),
            "core::fmt::Formatter::write_str");
  EXPECT_EQ(demangle("_ZN2fr3hot17h9569c2f8630b1c53E"), "fr::hot");
}

TEST(Demangle, RustV0) {
  EXPECT_EQ(demangle("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
  EXPECT_EQ(demangle("_RINvNtC3std3mem8align_ofdE"), "std::mem::align_of::<f64>");
}

TEST(Demangle, OtherNamesStayAsTheyAre) {
  for (const char* name : {"main", "", "_Z", "_R", "_ZZZZ", "_start", "caml_alloc", "_Rubbish", "_ZN4deep"}) {
    EXPECT_EQ(demangle(name), name);
  }
}

TEST(Demangle, EndlessNamesAreCut) {
  EXPECT_EQ(demangle(std::string(1 << 20, 'x')).size(), kLongestName);
  EXPECT_EQ(demangle("_ZN" + std::string(1 << 20, '1')).size(), kLongestName);
}

TEST(Demangle, ANameThatUnfoldsIntoTerabytesStaysMangled) {
  // Each argument is a pair of the one before, by back reference: 2^34 words from a line of text.
  std::string bomb = "_Z1f1AIiiE";
  std::string seq = "0_";
  const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (int i = 0; i < 34; i++) {
    bomb += "S_IS" + seq + "S" + seq + "E";
    seq = std::string(1, digits[i + 1]) + "_";
  }
  EXPECT_EQ(demangle(bomb), bomb);
  EXPECT_EQ(demangle(bomb.substr(0, bomb.find('E') + 1)), "f(A<int, int>)");
}

}  // namespace
}  // namespace pctally
