#include "report/print/escape.h"

#include <gtest/gtest.h>

#include <random>

namespace pctally {
namespace {

TEST(Escape, LeavesOrdinaryNamesAlone) {
  for (const char* name :
       {"", "main", "operator<<(std::ostream&, int)", "größe", "計算", "🦀::run", "a\\b"})
    EXPECT_EQ(escaped(name), name);
}

TEST(Escape, MarkupIsText) {
  EXPECT_EQ(marked_up("operator<< <a&&> \"x\""), "operator&lt;&lt; &lt;a&amp;&amp;&gt; &quot;x&quot;");
}

TEST(Escape, ShowsControlBytes) {
  EXPECT_EQ(escaped("\033[2J\a\n\t\x7f"), "\\x1b[2J\\x07\\x0a\\x09\\x7f");
  EXPECT_EQ(escaped(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(Escape, ShowsC1BidiAndInvisibleCharacters) {
  EXPECT_EQ(escaped("\u009b\u0085"), "\\u{9b}\\u{85}");
  EXPECT_EQ(escaped("a\u202eb\u2066c\u200d\ufeff\u00ad\u2028"),
            "a\\u{202e}b\\u{2066}c\\u{200d}\\u{feff}\\u{ad}\\u{2028}");
  EXPECT_EQ(escaped("\U000e0041"), "\\u{e0041}");
  EXPECT_EQ(escaped("f\uffffg\ufffe"), "f\\u{ffff}g\\u{fffe}") << "no XML has these";
}

TEST(Escape, ShowsBytesThatAreNotUtf8) {
  EXPECT_EQ(escaped("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(escaped("\xc0\xaf"), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(escaped("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");           // overlong
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // surrogate
  EXPECT_EQ(escaped("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  EXPECT_EQ(escaped("x\xe2\x82"), "x\\xe2\\x82");                  // cut off
  EXPECT_EQ(escaped("\xe2\x82z"), "\\xe2\\x82z");
}

TEST(Escape, CutsLongNamesAtAWholePiece) {
  EXPECT_EQ(escaped(std::string(kLongestShown, 'x')).size(), kLongestShown);
  for (const char* unit : {"x", "ä", "\033", "\u202e", "🦀"}) {
    std::string name;
    while (name.size() < 5000) name += unit;
    std::string shown = escaped(name);
    EXPECT_LE(shown.size(), kLongestShown);
    EXPECT_GT(shown.size(), kLongestShown - 16);
    EXPECT_TRUE(shown.ends_with("…"));
    EXPECT_EQ(valid_utf8(shown), shown);
  }
}

TEST(Escape, AnyBytesBecomeHarmless) {
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string name;
    for (unsigned length = random() % 24; length > 0; --length)
      name += static_cast<char>(random() % 3 ? 0xc0 | random() : random());
    std::string shown = escaped(name);
    EXPECT_EQ(escaped(shown), shown);
    EXPECT_EQ(valid_utf8(shown), shown);
    EXPECT_EQ(valid_utf8(valid_utf8(name)), valid_utf8(name));
    for (char byte : shown) EXPECT_TRUE((byte & 0xe0) != 0 && byte != 0x7f);
  }
}

TEST(Escape, JsonKeepsWhatIsUtf8) { EXPECT_EQ(valid_utf8("\033\u202e\xff<&>"), "\033\u202e\\xff<&>"); }

TEST(Escape, WidthIsInColumns) {
  EXPECT_EQ(width_of("größe"), 5u);
  EXPECT_EQ(elided("größe", 5), "größe");
  EXPECT_EQ(elided("größer", 4), "grö…");
  EXPECT_EQ(elided("ab", 1), "…");
  EXPECT_EQ(width_of("関数"), 4u);     // characters of two columns
  EXPECT_EQ(width_of("e\u0301"), 1u);  // and of none
  EXPECT_EQ(elided("日本語関数名", 7), "日本語…");
  EXPECT_EQ(elided("日本語関数名", 6), "日本…");
  EXPECT_EQ(elided("日本語", 6), "日本語");
}

TEST(Escape, NamesAreCutInTheMiddle) {
  EXPECT_EQ(elided_name("std::__detail::_Map_base::operator[]", 36), "std::__detail::_Map_base::operator[]");
  EXPECT_EQ(elided_name("std::__detail::_Map_base::operator[]", 30), "std::__detail::…::operator[]");
  EXPECT_EQ(elided_name("averylongnamespace::put", 10), "aver…::put");
  EXPECT_EQ(elided_name("a::averylongfunction", 10), "averylong…");
  EXPECT_EQ(elided_name("averylongfunction", 10), "averylong…");
  EXPECT_EQ(elided_name("f(std::vector::iterator)", 10), "f(std::ve…");
  for (size_t width = 1; width < 40; ++width)
    EXPECT_LE(width_of(elided_name("größe::a::b::größer::ööööööööööö", width)), width);
}

}  // namespace
}  // namespace pctally
