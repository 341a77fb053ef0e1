#include "report/names/own_files.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace pctally {
namespace {

constexpr char kProgram[] = "/home/me/prog";

TEST(OwnFiles, APathIsMadeNormalByItsLetters) {
  EXPECT_EQ(normal_path("/p/src/../inc/./h.h"), "/p/inc/h.h");
  EXPECT_EQ(normal_path("/p/inc/h.h"), "/p/inc/h.h");
}

TEST(OwnFiles, APathThatIsNormalAlreadyStaysAsItIs) {
  for (const char* path : {"", ".", "..", "./a", "../a", "a", "a/", "a/.", "a/..", "a//b", "//a", "/",
                           "/.hidden/a", "/a/b../c.h", "/a/./b", "a/...", "/a/.."})
    EXPECT_EQ(normal_path(path), std::filesystem::path(path).lexically_normal().string()) << path;
}

TEST(OwnFiles, BelowADirectory) {
  const OwnFiles own("/home/me/src/");
  EXPECT_TRUE(own.contains("/home/me/src/a.cc", kProgram));
  EXPECT_TRUE(own.contains("/home/me/src/../src/lib/a.cc", kProgram));
  EXPECT_FALSE(own.contains("/home/me/src/../other/a.cc", kProgram));
  EXPECT_FALSE(own.contains("/home/me/srcs/a.cc", kProgram));
  EXPECT_FALSE(own.contains("", kProgram));
}

TEST(OwnFiles, OutsideTheSystem) {
  const OwnFiles own;
  EXPECT_TRUE(own.contains("/home/me/a.cc", kProgram));
  EXPECT_TRUE(own.contains("/src/a.cc", kProgram));
  for (const char* other :
       {"/usr/include/c++/12/bits/stl_tree.h", "/build/xz-5.4.1/src/a.c",
        "/rustc/90b35a/library/core/src/num.rs", "/rust/deps/hashbrown-0.16.1/src/raw/mod.rs",
        "/home/me/.cargo/registry/src/x/lib.rs", ""})
    EXPECT_FALSE(own.contains(other, kProgram)) << other;
}

/// By the object that has them; below a directory they are taken from the current one.
TEST(OwnFiles, RelativePathsAreOnesOwnUnlessTheObjectIsTheSystems) {
  const OwnFiles own, below("src"), elsewhere("/home/me/src");
  for (const char* path : {"src/a.c", "./src/a.c", "src/lib/../a.c"}) {
    EXPECT_TRUE(own.contains(path, kProgram)) << path;
    EXPECT_TRUE(own.contains(path, "prog")) << path;
    EXPECT_TRUE(below.contains(path, kProgram)) << path;
    EXPECT_FALSE(elsewhere.contains(path, kProgram)) << path;
  }
  for (const char* object : {"/usr/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "[vdso]"})
    EXPECT_FALSE(own.contains("../sysdeps/x86_64/memcmp.S", object)) << object;
}

}  // namespace
}  // namespace pctally
