#include "tool/archive/directories.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

TEST(WithoutDirectories, OnlyFilesLoseThem) {
  EXPECT_EQ(without_directories("/opt/a/prog"), "prog");
  EXPECT_EQ(without_directories("sp/prog"), "prog");
  for (const char* other : {"prog", "//anon", "[kernel]", "[a/b]", ""})
    EXPECT_EQ(without_directories(other), other);
}

// Every system has them. What --own makes of a file does not depend on the stripping.
TEST(WithoutDirectories, PathsOfTheSystemStay) {
  for (const char* path :
       {"/usr/include/c++/12/bits/basic_string.h", "/lib64/ld-linux-x86-64.so.2",
        "/usr/bin/../lib/gcc/12/../../../include/c++/12/map", "/rustc/90b35a/core/num.rs"}) {
    EXPECT_EQ(without_directories(path), path);
    EXPECT_EQ(DistinctFiles().name(path), path);
  }
  for (const char* path : {"/usr/local/me/a.h", "/usr/../home/me/a.h", "/library/a.h"})
    EXPECT_EQ(without_directories(path), "a.h");
  DistinctFiles files;
  EXPECT_EQ(files.name("/build/glibc-2.36/malloc/malloc.c"), "/build/malloc.c");
  EXPECT_EQ(files.name("/home/me/.cargo/registry/src/x-1.0/lib.rs"), "/.cargo/registry/lib.rs");
  EXPECT_EQ(files.name("/home/me/.cargo/registry/src/y-1.0/lib.rs"), "/.cargo/registry/2/lib.rs");
  EXPECT_EQ(files.name("/home/me/lib.rs"), "3/lib.rs");
}

TEST(WithoutDirectories, NamesOfJits) {
  EXPECT_EQ(jit_name_without_directories("JS:*slow /home/me/my scripts/n.js:1:17"), "JS:*slow n.js:1:17");
  EXPECT_EQ(jit_name_without_directories("JS:*slow file:///home/me/n.mjs:1"), "JS:*slow file:n.mjs:1");
  EXPECT_EQ(jit_name_without_directories("py::f:/home/a:b/m.py"), "py::f:m.py");
  EXPECT_EQ(jit_name_without_directories("py::f:src/m.py"), "py::f:m.py");
  for (const char* other : {"$lists:map/2", "Lcom/Foo;::bar", "JS:*f node:internal/fs:3:4", "f", ""})
    EXPECT_EQ(jit_name_without_directories(other), other);
}

TEST(WithoutDirectories, FilesThatShareANameStayApart) {
  DistinctFiles files;
  EXPECT_EQ(files.name("/x/a/util.c"), "util.c");
  EXPECT_EQ(files.name("b/util.c"), "2/util.c");
  EXPECT_EQ(files.name("main.c"), "main.c");
  EXPECT_EQ(files.name("/x/a/util.c"), "util.c");
}

}  // namespace
}  // namespace pctally
