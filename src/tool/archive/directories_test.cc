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
