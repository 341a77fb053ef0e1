#include "report/print/markdown.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

TEST(Markdown, NamesStayWhole) {
  EXPECT_EQ(markdown_text("Main cause: f<int>(a_b*), [x]"), "Main cause: f\\<int\\>(a\\_b\\*), \\[x\\]");
  EXPECT_EQ(markdown_code("a|b"), "`a|b`");
  EXPECT_EQ(markdown_cell("a|b"), "`a\\|b`");
  EXPECT_EQ(markdown_cell("lit`x``"), "``` lit`x`` ```");
  EXPECT_EQ(markdown_code("\033[1m"), "`\\x1b[1m`");
  EXPECT_EQ(markdown_cell(""), "");
}

}  // namespace
}  // namespace pctally
