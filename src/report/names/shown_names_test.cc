#include "report/names/shown_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pctally {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> shown(std::vector<FunctionName> functions) { return short_names(functions); }

TEST(ShortNames, LookAlikesShowWhatTellsThemApart) {
  EXPECT_THAT(shown({{"put(int)", "_Z3puti", "a", 1}, {"put(long)", "_Z3putl", "a", 2}}),
              ElementsAre("put(int)", "put(long)"));
  EXPECT_THAT(shown({{"put(int)", "_1", "a", 1}, {"put(int) [clone .cold]", "_2", "a", 2}}),
              ElementsAre("put", "put.cold"));
  EXPECT_THAT(shown({{"void put<int>(int)", "_1", "a", 1}, {"void put<long>(int)", "_2", "a", 2}}),
              ElementsAre("put<int>", "put<long>"));
  EXPECT_THAT(shown({{"sort", "", "a", 1}, {"sort.cold", "", "a", 2}, {"sorted.part.0", "", "a", 3}}),
              ElementsAre("sort", "sort.cold", "sorted"));
}

TEST(ShortNames, TheObjectTellsThemApart) {
  EXPECT_THAT(shown({{"put(int)", "_Z3puti", "a", 1}, {"put(long)", "_Z3putl", "b", 2}}),
              ElementsAre("put", "put"));
}

TEST(ShortNames, OfOneFullNameTheAddressTellsThemApart) {
  EXPECT_THAT(shown({{"help", "", "a", 0x10}, {"help", "", "a", 0x20}, {"main", "", "a", 0x30}}),
              ElementsAre("help [0x10]", "help [0x20]", "main"));
}

TEST(ShortNames, OfOneFullNameTheDeclarationTellsThemApart) {
  EXPECT_THAT(shown({{"hash", "", "a", 0, "/src/a.c:2"}, {"hash", "", "a", 0x20, "/src/b.c:2"}}),
              ElementsAre("hash [a.c:2]", "hash [b.c:2]"));
  EXPECT_THAT(shown({{"hash", "", "a", 0, "/src/a.c:2"}, {"hash", "", "a", 0, "/lib/a.c:2"}}),
              ElementsAre("hash [/src/a.c:2]", "hash [/lib/a.c:2]"));
  EXPECT_THAT(shown({{"hash", "", "a", 0x10, "a.c:2"}, {"hash", "", "a", 0x20, "b.c:2"}}),
              ElementsAre("hash [0x10]", "hash [0x20]"));
}

TEST(ShortNames, TheSameFunctionTwiceIsNoLookAlike) {
  EXPECT_THAT(shown({{"put(int)", "_Z3puti", "a", 0}, {"put(int)", "_Z3puti", "a", 0}}),
              ElementsAre("put", "put"));
}

TEST(ShortNames, WhatOnlyTheFullNameTells) {
  EXPECT_THAT(shown({{"f(A<int>::B)", "_1", "a", 1}, {"virtual thunk to f(A<int>::B)", "_2", "a", 2}}),
              ElementsAre("f(A<int>::B)", "virtual thunk to f(A<int>::B)"));
}

TEST(ShownName, ByStyle) {
  const std::string brief = "put", full = "put(int)", linkage = "_Z3puti", none;
  EXPECT_EQ(shown_name(NameStyle::kShort, brief, full, linkage), brief);
  EXPECT_EQ(shown_name(NameStyle::kFull, brief, full, linkage), full);
  EXPECT_EQ(shown_name(NameStyle::kLinkage, brief, full, linkage), linkage);
  EXPECT_EQ(shown_name(NameStyle::kLinkage, brief, full, none), full);
  EXPECT_EQ(shown_name(NameStyle::kShort, none, full, none), full);
  EXPECT_EQ(shown_name(NameStyle::kLinkage, brief, "main::{lambda:18}::operator()", "operator()"),
            "main::{lambda:18}::operator()");  // which has no symbol
  EXPECT_EQ(name_style_of("full"), NameStyle::kFull);
  EXPECT_EQ(name_style_of("linkage"), NameStyle::kLinkage);
  EXPECT_EQ(name_style_of("short"), NameStyle::kShort);
}

TEST(ShownNames, AreInSeveralObjectsIfTheyLookAlikeThere) {
  const std::vector<FunctionName> functions = {{"put(int)", "_Z3puti", "a.so", 0},
                                               {"put(long)", "_Z3putl", "b.so", 0},
                                               {"main", "", "a.so", 0},
                                               {"help", "", "a.so", 0x10},
                                               {"help", "", "a.so", 0x20}};
  EXPECT_EQ(are_in_several_objects(functions, short_names(functions)),
            (std::vector<bool>{true, true, false, false, false}));
}

}  // namespace
}  // namespace pctally
