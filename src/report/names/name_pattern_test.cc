#include "report/names/name_pattern.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

bool finds(const char* pattern, const char* name) {
  auto compiled = NamePattern::compile(pattern);
  EXPECT_TRUE(compiled) << compiled.error().text;
  return compiled && compiled->matches(name);
}

TEST(NamePattern, SearchesAnywhere) {
  EXPECT_TRUE(finds("mem(cpy|set)", "__memset_avx2"));
  EXPECT_FALSE(finds("^mem", "__memset_avx2"));
  EXPECT_TRUE(finds("", "anything"));
}

TEST(NamePattern, ACapitalLetterMakesItExact) {
  EXPECT_TRUE(finds("table::add", "app::Table::add"));
  EXPECT_FALSE(finds("Map", "std::map::operator[]"));
}

TEST(NamePattern, AWrongOneIsAnError) {
  auto wrong = NamePattern::compile("a(b");
  ASSERT_FALSE(wrong);
  EXPECT_NE(std::string(wrong.error().text).find("not a regular expression"), std::string::npos);
}

}  // namespace
}  // namespace pctally
