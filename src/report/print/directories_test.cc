#include "report/print/directories.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

TEST(Texts, OfAPathTheLastPartIsKept) {
  EXPECT_EQ(text_without_directories("/opt/a/libc.so.6 (build 01)"), "libc.so.6 (build 01)");
  EXPECT_EQ(text_without_directories("cannot open '/x/y.c': gone"), "cannot open 'y.c': gone");
  EXPECT_EQ(text_without_directories("operator/ (a/b)"), "operator/ (a/b)");
  EXPECT_EQ(text_without_directories("--in=/x/y"), "--in=y");
  EXPECT_EQ(text_without_directories("f<(N / 2)>"), "f<(N / 2)>");
}

}  // namespace
}  // namespace pctally
