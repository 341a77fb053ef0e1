#include "tool/top/keys.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

struct Keys {
  TopState state;
  Keys& operator()(unsigned key) {
    press(key, 10, 35, &state);
    return *this;
  }
  Keys& operator()(const char* keys) {
    for (; *keys != 0; ++keys) (*this)(static_cast<unsigned char>(*keys));
    return *this;
  }
};

TEST(TopKeys, Grouping) {
  EXPECT_EQ(Keys{}("o").state.by, Grouping::kObject);
  EXPECT_EQ(Keys{}("l").state.by, Grouping::kLine);
  EXPECT_EQ(Keys{}("p").state.by, Grouping::kProcess);
  EXPECT_EQ(Keys{}("c").state.by, Grouping::kCommand);
  EXPECT_EQ(Keys{}("of").state.by, Grouping::kFunction);
  EXPECT_EQ(Keys{}("s").state.by, Grouping::kFunction) << "nothing is kept apart";
  Keys keys;
  keys.state.scopes = Grouping::kThread;
  EXPECT_EQ(keys("s").state.by, Grouping::kThread);
}

TEST(TopKeys, WithCallPathsTheyChooseARowThatStaysOnTheScreen) {
  Keys keys;
  keys.state.choosing = true;
  for (int i = 0; i < 12; ++i) keys(kKeyDown);
  EXPECT_EQ(keys.state.chosen, 12u);
  EXPECT_EQ(keys.state.first, 3u);
  keys(kKeyPageUp);
  EXPECT_EQ(keys.state.chosen, 2u);
  keys(kKeyUp);
  EXPECT_EQ(keys.state.first, 1u);
  for (int i = 0; i < 50; ++i) keys(kKeyPageDown);
  EXPECT_EQ(keys.state.chosen, 34u);
  EXPECT_EQ(keys.state.first, 25u);
  keys(kKeyHome);
  EXPECT_EQ(keys.state.chosen + keys.state.first, 0u);
  EXPECT_EQ(keys(kKeyDown)("o").state.chosen, 0u) << "other rows";
}

TEST(TopKeys, AFilterIsTypedAndNoKeyMeansAnythingElseMeanwhile) {
  Keys keys;
  keys("/qw o");
  EXPECT_TRUE(keys.state.typing);
  EXPECT_FALSE(keys.state.quit || keys.state.write || keys.state.frozen);
  EXPECT_EQ(keys.state.filter, "qw o");
  keys(kKeyBackspace)(kKeyEnter);
  EXPECT_FALSE(keys.state.typing);
  EXPECT_EQ(keys.state.filter, "qw ");
  keys("/")(kKeyEscape);
  EXPECT_EQ(keys.state.filter, "");
  EXPECT_FALSE(keys.state.typing);
}

TEST(TopKeys, AFilterHoldsWholeCharactersAndNoControls) {
  Keys keys;
  keys("/")(0xe9)(0x20ac)(0x1f600)(7)(0xd800);
  EXPECT_EQ(keys.state.filter, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  keys(0x7f)(8);
  EXPECT_EQ(keys.state.filter, "\xc3\xa9");
  keys(0x7f)(0x7f);
  EXPECT_EQ(keys.state.filter, "");
  for (int i = 0; i < 500; ++i) keys("x");
  EXPECT_EQ(keys.state.filter.size(), 100u);
}

TEST(TopKeys, ScrollingStaysInside) {
  Keys keys;
  EXPECT_EQ(keys(kKeyUp).state.first, 0u);
  EXPECT_EQ(keys(kKeyDown)(kKeyPageDown).state.first, 11u);
  EXPECT_EQ(keys(kKeyPageDown)(kKeyPageDown)(kKeyDown).state.first, 25u);
  EXPECT_EQ(keys(kKeyPageUp)(kKeyUp).state.first, 14u);
  EXPECT_EQ(keys("o").state.first, 0u) << "another table starts at its top";
  EXPECT_EQ(keys(kKeyPageDown)(kKeyHome).state.first, 0u);
}

TEST(TopKeys, FreezeWriteHelpQuit) {
  EXPECT_TRUE(Keys{}(" ").state.frozen);
  EXPECT_FALSE(Keys{}("  ").state.frozen);
  EXPECT_TRUE(Keys{}("w").state.write);
  EXPECT_TRUE(Keys{}("?").state.help);
  EXPECT_FALSE(Keys{}("?w").state.help);
  EXPECT_FALSE(Keys{}("?w").state.write) << "any key leaves the help, and does nothing else";
  EXPECT_TRUE(Keys{}("?q").state.quit);
  EXPECT_TRUE(Keys{}("q").state.quit);
}

}  // namespace
}  // namespace pctally
