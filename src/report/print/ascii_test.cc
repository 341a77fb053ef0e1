#include "report/print/ascii.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "report/print/escape.h"

namespace pctally {
namespace {

TEST(Ascii, OurSignsAreReplacedAndColumnsKeepTheirPlaces) {
  EXPECT_EQ(in_ascii("  share      ±   total      ±  name"), "  share     +-   total     +-  name");
  EXPECT_EQ(in_ascii("12.0 % ± 3.1; ± is"), "12.0 % +- 3.1; +- is");
  EXPECT_EQ(in_ascii("96 > … > main\n"), "96 > ... > main\n");
  EXPECT_EQ(in_ascii(" 1.2 ▲\n 1.3 ▼"), " 1.2 ^\n 1.3 v");
  EXPECT_EQ(in_ascii("├ a\n│ └ b"), "|-a\n| `-b");
}

TEST(Ascii, NamesKeepTheirCharacters) { EXPECT_EQ(in_ascii("größe 計算"), "größe 計算"); }

class Locale : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) unsetenv(name);
  }
};

TEST_F(Locale, TheFirstThatIsSetCounts) {
  EXPECT_FALSE(locale_is_utf8());
  setenv("LANG", "en_US.UTF-8", 1);
  EXPECT_TRUE(locale_is_utf8());
  setenv("LC_CTYPE", "C", 1);
  EXPECT_FALSE(locale_is_utf8());
  setenv("LC_ALL", "", 1);
  EXPECT_FALSE(locale_is_utf8());
  setenv("LC_ALL", "ca_ES.utf8@valencia", 1);
  EXPECT_TRUE(locale_is_utf8());
}

TEST_F(Locale, OtherCharactersThanUtf8AreNot) {
  for (const char* value : {"C", "POSIX", "de_DE@euro", "ru_RU.KOI8-R", "ja_JP.eucJP"}) {
    setenv("LC_ALL", value, 1);
    EXPECT_FALSE(locale_is_utf8()) << value;
  }
}

TEST(Ascii, NamesThatAreCutKeepTheirWidth) {
  elide_in_ascii(true);
  EXPECT_EQ(elided("sqlite3VdbeExec", 10), "sqlite3...");
  EXPECT_EQ(elided("sqlite3VdbeExec", 2), "..");
  EXPECT_EQ(elided_name("std::map<a, b>::operator[]", 20), "std::...::operator[]");
  for (size_t width = 1; width < 40; ++width)
    EXPECT_LE(width_of(elided_name("a::bcd::a_name_that_is_long::operator[]", width)), width);
  elide_in_ascii(false);
}

}  // namespace
}  // namespace pctally
