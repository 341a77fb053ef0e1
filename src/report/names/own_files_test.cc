#include "report/names/own_files.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

TEST(OwnFiles, BelowADirectory) {
  const OwnFiles own("/home/me/src/");
  EXPECT_TRUE(own.contains("/home/me/src/a.cc"));
  EXPECT_TRUE(own.contains("/home/me/src/../src/lib/a.cc"));
  EXPECT_FALSE(own.contains("/home/me/src/../other/a.cc"));
  EXPECT_FALSE(own.contains("/home/me/srcs/a.cc"));
  EXPECT_FALSE(own.contains(""));
}

TEST(OwnFiles, OutsideTheSystem) {
  const OwnFiles own;
  EXPECT_TRUE(own.contains("/home/me/a.cc"));
  EXPECT_TRUE(own.contains("/src/a.cc"));
  for (const char* other :
       {"/usr/include/c++/12/bits/stl_tree.h", "../sysdeps/x86_64/memcmp.S", "/build/xz-5.4.1/src/a.c",
        "/rustc/90b35a/library/core/src/num.rs", "/home/me/.cargo/registry/src/x/lib.rs", ""})
    EXPECT_FALSE(own.contains(other)) << other;
}

}  // namespace
}  // namespace pctally
